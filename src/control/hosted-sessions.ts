/**
 * The open sessions of an engine.
 *
 * 1. A session has at most one run: clients that open it at the same time share it.
 * 2. A session that cannot be opened or closed does not affect the others.
 * 3. The run of a subagent is here for its readers only: the session that started it opens and closes it.
 * 4. A session without readers and without a turn ends after a while (idle-watch.ts). Attaching to it opens it again.
 */
import type { Clock } from "../base/clock.js";
import type { CommandReply } from "../protocol/client.js";
import type { CommandPayloads } from "../protocol/commands.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { EventPayloads, SessionEndReason } from "../protocol/events.js";
import type { ClientId, SessionId } from "../protocol/ids.js";
import type { AttachedClient } from "./attached-client.js";
import { Attachments, type StoredHistory } from "./attachments.js";
import { type IdlePolicy, IdleWatch } from "./idle-watch.js";
import type { Run } from "./run.js";
import type { ClientScope } from "./scope.js";

export type OpenRun = (request: RunRequest) => Promise<Run | { readonly failure: Failure }>;

export interface RunRequest {
  readonly originator: ClientId;
  readonly personPresent: () => boolean;
  /** Tells the client something about the session, before it is open. */
  readonly report?: (message: string) => void;
  /** The session to resume; without it, a new one. */
  readonly resume?: CommandPayloads["CreateSession"] & { readonly resume: SessionId };
  /** The run whose settings the new one keeps. */
  readonly after?: Run;
  /** Its permissions are those that `after` had before this event. */
  readonly until?: number;
  /** A summary that the conversation begins with. */
  readonly carry?: string;
  /** The place where the session works, if not in the default place. */
  readonly place?: PlaceRequest;
  /** The folders that the client may open; absent: all. */
  readonly folders?: ClientScope["folders"];
  /** MCP servers besides the configured ones. */
  readonly mcpServers?: CommandPayloads["CreateSession"]["mcp_servers"];
}

export type PlaceRequest = Pick<CommandPayloads["CreateSession"], "cwd" | "profile" | "model" | "start">;

export interface HostedSession {
  readonly run: Run;
  readonly attached: Attachments;
  readonly openedAt: string;
  /** A client has used it: it is not idle. */
  readonly used: () => void;
  /** It belongs to a subagent: clients can follow it, and another session rules it. */
  readonly subagent?: SubagentSession;
}

export interface SubagentSession {
  readonly parent: SessionId;
  readonly title: string;
}

export interface HostedSessionsOptions {
  readonly openRun: OpenRun;
  /** Someone may still connect who can answer a question. */
  readonly personMayCome: () => boolean;
  readonly clock: Clock;
  readonly idle?: IdlePolicy | undefined;
  readonly history?: StoredHistory | undefined;
  readonly onFault: (session: SessionId, error: unknown) => void;
  readonly onQuestion: (run: Run, attached: Attachments, question: EventPayloads["PermissionRequested"]) => void;
}

/** Stopping the commands of a session and saving its log take a few seconds at most. */
const LONGEST_END_MS = 30_000;

type Create = CommandPayloads["CreateSession"];

export class HostedSessions {
  readonly #options: HostedSessionsOptions;
  readonly #open = new Map<SessionId, HostedSession>();
  /** Sessions that are being opened, reopened or closed. */
  readonly #changing = new Map<SessionId, Promise<unknown>>();

  constructor(options: HostedSessionsOptions) {
    this.#options = options;
  }

  get(session: SessionId): HostedSession | undefined {
    return this.#open.get(session);
  }

