/** Asks what to do when an engine runs already: attach to the last session, a new one there, choose one, or an engine of its own. */
import { safeLine } from "../../base/terminal-text.js";
import { VERSION } from "../../base/version.js";
import type { HttpClient } from "../../clients/sdk/http-client.js";
import type { HealthInfo, SessionInfo } from "../../protocol/queries.js";
import { askOnce } from "../terminal-io.js";
import { sessionsOf } from "./attached-talk.js";
import { clientWords, othersOf } from "./others.js";

const MOST_LISTED = 20;

export type Choice =
  | { readonly kind: "attach"; readonly session: Pick<SessionInfo, "id" | "title"> }
  | { readonly kind: "new" }
  | { readonly kind: "pick" }
  | { readonly kind: "own" }
  /** The user does not want to start: Ctrl-D or Esc. */
  | { readonly kind: "leave" };

export async function offerAttach(
  client: HttpClient,
  { pid, folder }: { readonly pid: number | undefined; readonly folder: string },
): Promise<Choice> {
  const [health, here, all, others] = await Promise.all([
    client.query("GetHealth", {}),
    sessionsOf(client, { cwd: folder }),
    sessionsOf(client),
    othersOf(client),
  ]);
  const live = all.filter((session) => session.live);
  const last = here.find((session) => session.live) ?? here[0] ?? live[0];
  const answers: readonly (readonly [string, Choice])[] = [
    ["n", { kind: "new" }],
    ...(last === undefined ? [] : ([["a", { kind: "attach", session: last }]] as const)),
    ...(all.length === 0 ? [] : ([["p", { kind: "pick" }]] as const)),
    ["o", { kind: "own" }],
  ];
  const words: Readonly<Record<string, string>> = {
    n: `start a new session there, in ${folder}`,
    a: last === undefined ? "" : `attach to ${describe(last, folder)}`,
    p: "choose one of its sessions",
    o: "start a separate engine (--no-attach)",
  };
  const lines = [
    engineLine(pid, health.ok ? health.answer : undefined),
    ...(others.length === 0 ? [] : [`Attached: ${others.map((other) => safeLine(clientWords(other))).join(", ")}.`]),
    ...answers.map(([key]) => `  ${key}  ${words[key]}`),
  ];
  process.stderr.write(`${lines.join("\n")}\n`);
  const keys = answers.map(([key]) => key);
  for (;;) {
    const typed = await askOnce(`Choose [${keys.join("/")}, Enter: n, Ctrl-D: leave]: `);
    const choice = choiceOf(typed, answers);
    if (choice !== undefined) return choice;
    process.stderr.write(`Please answer ${keys.slice(0, -1).join(", ")} or ${keys.at(-1)}.\n`);
  }
}

/** Undefined for an answer that was not offered. An input that ended is no answer: Ctrl-D. */
export function choiceOf(
  typed: string | undefined,
  answers: readonly (readonly [string, Choice])[],
): Choice | undefined {
  if (typed === undefined) return { kind: "leave" };
  const word = typed.trim().toLowerCase();
  return word === "" ? { kind: "new" } : answers.find(([key]) => key === word)?.[1];
}

/** For a terminal that cannot show a list to choose from. */
export async function pickByNumber(client: HttpClient): Promise<Choice> {
  const sessions = (await sessionsOf(client)).slice(0, MOST_LISTED);
  const lines = sessions.map(({ title, cwd, live, id }, index) => {
    const state = live ? "  open" : "";
    return `  ${String(index + 1).padStart(2)}  ${safeLine(title ?? id)}  ${safeLine(cwd)}${state}`;
  });
  process.stderr.write(`${lines.join("\n")}\n`);
  for (;;) {
    const typed = (await askOnce("Number [Enter: a new session]: "))?.trim();
    if (typed === undefined) return { kind: "leave" };
    if (typed === "") return { kind: "new" };
    const session = sessions[Number(typed) - 1];
    if (session !== undefined) return { kind: "attach", session };
    process.stderr.write(`Please answer a number from 1 to ${sessions.length}.\n`);
  }
}

function engineLine(pid: number | undefined, health: HealthInfo | undefined): string {
  const process = `process ${pid ?? "of another system"}`;
  if (health === undefined) return `An engine is already running (${process}).`;
  const count = `${health.sessions} ${health.sessions === 1 ? "session" : "sessions"}`;
  return `An engine is already running (${process}, ${count} open).${versionNote(health)}`;
}

/** What to do when the engine was started by another version of Oxbow. */
export function versionNote({ version, pid }: Pick<HealthInfo, "version" | "pid">): string {
  if (version === VERSION) return "";
  return ` It is Oxbow ${version}, and this is ${VERSION}: end process ${pid} and start again to use ${VERSION} for all, or use --no-attach.`;
}

function describe({ title, cwd, live, id }: SessionInfo, folder: string): string {
  const name = title === undefined ? id : `"${safeLine(title)}"`;
  return `${name}${live ? ", which is open" : ", the last one here"}${cwd === folder ? "" : `, in ${safeLine(cwd)}`}`;
}
