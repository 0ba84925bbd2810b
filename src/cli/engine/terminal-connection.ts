/**
 * The connection of a terminal to the engine of its home.
 *
 * 1. Every session that it opens gets the surroundings of this terminal.
 * 2. An engine that has ended is started again: before the next command, or when the stream of events drops. The sessions of this
 *    terminal are opened there again, and the stream continues after the last event that arrived. A new session of which nothing is
 *    stored yet opens empty, with the model and the mode that were chosen in it.
 *    A command that meets the end of the engine waits for the next one. It is sent again if it did not arrive: of input the log tells.
 * 3. If a session cannot be opened again without an answer of the person, `onLost` says so, and the conversation starts over.
 */
import type { Variables } from "../../base/variables.js";
import { VERSION } from "../../base/version.js";
import type { HttpClient } from "../../clients/sdk/http-client.js";
import type { DetachListener, WireClient } from "../../clients/sdk/wire-client.js";
import type { CommandReply, Identity, QueryReply } from "../../protocol/client.js";
import type { CommandKind, CommandPayloads, SessionStart } from "../../protocol/commands.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { BuiltInReason } from "../../protocol/errors.js";
import type { Handshake } from "../../protocol/handshake.js";
import type { ClientId, SessionId } from "../../protocol/ids.js";
import type { Queries, QueryKind } from "../../protocol/queries.js";
import { EFFORT, MODE, MODEL } from "../../runtime/commands/specs.js";
import { nodeClock } from "../../system/node-clock.js";
import { type Reached, type ReachOptions, reachEngine } from "../attach/reach.js";
import { personPresent } from "../terminal-io.js";
import { RETIRES, type Started, startEngine } from "./start-engine.js";

export interface TerminalConnectionOptions {
  readonly variables: Variables;
  readonly start: SessionStart;
  /** Gives the keys of this terminal to the credential helper again: it may have ended with the engine. */
  readonly lendAgain?: () => Promise<unknown>;
  readonly onLost: () => void;
  /** The engine is not started again. */
  readonly once?: true;
}

type Connected = Extract<Reached, { readonly kind: "connected" }>;

/** Twice has the effect of once. */
const REPEATABLE: ReadonlySet<CommandKind> = new Set<CommandKind>([
  ...(["AttachSession", "DetachSession", "EndSession", "CancelTurn", "TakeBackInput"] as const),
  ...(["SetModel", "SetMode", "EnterPlanMode", "AnswerPermission", "ApproveContent"] as const),
]);
/** Lists the failures of a command that meets the end of an engine. */
const OF_ENDS: ReadonlySet<string> = new Set<BuiltInReason>(["NetworkFailed", "ShuttingDown", "SessionNotFound"]);
const END_MS = 5000;
const LOOK_MS = 50;

export class TerminalConnection implements WireClient {
  readonly #options: TerminalConnectionOptions;
  /** With what each was opened. */
  readonly #sessions = new Map<SessionId, CommandPayloads["CreateSession"]>();
  /** Keeps what was chosen in each: the log has it only from the first turn on. */
  readonly #choices = new Map<SessionId, Map<string, (client: HttpClient) => Promise<CommandReply>>>();
  #engine: Connected;
  #input: Promise<unknown> = Promise.resolve();
  #reviving: Promise<boolean> | undefined;

  private constructor(options: TerminalConnectionOptions, engine: Connected) {
    this.#options = options;
    this.#engine = engine;
  }

  /** Starts an engine if none runs, while the surroundings of the terminal are made. */
  static async open(
    options: Omit<TerminalConnectionOptions, "start"> & { readonly start: SessionStart | Promise<SessionStart> },
  ): Promise<TerminalConnection | { readonly failed: string }> {
    let connection: TerminalConnection | undefined;
    const starting: Promise<Started> = startEngine(options.variables, {
      ...asTerminal(),
      ...reviving(() => connection),
    });
    const [started, start] = await Promise.allSettled([starting, options.start]);
    if (started.status === "rejected") throw started.reason;
    if (start.status === "rejected") {
      if (!("failed" in started.value)) await started.value.client.close();
      throw start.reason;
    }
    if ("failed" in started.value) return started.value;
    connection = new TerminalConnection({ ...options, start: start.value }, started.value);
    return connection;
  }

  /** Connects to the engine that runs, which is not started again; or says why there is none. */
  static async toRunning(
    options: TerminalConnectionOptions,
  ): Promise<TerminalConnection | Exclude<Reached, Connected>> {
    let connection: TerminalConnection | undefined;
    const reached = await reachEngine(options.variables, { ...asTerminal(), ...reviving(() => connection) });
    if (reached.kind !== "connected") return reached;
    connection = new TerminalConnection({ ...options, once: true }, reached);
    return connection;
  }