  all(): readonly HostedSession[] {
    return [...this.#open.values()];
  }

  /** Lets clients follow the run of a subagent. Returns what to call when the run has been closed. */
  follow(run: Run, subagent: SubagentSession): () => void {
    const attached = new Attachments(run);
    attached.follow();
    const hosted = { run, attached, openedAt: run.bus.now(), used: () => {}, subagent };
    this.#open.set(run.session, hosted);
    return () => {
      if (this.#open.get(run.session) === hosted) this.#open.delete(run.session);
      attached.end("user");
    };
  }

  async create(client: AttachedClient, given: Create): Promise<CommandReply> {
    const payload = client.identity === "agent" ? asAgent(given) : given;
    const { resume, after } = payload;
    if (payload.profile !== undefined && client.identity === "agent") {
      return invalid("Only a person may choose the profile, because it contains the permissions.");
    }
    if (payload.mcp_servers !== undefined && payload.mcp_servers.length > 0 && client.identity === "agent") {
      return invalid("Only a person may add MCP servers, because they run programs.");
    }
    if (payload.start !== undefined && client.isLocalOwner !== true) {
      return invalid("Only the owner of the engine may bring an environment, over the socket of this machine.");
    }
    if (payload.orphans !== undefined && client.identity === "agent") {
      return invalid("Only a person may say how a call ended, because the model takes it as the word of the user.");
    }
    if (payload.until !== undefined && client.identity === "agent") {
      return invalid("Only a person may go back to earlier permissions.");
    }
    if (payload.until !== undefined && after === undefined) return invalid('"until" needs "after".');
    if (after !== undefined) await this.#changing.get(after);
    const before = after === undefined ? undefined : this.#open.get(after);
    if (after !== undefined && before === undefined) return refuse(failure("SessionNotFound", { session: after }));
    if (before?.subagent !== undefined) {
      const { after: _, ...rest } = payload;
      before.attached.detachAll(client.id);
      return this.create(client, rest);
    }
    if (before?.run.busy) return invalid(BUSY);
    if (resume === undefined) {
      const reply = await this.#openNew(client, { payload, before: before?.run });
      // Another profile begins a session of its own, and the person comes back to this one.
      const reason = payload.profile === undefined ? "user" : "paused";
      if (reply.ok && before !== undefined) await this.#leave(before, client, reason);
      return reply;
    }
    return this.#alone(resume, async () => {
      const open = this.#open.get(resume);
      if (open === undefined) {
        const reply = await this.#openNew(client, { payload, before: before?.run });
        if (reply.ok && before !== undefined) await this.#leave(before, client);
        return reply;
      }
      if (open.subagent === undefined && payload.profile !== undefined)
        return open.run.busy ? invalid(BUSY) : this.#reopen(client, payload, open);
      if (payload.start !== undefined && client.identity === "human" && isLeft(open)) {
        // It continues in the surroundings of the terminal that comes back to it.
        await this.#close(resume, "user");
        const reply = await this.#openNew(client, { payload });
        if (reply.ok && before !== undefined) await this.#leave(before, client);
        return reply;
      }
      if (client.attachOnCreate !== false) open.attached.attach(client);
      return { ok: true, session: resume };
    });
  }

