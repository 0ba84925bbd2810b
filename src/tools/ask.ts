/**
 * The tool `ask`: the model asks the person one to four questions, each with options, free text or both. Here are its description and what
 * it needs to turn questions into a form and the form into an answer; `runtime/parts/ask.ts` asks.
 *
 * 1. Only a person answers. Where none can, Oxbow refuses the call and says what to assume.
 */
import { shorten } from "../base/cap-text.js";
import type { Conversion, ToolHabits } from "../engine/ports.js";
import type { FormField, FormValues } from "../protocol/form.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.js";
import description from "./ask.md";
import type { ToolDefinition } from "./catalog.js";
import { isTrue, listIn, same, WORDS, words } from "./habits/shared.js";

const MOST_QUESTIONS = 4;
const MOST_OPTIONS = 12;

const ASK_HABITS: ToolHabits = {
  names: words(`
    ask_followup_question ask_user_question ask_user question request_user_input ask_human ask_question ask_questions
    user_input message_ask_user clarify
  `),
  parameters: {
    questions: words("question text prompt message items"),
    "questions.question": words("text prompt title message"),
    "questions.options": words("choices answers follow_up suggestions"),
    "questions.several": words("multi_select multiple multiselect allow_multiple"),
  },
  unused: {
    ...WORDS,
    ...Object.fromEntries(Object.keys(WORDS).map((name) => [`questions.${name}`, ""])),
    ...same("questions.header questions.id questions.type questions.custom questions.placeholder type timeout", ""),
  },
  convert: askArguments,
};

/** One question beside its options, as Cline asks, and options with a description. */
function askArguments({ options, choices, followup, multiselect, ...sent }: JsonObject): Conversion {
  const list = listIn(sent.questions) ?? (sent.questions === undefined ? [] : [sent.questions]);
  const beside = options ?? choices ?? followup;
  const several = isTrue(multiselect) ? { several: true } : {};
  const questions = list.map((each) => {
    const question =
      typeof each === "string"
        ? { question: each, ...(beside !== undefined && { options: beside }), ...several }
        : each;
    if (!isJsonObject(question)) return question;
    const key = ["options", "choices", "answers", "follow_up", "suggestions"].find(
      (name) => question[name] !== undefined,
    );
    const given = key === undefined ? undefined : listIn(question[key]);
    return key === undefined || given === undefined ? question : { ...question, [key]: given.map(optionText) };
  });
  return { args: list.length === 0 ? sent : { ...sent, questions } };
}

function optionText(option: JsonValue): JsonValue {
  if (!isJsonObject(option)) return option;
  const label = option.label ?? option.title ?? option.text ?? option.value;
  if (typeof label !== "string") return option;
  return typeof option.description === "string" && option.description !== ""
    ? `${label}: ${option.description}`
    : label;
}

export const ASK = {
  name: "ask",
  habits: ASK_HABITS,
  description: description.trim(),
  set: "read",
  concurrencySafe: false,
  mutating: false,
  ownResults: true,
  inputSchema: {
    type: "object",
    properties: {
      questions: {
        type: "array",
        minItems: 1,
        maxItems: MOST_QUESTIONS,
        items: {
          type: "object",
          properties: {
            question: { type: "string" },
            options: { type: "array", items: { type: "string" }, maxItems: MOST_OPTIONS },
            several: { type: "boolean" },
          },
          required: ["question"],
        },
      },
    },
    required: ["questions"],
  },
} as const satisfies ToolDefinition;

export interface Question {
  readonly question: string;
  readonly options: readonly string[];
  readonly several: boolean;
}

/** The questions of a call whose arguments fit the schema. */
export function questionsIn({ questions }: JsonObject): readonly Question[] {
  return (listIn(questions) ?? []).filter(isJsonObject).map(({ question, options, several }) => ({
    question: String(question).trim(),
    options: [...new Set((listIn(options) ?? []).map(String))],
    several: several === true,
  }));
}

/** The whole question stands above the form. */
const LONGEST_TITLE = 40;
/** Behind the name of a question: the field for an answer in other words. */
const OTHERWISE = "_otherwise";

export function formOf(questions: readonly Question[]): readonly FormField[] {
  return questions.flatMap(({ question, options, several }, index): readonly FormField[] => {
    const name = `answer_${index + 1}`;
    const number = questions.length > 1 ? `${index + 1}. ` : "";
    const title = shorten(`${number}${question}`, LONGEST_TITLE);
    if (options.length === 0) return [{ name, title, kind: "text" }];
    const choices = options.map((value) => ({ value, title: value }));
    return [
      { name, title, kind: several ? "some" : "one", choices },
      { name: `${name}${OTHERWISE}`, title: "or in your words", kind: "text" },
    ];
  });
}

/** All questions in one line. */
export function questionLine(questions: readonly Question[]): string {
  if (questions.length === 1) return questions[0]?.question ?? "";
  return questions.map(({ question }, index) => `${index + 1}. ${question}`).join("  ");
}

/** What the person answered, a line each; undefined if they answered nothing. */
export function answersText(questions: readonly Question[], values: FormValues): string | undefined {
  const said = questions.map((_, index) => {
    const name = `answer_${index + 1}`;
    const chosen = [values[name] ?? []].flat().map(String);
    const otherwise = String(values[`${name}${OTHERWISE}`] ?? "").trim();
    return [...chosen, ...(otherwise === "" ? [] : [`in their words: ${otherwise}`])].filter((each) => each !== "");
  });
  if (said.every((each) => each.length === 0)) return undefined;
  const lines = questions.map(({ question }, index) => `${question}\n→ ${said[index]?.join("; ") || "(no answer)"}`);
  return `The user answered:\n${lines.join("\n")}`;
}

/** What to assume where no person answers. */
export function assumption(questions: readonly Question[]): string {
  const firsts = questions.flatMap(({ options: [first] }) => (first === undefined ? [] : [JSON.stringify(first)]));
  const what =
    firsts.length === questions.length
      ? `your first option (${firsts.join(", ")})`
      : "what is safest and easiest to undo";
  return `Assume ${what}, go on, and say in your answer what you assumed.`;
}