  get pid(): number | undefined {
    return this.#engine.pid;
  }

  /** Another version of Oxbow is the engine. It is asked to end as soon as it has nothing to do. */
  async isOther(): Promise<boolean> {
    const health = await this.query("GetHealth", {});
    if (!health.ok || health.answer.version === VERSION) return false;
    const { pid, handshake } = this;
    if (pid !== undefined && handshake.features.includes(RETIRES)) process.kill(pid, "SIGUSR2");
    return true;
  }

  get id(): ClientId {
    return this.#client.id;
  }

  get identity(): Identity {
    return this.#client.identity;
  }

  get handshake(): Handshake {
    return this.#client.handshake;
  }

  subscribe(listener: (event: Envelope) => void): () => void {
    return this.#client.subscribe(listener);
  }

  onDetached(listener: DetachListener): () => void {
    return this.#client.onDetached(listener);
  }

  query<K extends QueryKind>(kind: K, request: Queries[K]["request"], session?: SessionId): Promise<QueryReply<K>> {
    return this.#client.query(kind, request, session);
  }

  async send<K extends CommandKind>(kind: K, payload: CommandPayloads[K], session?: SessionId): Promise<CommandReply> {
    if (kind !== "SendInput" || session === undefined) return this.#send(kind, payload, session);
    // One at a time: the log tells whether an input of this terminal arrived, not which.
    const turn = this.#input.then(() => this.#send(kind, payload, session));
    this.#input = turn.catch(() => {});
    return turn;
  }

