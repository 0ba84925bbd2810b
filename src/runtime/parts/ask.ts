/**
 * The part with the tool `ask`: a question with a form, which every client of a person shows. A subagent does not have it. The model is
 * offered it once a person is there; without one, every request would pay for a tool that is refused.
 */
import { schemaProblems } from "../../base/json-schema.js";
import { safeText } from "../../base/terminal-text.js";
import { plainToolName } from "../../base/tool-name.js";
import type { Tool, ToolOutcome } from "../../engine/ports.js";
import { formProblems, formText, formValues } from "../../extensions/mcp/form.js";
import { ownText } from "../../protocol/content.js";
import { DISMISSED, type FormField } from "../../protocol/form.js";
import type { JsonObject } from "../../protocol/json.js";
import { ASK, answersText, assumption, formOf, questionLine, questionsIn } from "../../tools/ask.js";
import type { Opening } from "../opening.js";
import type { CreateBuiltIn } from "./built-in.js";

const MOST_ROUNDS = 3;

export const ask: CreateBuiltIn = (opening) => {
  const name = "ask";
  if (opening.parent !== undefined || !opening.engine.loaded.settings.tool_sets.value.offers(ASK.name, ASK.set))
    return { name };
  const tool: Tool = {
    ...ASK,
    check: (args) => schemaProblems(ASK.inputSchema, args),
    run: (args, { signal }) => answer(args, signal, opening),
  };
  let isOffered = false;
  return {
    name,
    tools: () => {
      isOffered ||= opening.person.present();
      return isOffered ? [tool] : [];
    },
    findTool: (wanted) => (namesAsk(wanted) ? tool : undefined),
  };
};

/** Where no person is, the list of tools does not have it, which is where the engine looks for aliases. */
function namesAsk(wanted: string): boolean {
  const plain = plainToolName(wanted);
  return [ASK.name, ...(ASK.habits.names ?? [])].some((name) => plainToolName(name) === plain);
}

async function answer(args: JsonObject, signal: AbortSignal, { person, engine }: Opening): Promise<ToolOutcome> {
  const questions = questionsIn(args);
  const assume = assumption(questions);
  if (!person.present()) return refused(`No person can answer here. ${assume}`);
  const form = formOf(questions);
  let problems: readonly string[] = [];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const given = await person.ask(
      {
        call: engine.ids.next("call"),
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
