/**
 * A run through the engine that another process hosts.
 *
 * 1. The person chooses the session, by flags or by an answer.
 * 2. When that engine ends, however it ends, this process continues: it becomes the engine itself, or attaches to the process that was faster.
 *    Everything is in the store, so nothing is lost.
 */
import { safeLine, safeText } from "../../base/terminal-text.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { OutputFormat } from "../../clients/headless/one-shot.js";
import type { Terminal } from "../../clients/headless/terminal.js";
import type { ParsedFlags } from "../../commands/flags.js";
import type { EngineClient } from "../../protocol/client.js";
import type { ImageBlock } from "../../protocol/content.js";
import { failure } from "../../protocol/errors.js";
import type { SessionId } from "../../protocol/ids.js";
import { refuseAgents } from "../../runtime/agent-limits.js";
import type { ControlOwner } from "../../runtime/control-owner.js";
import { controlPlace } from "../../runtime/control-place.js";
import { unlikeEngine } from "../../runtime/engine-environment.js";
import { nodeClock } from "../../system/node-clock.js";
import { roots } from "../../system/xdg-paths.js";
import { EXIT, exitCodeOfFailure } from "../exit-codes.js";
import { printMessage } from "../print-message.js";
import { fitsTerminalClient } from "../run/converse.js";
import { personPresent } from "../terminal-io.js";
import { refuseFlagsOfEngine, type TakenSession, withoutWishes } from "./attach-flags.js";
import { type AttachPlace, chooseByFlags, folderOf, openAttached, sessionsOf } from "./attached-talk.js";
import { converseAttached } from "./converse.js";
import { Loss } from "./loss.js";
import { type Choice, offerAttach, pickByNumber } from "./offer.js";
import { oneShotAttached } from "./one-shot.js";
import { type Reached, reachEngine } from "./reach.js";

export interface EngineWork {
  readonly variables: Variables;
  readonly terminal: Terminal;
  readonly format: OutputFormat;
  readonly images: readonly ImageBlock[];
  /** Absent: a conversation. */
  readonly prompt: string | undefined;
  /** The conversation begins with the list of sessions. */
  readonly choosesSession: boolean;
}

/** `own`: this process is to be the engine, with the session to continue and the socket that it took over, if any. */
export type EngineEnd =
  | { readonly exit: number }
  | { readonly own: { readonly taken?: TakenSession; readonly owner?: ControlOwner } };

type Connected = Extract<Reached, { readonly kind: "connected" }>;

const PATIENCE_MS = 20_000;
/** An engine that starts on a busy machine. */
const START_PATIENCE_MS = 3000;
const PAUSE_MS = 50;

export async function throughEngine(flags: ParsedFlags, work: EngineWork): Promise<EngineEnd> {
  const { variables, prompt } = work;
  const isAsked = flags.has("attach");
  if (isAsked) {
    refuseAgents(variables, "--attach");
    refuseFlagsOfEngine(flags);
  }
  const lost = new Loss();
  const reached = await reach(variables, lost);
  if (reached.kind !== "connected") {
    if (isAsked) return { exit: complain(reached) };
    if (reached.kind === "unreachable") {
      printMessage(`process ${reached.pid} does not let this client attach: ${safeText(reached.reason)}`);
    }
    return { own: {} };
  }
  if (prompt !== undefined) {
    reportEnvironment(reached, variables);
    return { exit: await promptOnce({ reached, lost, prompt }, flags, work) };
  }
  const first = isAsked ? await choiceByFlags(reached, flags, work) : await offer(reached, flags, work);
  const needsList = first.kind === "pick" && !(await fitsTerminalClient({ flags, ...work }));
  const choice = needsList ? await pickByNumber(reached.client) : first;
  if (choice.kind === "own" || choice.kind === "leave") {
    await reached.client.close();
    return choice.kind === "own" ? { own: {} } : { exit: EXIT.cancelled };
  }
  reportEnvironment(reached, variables);
  return converse({ reached, lost, choice }, flags, work);
}

/** Ends when the person leaves, or when this process is to be the engine. */
async function converse(
  first: { readonly reached: Connected; readonly choice: Choice; readonly lost: Loss },
  given: ParsedFlags,
  work: EngineWork,
): Promise<EngineEnd> {
  let { reached, choice, lost } = first;
  let flags = given;
  for (;;) {
    const { client, pid } = reached;
    const { variables } = work;
    const { terminal } = work;
    const place = { client, pid, flags, variables, terminal, lost, setMode: modeSetter(reached, variables) };
    const end = await converseAttached(place, choice, work);
    await client.close();
    if ("exit" in end) return end;
    printMessage(`the engine (process ${pid}) has ended; this client continues the session.`);
    const next = await afterLoss(work.variables, reached);
    if (next === undefined) {
      printMessage(`process ${pid} does not answer. Resume: oxbow ${end.session}`);
      return { exit: EXIT.failed };
    }
    if ("owner" in next) return { own: { taken: end, owner: next.owner } };
    reached = next.reached;
    lost = next.lost;
    flags = withoutWishes(given);
    const known = (await sessionsOf(reached.client)).find(({ id }) => id === end.session);
    choice = { kind: "attach", session: known ?? { id: end.session } };
  }
}