  async #send<K extends CommandKind>(kind: K, payload: CommandPayloads[K], session?: SessionId): Promise<CommandReply> {
    await this.revive();
    const newest = kind === "SendInput" && session !== undefined ? await this.#newestOf(session) : undefined;
    const reply = await this.#client.send(kind, this.#withStart(kind, payload), session);
    if (!reply.ok) {
      const isAgain = await this.#isForNext(reply, { kind, session, newest });
      if (isAgain === "arrived") return { ok: true };
      return isAgain === "no" ? reply : this.#send(kind, payload, session);
    }
    if (kind === "DetachSession" && session !== undefined) this.#sessions.delete(session);
    if (session !== undefined) this.#remember(kind, payload, session);
    if (reply.session === undefined) return reply;
    const created =
      kind === "CreateSession" ? (payload as CommandPayloads["CreateSession"]) : { resume: reply.session };
    const { after, until: _, orphans: __, ...request } = created;
    if (after !== undefined) this.#sessions.delete(after);
    this.#sessions.set(reply.session, request);
    return reply;
  }

  #remember<K extends CommandKind>(kind: K, payload: CommandPayloads[K], session: SessionId): void {
    const choice = choiceOf(kind, payload);
    if (choice === undefined) return;
    const chosen = this.#choices.get(session) ?? new Map();
    this.#choices.set(
      session,
      chosen.set(choice, (client: HttpClient) => client.send(kind, payload, session)),
    );
  }

  /** The engine ended around a command: whether the command is for the next engine, which runs then, or had arrived. */
  async #isForNext(
    { failure: { reason }, unsent }: Extract<CommandReply, { readonly ok: false }>,
    {
      kind,
      session,
      newest,
    }: { readonly kind: CommandKind; readonly session?: SessionId | undefined; readonly newest?: number | undefined },
  ): Promise<"yes" | "arrived" | "no"> {
    if (!OF_ENDS.has(reason) || this.#options.once) return "no";
    // Another terminal may have started the next engine, which has this session only once this terminal opens it there.
    const hasEnded = reason === "SessionNotFound" ? !(await this.#engine.isStillOwner()) : await this.#hasEnded();
    if (!hasEnded || !(await this.revive())) return "no";
    if (reason !== "NetworkFailed" || unsent === true || REPEATABLE.has(kind)) return "yes";
    if (kind !== "SendInput" || session === undefined || newest === undefined) return "no";
    return (await this.#hasInputAfter(session, newest)) ? "arrived" : "yes";
  }

  /** Its process may end a moment after its connections. */
  async #hasEnded(): Promise<boolean> {
    for (let waited = 0; waited < END_MS; waited += LOOK_MS) {
      if (!(await this.#engine.isStillOwner())) return true;
      await new Promise<void>((resolve) => nodeClock.after(LOOK_MS, resolve));
    }
    return false;
  }

  /** The id of the last event in the log; 0 without one. */
  async #newestOf(session: SessionId): Promise<number | undefined> {
    const reply = await this.query("ListEvents", { before: Number.MAX_SAFE_INTEGER, limit: 1 }, session);
    return reply.ok ? (reply.answer.events.at(-1)?.id ?? 0) : undefined;
  }

  async #hasInputAfter(session: SessionId, newest: number): Promise<boolean> {
    const isOwn = (event: Envelope) =>
      event.id > newest &&
      ((event.kind === "TurnStarted" && event.originator === this.id) ||
        (event.kind === "InputQueued" && event.payload.from === this.id));
    // An answer with long texts leaves out the oldest events.
    for (let before = Number.MAX_SAFE_INTEGER; before > newest + 1; ) {
      const reply = await this.query("ListEvents", { before }, session);
      const events = reply.ok ? reply.answer.events : [];
      if (events.some(isOwn)) return true;
      before = events[0]?.id ?? 0;
    }
    return false;
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** Starts the engine again if it has ended; false if the conversation has to start over. */
  async revive(): Promise<boolean> {
    if (await this.#engine.isStillOwner()) return true;
    this.#reviving ??= this.#startAgain().finally(() => {
      this.#reviving = undefined;
    });
    return this.#reviving;
  }

  async #startAgain(): Promise<boolean> {
    const { variables, onLost, once } = this.#options;
    if (once) {
      onLost();
      return false;
    }
    const started = await startEngine(variables, asTerminal());
    if ("failed" in started) {
      onLost();
      return false;
    }
    // A session without its key is still a session.
    await this.#options.lendAgain?.().catch(() => {});
    // The first client stays: it shakes hands again by itself, and knows the last event of each session.
    const { client, ...engine } = started;
    // The session may have another model by now than the one that the terminal was started with.
    const { flags = [], ...rest } = this.#options.start;
    const start = { ...rest, flags: flags.filter((flag) => !/^--(model|provider)=/.test(flag)) };
    for (const [session, request] of this.#sessions) {
      const reply = await client.send("CreateSession", { resume: session, start });
      if (reply.ok) continue;
      if (reply.failure.reason === "SessionNotFound") {
        if (request.resume !== undefined) continue;
        // Nothing of it was stored yet.
        const anew = { ...this.#options.start, anew: true };
        if ((await client.send("CreateSession", { ...request, resume: session, start: anew })).ok) {
          for (const choose of this.#choices.get(session)?.values() ?? []) await choose(client);
          continue;
        }
      }
      await client.close();
      onLost();
      return false;
    }
    await client.close();
    this.#engine = { ...engine, client: this.#client };
    return true;
  }

  get #client(): HttpClient {
    return this.#engine.client;
  }

  /** A session that follows another one here has its surroundings already. */
  #withStart<K extends CommandKind>(kind: K, payload: CommandPayloads[K]): CommandPayloads[K] {
    if (kind !== "CreateSession") return payload;
    const { after, resume } = payload as CommandPayloads["CreateSession"];
    return after !== undefined && resume === undefined ? payload : { ...payload, start: this.#options.start };
  }
}

/**
 * An engine that was killed may still hold its lock when the stream drops, and another terminal may start the next one meanwhile. So a
 * stream that is back looks again.
 */
function reviving(connection: () => TerminalConnection | undefined): Pick<ReachOptions, "retry" | "onState"> {
  return {
    retry: async () => (await connection()?.revive()) ?? true,
    onState: (state) => {
      if (state === "connected") void connection()?.revive();
    },
  };
}

function asTerminal() {
  return { name: `terminal, process ${process.pid}`, canAnswer: personPresent() };
}

/** Names what a command chooses for its session, if it does. */
function choiceOf<K extends CommandKind>(kind: K, payload: CommandPayloads[K]): string | undefined {
  if (kind === "SetModel") return MODEL.name;
  if (kind === "SetMode" || kind === "EnterPlanMode") return MODE.name;
  if (kind !== "CustomCommand") return undefined;
  const { verb, payload: given } = payload as CommandPayloads["CustomCommand"];
  const args = (given as { readonly args?: string }).args?.trim() ?? "";
  // `/plan on` chooses what `/mode plan` does.
  if (verb === "plan") return /^(?:on|off)\b/.test(args) ? MODE.name : undefined;
  return args !== "" && [MODEL, EFFORT, MODE].some(({ name }) => name === verb) ? verb : undefined;
}