  /** A session that others are in continues for them. */
  async #leave(
    { run, attached }: HostedSession,
    client: AttachedClient,
    reason: SessionEndReason = "user",
  ): Promise<void> {
    if (attached.readers.every(({ id }) => id === client.id)) await this.end(run.session, reason);
    else attached.detachAll(client.id);
  }

  /** The session, which is opened if it is only stored. */
  async find(client: AttachedClient, session: SessionId): Promise<HostedSession | { readonly failure: Failure }> {
    const reply = await this.#alone(session, async (): Promise<CommandReply> => {
      if (this.#open.has(session)) return { ok: true };
      return this.#openNew({ ...client, attachOnCreate: false }, { payload: { resume: session } });
    });
    if (!reply.ok) return reply;
    return this.#open.get(session) ?? { failure: failure("SessionNotFound", { session }) };
  }

  /** Ends the run; the log stays. */
  async end(session: SessionId, reason: SessionEndReason): Promise<void> {
    await this.#alone(session, () => this.#close(session, reason));
  }

  /** Ends every run. */
  async endAll(reason: SessionEndReason | undefined): Promise<void> {
    while (this.#open.size > 0 || this.#changing.size > 0) {
      await Promise.all([...this.#changing.values()]);
      await Promise.all([...this.#open.keys()].map((session) => this.end(session, reason ?? "binary-shutdown")));
    }
  }

  async #close(session: SessionId, reason: SessionEndReason): Promise<void> {
    const hosted = this.#open.get(session);
    if (hosted === undefined) return;
    this.#open.delete(session);
    hosted.used();
    // Its session closes it.
    if (hosted.subagent !== undefined) return hosted.attached.end(reason);
    try {
      await this.#inTime(hosted.run.close(reason));
    } catch (error) {
      this.#options.onFault(session, error);
    }
    hosted.attached.end(reason);
  }

  /** A session that does not end must not keep the engine from ending. */
  async #inTime(closing: Promise<void>): Promise<void> {
    let stopTimer = () => {};
    const late = new Promise<never>((_, reject) => {
      const error = new Error(`it did not end within ${LONGEST_END_MS / 1000} s`);
      stopTimer = this.#options.clock.after(LONGEST_END_MS, () => reject(error));
    });
    try {
      await Promise.race([closing, late]);
    } finally {
      stopTimer();
    }
  }

  async #openNew(
    client: AttachedClient,
    { payload, before }: { readonly payload: Create; readonly before?: Run | undefined },
  ): Promise<CommandReply> {
    let attached: Attachments | undefined;
    const messages: string[] = [];
    let live: Run | undefined;
    const opened = await this.#options.openRun({
      originator: client.id,
      report: (message) =>
        void (live === undefined ? messages.push(message) : live.bus.publish("Notice", { level: "warning", message })),
      personPresent: () =>
        attached?.personPresent === true || (this.#options.personMayCome() && attached?.isUnattended !== true),
      ...(payload.resume !== undefined && { resume: { ...payload, resume: payload.resume } }),
      ...(before !== undefined && { after: before }),
      ...(payload.until !== undefined && { until: payload.until }),
      ...(payload.carry !== undefined && { carry: payload.carry }),
      ...(payload.mcp_servers !== undefined && { mcpServers: payload.mcp_servers }),
      ...placeOf(payload),
      folders: client.scope?.folders,
    });
    if ("failure" in opened) return refuse(opened.failure);
    const run = opened;
    live = run;
    const readers = new Attachments(run, this.#options.history);
    readers.onQuestion = (question) => this.#options.onQuestion(run, readers, question);
    attached = readers;
    attached.follow();
    this.#open.set(run.session, { run, attached, openedAt: run.bus.now(), ...this.#watch(run, attached) });
    if (client.attachOnCreate !== false) {
      attached.attach(client);
      for (const event of run.opening) client.deliver(event);
    }
    return { ok: true, session: run.session, ...(messages.length > 0 && { value: { messages } }) };
  }

  #watch(run: Run, attached: Attachments): Pick<HostedSession, "used"> {
    const { idle } = this.#options;
    if (idle === undefined) return { used: () => {} };
    const watch = new IdleWatch(idle, {
      session: run.session,
      hasReaders: () => attached.readers.length > 0,
      isBusy: () => run.busy,
      isOpen: () => this.#open.get(run.session)?.run === run,
      end: () => this.end(run.session, "idle"),
    });
    attached.onChange = () => watch.used();
    // The first client attaches in a moment.
    queueMicrotask(() => watch.used());
    return { used: () => watch.used() };
  }

  /** Opens a live session with another profile, for all its readers. If that fails, it continues with its own. */
  async #reopen(client: AttachedClient, payload: Create, open: HostedSession): Promise<CommandReply> {
    const { run, attached } = open;
    const { readers } = attached;
    this.#open.delete(run.session);
    await run.close("user");
    attached.end("user");
    const reply = await this.#openNew(client, { payload, before: run });
    if (!reply.ok) await this.#openNew(client, { payload: { resume: run.session }, before: run });
    const again = this.#open.get(run.session);
    for (const reader of readers) again?.attached.attach(reader);
    return reply;
  }

  /** One after the other for the same session. */
  async #alone<T>(session: SessionId, action: () => Promise<T>): Promise<T> {
    const before = this.#changing.get(session) ?? Promise.resolve();
    const mine = before.then(action);
    const settled = mine.then(
      () => {},
      () => {},
    );
    this.#changing.set(session, settled);
    try {
      return await mine;
    } finally {
      if (this.#changing.get(session) === settled) this.#changing.delete(session);
    }
  }
}

/** No client is in a session that is stored, and it does nothing. */
function isLeft({ run, attached, subagent }: HostedSession): boolean {
  return subagent === undefined && !run.busy && attached.readers.length === 0 && run.bus.nextId > 1;
}

/** Marks what an agent brings: nothing that it starts answers for a person. */
function asAgent(payload: Create): Create {
  const { start } = payload;
  if (start === undefined) return payload;
  return { ...payload, start: { ...start, environment: { ...start.environment, OXBOW_AGENT: "1" } } };
}

const BUSY = "A turn is running. Wait until it ends, or cancel it.";

function placeOf({ cwd, profile, model, start }: Create): Pick<RunRequest, "place"> {
  if (cwd === undefined && profile === undefined && model === undefined && start === undefined) return {};
  const place = {
    ...(cwd !== undefined && { cwd }),
    ...(profile !== undefined && { profile }),
    ...(model !== undefined && { model }),
    ...(start !== undefined && { start }),
  };
  return { place };
}

export function refuse(reason: Failure): { readonly ok: false; readonly failure: Failure } {
  return { ok: false, failure: reason };
}

export function invalid(detail: string): { readonly ok: false; readonly failure: Failure } {
  return refuse(failure("InvalidInput", { detail }));
}