/** The socket is free, or another client has taken it. */
async function afterLoss(
  variables: Variables,
  { isStillOwner }: Connected,
): Promise<{ readonly owner: ControlOwner } | { readonly reached: Connected; readonly lost: Loss } | undefined> {
  const { ControlOwner: Owner } = await import("../../runtime/control-owner.js");
  const place = controlPlace(roots(variables));
  for (const until = nodeClock.now() + PATIENCE_MS; nodeClock.now() < until; ) {
    const owner = await Owner.claim(place, nodeClock);
    if (owner !== undefined) return { owner };
    if (!(await isStillOwner())) {
      const lost = new Loss();
      const reached = await reach(variables, lost);
      if (reached.kind === "connected") return { reached, lost };
    }
    await new Promise<void>((resolve) => nodeClock.after(PAUSE_MS, resolve));
  }
  return undefined;
}

async function promptOnce(
  { reached, lost, prompt }: { readonly reached: Connected; readonly lost: Loss; readonly prompt: string },
  flags: ParsedFlags,
  work: EngineWork,
): Promise<number> {
  const { client, pid } = reached;
  const gone = new Promise<number>((resolve) => {
    lost.signal.addEventListener("abort", () => {
      printMessage(`the engine (process ${pid}) ended before the turn did. Resume: oxbow --continue`);
      resolve(EXIT.failed);
    });
  });
  const { variables } = work;
  const place = { client, flags, variables, setMode: modeSetter(reached, variables) };
  const exit = await Promise.race([oneShotAttached(place, { ...work, prompt }), gone]);
  await client.close();
  return exit;
}

/** Other work than a prompt, in a session of a running engine. */
export async function inEngine(
  flags: ParsedFlags,
  variables: Variables,
  action: (place: { readonly client: EngineClient; readonly session: SessionId }) => Promise<number>,
): Promise<number> {
  refuseAgents(variables, "--attach");
  refuseFlagsOfEngine(flags);
  const reached = await reach(variables, new Loss());
  if (reached.kind !== "connected") return complain(reached);
  const { client } = reached;
  reportEnvironment(reached, variables);
  try {
    const place = { client, flags, variables, setMode: modeSetter(reached, variables) };
    const chosen = await chooseByFlags(place);
    const opened = await openAttached(place, chosen);
    if ("failure" in opened) {
      printMessage(opened.failure.message);
      return exitCodeOfFailure(opened.failure);
    }
    const exit = await action({ client, session: opened.session });
    if (chosen === undefined) await client.send("EndSession", {}, opened.session);
    return exit;
  } finally {
    await client.close();
  }
}

/** Keys, proxies and addresses are those of the process that calls the models. */
function reportEnvironment({ pid }: Connected, variables: Variables): void {
  const names = unlikeEngine(roots(variables), variables);
  if (names.length === 0) return;
  process.stderr.write(
    `oxbow: the engine (process ${pid ?? "?"}) uses its own environment, not this one: ${names.map(safeLine).join(", ")}. Start the engine with it, or use --no-attach.\n`,
  );
}

async function choiceByFlags({ client }: Connected, flags: ParsedFlags, work: EngineWork): Promise<Choice> {
  if (work.choosesSession) return { kind: "pick" };
  const session = await chooseByFlags({ client, flags });
  return session === undefined ? { kind: "new" } : { kind: "attach", session };
}

/** A session that the flags name is used where it is open; another one is opened here. */
async function offer({ client, pid }: Connected, flags: ParsedFlags, { choosesSession }: EngineWork): Promise<Choice> {
  if (choosesSession) return { kind: "pick" };
  if (!flags.has("resume") && !flags.has("continue")) return offerAttach(client, { pid, folder: folderOf(flags) });
  try {
    const session = await chooseByFlags({ client, flags });
    return session?.live ? { kind: "attach", session } : { kind: "own" };
  } catch (error) {
    // The store may know more sessions than the engine.
    if (error instanceof UsageError) return { kind: "own" };
    throw error;
  }
}

/** A client that has said that no person is there may not set the mode: a second one does. */
function modeSetter({ client }: Connected, variables: Variables): AttachPlace["setMode"] {
  return async (mode, session) => {
    if (personPresent()) return client.send("SetMode", { mode }, session);
    const person = await reachEngine(variables, { name: `terminal, process ${process.pid}` });
    if (person.kind !== "connected")
      return { ok: false, failure: failure("Internal", { detail: "the engine has ended" }) };
    const reply = await person.client.send("SetMode", { mode }, session);
    await person.client.close();
    return reply;
  };
}

async function reach(variables: Variables, lost: Loss): Promise<Reached> {
  let isStillOwner: (() => Promise<boolean>) | undefined;
  // A process that lives may only be busy.
  const retry = async () => {
    const isThere = (await isStillOwner?.()) ?? false;
    if (!isThere) lost.happens();
    return isThere;
  };
  const options = { name: `terminal, process ${process.pid}`, canAnswer: personPresent(), retry };
  let reached = await reachEngine(variables, options);
  for (const until = nodeClock.now() + START_PATIENCE_MS; nodeClock.now() < until; ) {
    if (reached.kind !== "unreachable" || !reached.isStarting) break;
    await new Promise<void>((resolve) => nodeClock.after(PAUSE_MS, resolve));
    reached = await reachEngine(variables, options);
  }
  if (reached.kind === "connected") isStillOwner = reached.isStillOwner;
  return reached;
}

function complain(reached: Exclude<Reached, Connected>): number {
  if (reached.kind === "none") {
    printMessage("no engine runs here. Start one with 'oxbow' or 'oxbow serve', or leave out --attach.");
    return EXIT.failed;
  }
  printMessage(reached.reason);
  return reached.failure === undefined ? EXIT.failed : exitCodeOfFailure(reached.failure);
}
