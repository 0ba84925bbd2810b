/**
 * What a server asks the user during a call: to fill in a form, or to open an address.
 *
 * 1. The question names the server, in words of Oxbow, so that a server cannot pass for Oxbow or for another one.
 * 2. Only web addresses can be opened, and Oxbow opens none itself: the user sees the whole address and its host.
 * 3. Values that do not fit the form are asked for again, not sent.
 */
import { safeLine, safeText } from "../../base/terminal-text.js";
import { formFields, formProblems, formText, formValues } from "../../extensions/mcp/form.js";
import type { ElicitParams, ServerUser } from "../../extensions/mcp/server-requests.js";
import { DISMISSED, type FormField } from "../../protocol/form.js";
import type { Opening } from "../opening.js";

export type ElicitAnswer = Awaited<ReturnType<ServerUser["elicit"]>>;

export interface About {
  readonly server: string;
  readonly signal: AbortSignal;
}

const MOST_WORDS = 2000;
const MOST_ROUNDS = 3;

/** Asks the user. Hooks may answer first, and see the answer of the user before the server gets it. */
export async function elicit(params: ElicitParams, about: About, opening: Opening): Promise<ElicitAnswer> {
  const events = opening.built.get("events");
  if (!events.has("Elicitation") && !events.has("ElicitationResult")) return askUser(params, about, opening);
  const { hookedElicitation } = await import("./elicitation-hooks.js");
  const ask = () => askUser(params, about, opening);
  return hookedElicitation(params, about, { events, ask, notify: (message) => opening.engine.notify(message) });
}

async function askUser(params: ElicitParams, about: About, opening: Opening): Promise<ElicitAnswer> {
  if (!opening.person.present()) return { action: "decline" };
  return params.mode === "url" ? openAddress(params, about, opening) : fillIn(params, about, opening);
}

async function openAddress(
  { url: written, message }: { readonly url: string; readonly message: string },
  { server, signal }: About,
  { person, engine }: Opening,
): Promise<ElicitAnswer> {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  const isWeb = url !== undefined && (url.protocol === "https:" || url.protocol === "http:");
  if (!isWeb || url.username !== "" || url.password !== "") {
    engine.notify(
      `The MCP server '${safeLine(server)}' asks for an address that is not one of the web: ${shown(String(written))}`,
    );
    return { action: "decline" };
  }
  const answer = await person.ask(
    {
      call: engine.ids.next("call"),
      tool: `mcp ${server}`,
      args: { url: url.href },
      summary: `tell the MCP server '${server}' that you open ${url.host} in a browser`,
      reason: `It asks: ${shown(message)}`,
      preview: `${shown(url.href)}\n\nOpen the address yourself if you trust ${url.host}.${url.protocol === "http:" ? " It is not encrypted." : ""}`,
      once_only: true,
    },
    signal,
  );
  return answered(answer, signal) ?? { action: "accept" };
}

type Answer = Awaited<ReturnType<Opening["person"]["ask"]>>;

/** Undefined if the user agrees. */
function answered({ unanswered, decision, message }: Answer, signal: AbortSignal): ElicitAnswer | undefined {
  if (unanswered !== undefined || signal.aborted) return { action: "cancel" };
  if (decision !== "deny") return undefined;
  return { action: message === DISMISSED ? "cancel" : "decline" };
}

async function fillIn(
  { requestedSchema, message }: { readonly requestedSchema?: unknown; readonly message: string },
  { server, signal }: About,
  { person, engine }: Opening,
): Promise<ElicitAnswer> {
  const fields = formFields(requestedSchema);
  let problems: readonly string[] = [];
  let form = fields;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const answer = await person.ask(
      {
        call: engine.ids.next("call"),
        tool: `mcp ${server}`,
        args: {},
        summary: `answer the MCP server '${server}'`,
        reason: [...problems, `It asks: ${shown(message)}`, ...warningFor(fields)].join(" "),
        ...(fields.length > 0 && { form, preview: shown(formText(form)) }),
        once_only: true,
      },
      signal,
    );
    const end = answered(answer, signal);
    if (end !== undefined) return end;
    const values = formValues(form, answer.message);
    problems = formProblems(requestedSchema, values);
    if (problems.length === 0) return { action: "accept", content: values as Record<string, string> };
    // What was filled in stays.
    form = fields.map((field) => {
      const value = values[field.name];
      return value === undefined ? field : { ...field, default: value };
    });
  }
  engine.notify(`The form of the MCP server '${safeLine(server)}' was not sent: ${problems.join(" ")}`);
  return { action: "cancel" };
}

const SECRET = /pass(?:word|phrase|code)|secret|token|api.?key|credential|\bpin\b|card number|\bcvv\b/i;

/** The specification forbids servers to ask for secrets in forms. */
function warningFor(fields: readonly FormField[]): readonly string[] {
  const asksForSecret = fields.some(({ name, title = "", description = "" }) =>
    SECRET.test(`${name} ${title} ${description}`),
  );
  return asksForSecret ? ["Do not enter secrets: servers must not ask for them in a form."] : [];
}

export function shown(text: string): string {
  const safe = safeText(text);
  return safe.length > MOST_WORDS ? `${safe.slice(0, MOST_WORDS)}…` : safe;
}
