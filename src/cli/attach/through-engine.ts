/**
 * A run through the engine of this home, which is a process of its own.
 *
 * 1. A conversation starts the engine if none runs, and begins a new session in the folder of this terminal without a question. Flags name
 *    another session.
 * 2. Leaving ends nothing but the view. If the engine dies, the conversation starts it again and continues.
 * 3. A conversation that the engine cannot host as it was started runs in this process instead, and says why.
 */
import { safeLine, safeText } from "../../base/terminal-text.js";
import type { Variables } from "../../base/variables.js";
import { VERSION } from "../../base/version.js";
import type { OutputFormat } from "../../clients/headless/one-shot.js";
import type { Terminal } from "../../clients/headless/terminal.js";
import type { ParsedFlags } from "../../feature/flags.js";
import type { EngineClient } from "../../protocol/client.js";
import type { MediaBlock } from "../../protocol/content.js";
import { type Failure, failure } from "../../protocol/errors.js";
import type { SessionId } from "../../protocol/ids.js";
import { lendKeys } from "../../runtime/credentials/lend-keys.js";
import { unlikeEngine } from "../../runtime/engine-environment.js";
import { SessionStores } from "../../runtime/sessions/session-stores.js";
import { type LoadedSettings, loadSettings } from "../../runtime/settings/settings.js";
import { CredentialError } from "../../security/credentials/credential-error.js";
import { roots } from "../../system/xdg-paths.js";
import { refuseAgents } from "../agent-limits.js";
import { engineFlags, sessionStart } from "../engine/session-start.js";
import { TerminalConnection } from "../engine/terminal-connection.js";
import { FailedRun } from "../failed-run.js";
import { printMessage } from "../print-message.js";
import { fitsTerminalClient } from "../run/converse.js";
import { personPresent } from "../terminal-io.js";
import { refuseFlagsOfEngine } from "./attach-flags.js";
import { type AttachPlace, chooseByFlags, folderOf, openAttached, sessionsOf } from "./attached-talk.js";
import { type Choice, converseAttached, pickByNumber } from "./converse.js";
import { oneShotAttached } from "./one-shot.js";
import { type Reached, reachEngine } from "./reach.js";

export interface EngineWork {
  readonly variables: Variables;
  readonly terminal: Terminal;
  readonly format: OutputFormat;
  readonly media: readonly MediaBlock[];
  /** Absent: a conversation. */
  readonly prompt: string | undefined;
  /** The conversation begins with the list of sessions. */
  readonly choosesSession: boolean;
}

/** Undefined: this process is to be the engine. */
export async function conversationInEngine(flags: ParsedFlags, work: EngineWork): Promise<number | undefined> {
  const { variables } = work;
  if (flags.has("attach")) {
    refuseAgents(variables, "--attach");
    refuseFlagsOfEngine(flags);
  }
  const loaded = await loadSettings(flags, variables);
  const why = await whyOwnEngine(flags, { variables, loaded });
  if (why !== undefined) {
    printMessage(`${why} This conversation runs in its own process.`);
    return undefined;
  }
  for (let again: SessionId | undefined; ; ) {
    const end = await converseOnce(flags, { ...work, loaded, again });
    if (typeof end !== "object") return end;
    again = end.session;
  }
}

/** Says why the engine cannot host this conversation as it was started; undefined if it can. */
async function whyOwnEngine(
  flags: ParsedFlags,
  { variables, loaded }: { readonly variables: Variables; readonly loaded: LoadedSettings },
): Promise<string | undefined> {
  const [first] = engineFlags(flags);
  if (first !== undefined) return `${first} holds for a whole engine.`;
  const { settings } = loaded;
  const stores = (root: string) =>
    new SessionStores({ settings, roots: loaded.roots, variables, root, notify: () => {}, hint: () => {} }).choice();
  const [here, usual] = await Promise.all([stores(folderOf(flags)), stores("/")]);
  return JSON.stringify(here) === JSON.stringify(usual) ? undefined : "This folder stores its sessions itself.";
}

interface OnceWork extends EngineWork {
  readonly loaded: LoadedSettings;
  /** The engine has ended, and the person must answer something before this session continues. */
  readonly again: SessionId | undefined;
}

async function converseOnce(
  flags: ParsedFlags,
  work: OnceWork,
): Promise<number | undefined | { readonly session: SessionId }> {
  const { variables } = work;
  const lost = new AbortController();
  const connection = await openConnection(flags, work, lost);
  if (connection === undefined) return undefined;
  if ("failed" in connection) {
    printMessage(`${safeText(connection.failed)} This conversation runs in its own process.`);
    return undefined;
  }
  if (await connection.isOther()) {
    printMessage(
      `The running engine is another version of Oxbow. It ends when it has nothing to do; until then this conversation runs in its own process (${VERSION}).`,
    );
    await connection.close();
    return undefined;
  }
  const setMode: AttachPlace["setMode"] = (mode, session) => connection.send("SetMode", { mode }, session);
  // The file is of the engine that runs now: one that has ended may have left its own.
  const names = unlikeEngine(roots(variables), variables, work.loaded.settings).map(safeLine);
  if (names.length > 0) {
    printMessage(
      `The running engine has another ${names.join(", ")}. This conversation runs in its own process ('oxbow stop' ends the engine).`,
    );
    await connection.close();
    return undefined;
  }
  if (flags.has("web") && work.again === undefined) await openBeside(variables);
  const { terminal } = work;
  const place = {
    ...{ client: connection, flags, variables, terminal, setMode },
    lost: lost.signal,
  };
  const choice = work.again === undefined ? await choiceOf(place, work) : await sameAgain(connection, work.again);
  const end = await converseAttached(place, choice, work);
  await connection.close();
  return "exit" in end ? end.exit : end;
}

