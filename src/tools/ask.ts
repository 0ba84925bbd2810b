/**
 * The tool `ask`: the model asks the person one to four questions, each with options, free text or both, in a form that every client
 * of the person shows.
 *
 * 1. Only a person answers. Where none can, Oxbow refuses the call and says what to assume.
 */
import { shorten } from "../base/cap-text.js";
import { formProblems, formText, formValues } from "../base/form.js";
import { schemaProblems } from "../base/json-schema.js";
import { safeText } from "../base/terminal-text.js";
import { plainToolName } from "../base/tool-name.js";
import type { Conversion, Tool, ToolHabits, ToolOutcome } from "../engine/ports.js";
import type { FeatureContext, SessionPart } from "../feature/part.js";
import { ownText } from "../protocol/content.js";
import { DISMISSED, type FormField, type FormValues } from "../protocol/form.js";
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
  kind: "ask",
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

const MOST_ROUNDS = 3;

/**
 * Offers the tool once a person is there; without one, every request would pay for a tool that is refused. A subagent does not have it.
 */
export function ask(context: FeatureContext): SessionPart {
  const { person, parent } = context;
  const name = "ask";
  if (parent !== undefined || !context.mayOffer(ASK)) return { name };
  const tool: Tool = {
    ...ASK,
    check: (args) => schemaProblems(ASK.inputSchema, args),
    run: (args, { signal }) => answer(args, signal, context),
  };
  let isOffered = false;
  return {
    name,
    tools: () => {
      isOffered ||= person.present();
      return isOffered ? [tool] : [];
    },
    findTool: (wanted) => (namesAsk(wanted) ? tool : undefined),
  };
}

/** Knows the names of `ask`. Where no person is, the list of tools, in which the engine looks for aliases, does not have it. */
function namesAsk(wanted: string): boolean {
  const plain = plainToolName(wanted);
  return [ASK.name, ...(ASK.habits.names ?? [])].some((name) => plainToolName(name) === plain);
}

async function answer(
  args: JsonObject,
  signal: AbortSignal,
  { person, newCall }: FeatureContext,
): Promise<ToolOutcome> {
  const questions = questionsIn(args);
  const assume = assumption(questions);
  if (!person.present()) return refused(`No person can answer here. ${assume}`);
  const form = formOf(questions);
  let problems: readonly string[] = [];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const given = await person.ask(
      {
        call: newCall(),
        tool: ASK.name,
        args: {},
        summary: "answer the model",
        reason: [...problems, safeText(questionLine(questions))].join(" "),
        form,
        preview: safeText(formText(form)),
        once_only: true,
      },
      signal,
    );
    if (signal.aborted) return { status: "cancelled", content: [ownText("Cancelled.")] };
    if (given.unanswered !== undefined) return refused(`The user did not answer in time. ${assume}`);
    if (given.decision === "deny") {
      const why = given.message === undefined || given.message === DISMISSED ? "" : ` They said: ${given.message}`;
      return refused(`The user does not want to answer.${why} Do not ask this again. ${assume}`);
    }
    const values = formValues(form, given.message);
    problems = formProblems(schemaOf(form), values);
    if (problems.length > 0) continue;
    const said = answersText(questions, values);
    return said === undefined
      ? refused(`The user sent no answer. ${assume}`)
      : { status: "ok", content: [ownText(said)], details: { answers: values as JsonObject } };
  }
  return refused(`The user's answer did not fit: ${problems.join(" ")} ${assume}`);
}

function refused(reason: string): ToolOutcome {
  return { status: "error", content: [ownText(reason)] };
}

/** The form as a schema, for the check of its values. */
function schemaOf(form: readonly FormField[]): JsonObject {
  const properties = form.map(({ name, title = name, kind, choices = [] }): [string, JsonObject] => {
    const values = choices.map(({ value }) => value);
    if (kind === "some") return [name, { type: "array", title, items: { type: "string", enum: values } }];
    return [name, kind === "one" ? { type: "string", title, enum: values } : { type: "string", title }];
  });
  return { type: "object", properties: Object.fromEntries(properties) };
}

interface Question {
  readonly question: string;
  readonly options: readonly string[];
  readonly several: boolean;
}

/** The questions of a call whose arguments fit the schema. */
function questionsIn({ questions }: JsonObject): readonly Question[] {
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

function formOf(questions: readonly Question[]): readonly FormField[] {
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
function questionLine(questions: readonly Question[]): string {
  if (questions.length === 1) return questions[0]?.question ?? "";
  return questions.map(({ question }, index) => `${index + 1}. ${question}`).join("  ");
}

/** Tells what the person answered, a line each; undefined if they answered nothing. */
function answersText(questions: readonly Question[], values: FormValues): string | undefined {
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

/** Tells what to assume where no person answers. */
function assumption(questions: readonly Question[]): string {
  const firsts = questions.flatMap(({ options: [first] }) => (first === undefined ? [] : [JSON.stringify(first)]));
  const what =
    firsts.length === questions.length
      ? `your first option (${firsts.join(", ")})`
      : "what is safest and easiest to undo";
  return `Assume ${what}, go on, and say in your answer what you assumed.`;
}