/** `--web`: the web client beside the terminal client. */
async function openBeside(variables: Variables): Promise<void> {
  const { askForPage, openPage } = await import("../web/open-page.js");
  const { url } = await askForPage(variables);
  const missing = openPage(url, variables);
  printMessage(missing === undefined ? `The web client opens at ${url}` : `The web client is at ${url}`);
}

async function sameAgain(client: TerminalConnection, session: SessionId): Promise<Choice> {
  const known = (await sessionsOf(client)).find(({ id }) => id === session);
  return { kind: "attach", session: known ?? { id: session } };
}

async function openConnection(flags: ParsedFlags, { variables, loaded }: OnceWork, lost: AbortController) {
  const start = sessionStart(flags, { variables, loaded });
  const lendAgain = () => lendKeys(loaded, variables);
  try {
    return await TerminalConnection.open({ variables, start, lendAgain, onLost: () => lost.abort() });
  } catch (error) {
    if (!(error instanceof CredentialError)) throw error;
    printMessage(`${error.message} This conversation runs in its own process.`);
    return undefined;
  }
}

async function choiceOf(place: Pick<AttachPlace, "client" | "flags">, work: OnceWork): Promise<Choice> {
  const { flags, client } = place;
  if (work.choosesSession) {
    return (await fitsTerminalClient({ flags, ...work })) ? { kind: "pick" } : pickByNumber(client);
  }
  const session = await chooseByFlags({ client, flags });
  return session === undefined ? { kind: "new" } : { kind: "attach", session };
}

/** `oxbow run --attach PROMPT`. */
export async function promptInEngine(
  flags: ParsedFlags,
  work: EngineWork & { readonly prompt: string },
): Promise<number> {
  const { prompt } = work;
  return withRunningEngine(flags, work, async (place, { pid, gone }) => {
    const ended = gone.then(() => {
      const detail = `the engine (process ${pid}) ended before the turn did. Resume: oxbow --continue`;
      throw new FailedRun({ ...failure("Internal"), message: detail });
    });
    return Promise.race([oneShotAttached(place, { ...work, prompt }), ended]);
  });
}

/** Other work than a prompt, in a session of a running engine. */
export async function inEngine(
  flags: ParsedFlags,
  here: Pick<EngineWork, "variables" | "terminal">,
  action: (place: { readonly client: EngineClient; readonly session: SessionId }) => Promise<number>,
): Promise<number> {
  return withRunningEngine(flags, here, async (place) => {
    const chosen = await chooseByFlags(place);
    const opened = await openAttached(place, chosen);
    if ("failure" in opened) throw new FailedRun(opened.failure);
    const exit = await action({ client: place.client, session: opened.session });
    if (chosen === undefined) await place.client.send("EndSession", {}, opened.session);
    return exit;
  });
}

type Connected = Extract<Reached, { readonly kind: "connected" }>;

async function withRunningEngine(
  flags: ParsedFlags,
  { variables, terminal }: Pick<EngineWork, "variables" | "terminal">,
  work: (
    place: AttachPlace,
    engine: { readonly pid: number | undefined; readonly gone: Promise<void> },
  ) => Promise<number>,
): Promise<number> {
  refuseAgents(variables, "--attach");
  refuseFlagsOfEngine(flags);
  const start = await sessionStart(flags, { variables, loaded: await loadSettings(flags, variables) });
  let leave = () => {};
  const gone = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const connection = await TerminalConnection.toRunning({ variables, start, onLost: leave });
  if ("kind" in connection) throw new FailedRun(complaint(connection));
  const { pid } = connection;
  const setMode = modeSetter(connection, variables);
  try {
    return await work({ client: connection, flags, variables, terminal, setMode }, { pid, gone });
  } finally {
    await connection.close();
  }
}

const NAMED = { name: `terminal, process ${process.pid}` };

/** A client that has said that no person is there may not set the mode: a second one does. */
function modeSetter(client: TerminalConnection, variables: Variables): AttachPlace["setMode"] {
  return async (mode, session) => {
    if (personPresent()) return client.send("SetMode", { mode }, session);
    const person = await reachEngine(variables, NAMED);
    if (person.kind !== "connected")
      return { ok: false, failure: failure("Internal", { detail: "the engine has ended" }) };
    const reply = await person.client.send("SetMode", { mode }, session);
    await person.client.close();
    return reply;
  };
}

function complaint(reached: Exclude<Reached, Connected>): Failure {
  const isNone = reached.kind === "none";
  const message = isNone
    ? "no engine runs here. Start one with 'oxbow' or 'oxbow serve', or leave out --attach."
    : reached.reason;
  return { ...((isNone ? undefined : reached.failure) ?? failure("Internal")), message };
}
