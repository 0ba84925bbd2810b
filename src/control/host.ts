/**
 * Hosts sessions, executes commands and answers queries. It knows clients by id, not how they are connected.
 *
 * 1. It checks input first (door.ts): only what fits its schema reaches a run, and without the fields that it does not know.
 * 2. It checks what the client may do (scope.ts) for every transport.
 */
import { type Clock, systemClock } from "../base/clock.js";
import { formatDuration } from "../base/duration.js";
import { approvesPlan } from "../base/plan-approval.js";
import { safeLine } from "../base/terminal-text.js";
import type { CommandReply, QueryReply } from "../protocol/client.js";
import type { CommandKind, CommandPayloads } from "../protocol/commands.js";
import { plainText } from "../protocol/content.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { EventPayloads, SessionEndReason } from "../protocol/events.js";
import { FEATURES } from "../protocol/handshake.js";
import type { ClientId, SessionId } from "../protocol/ids.js";
import type { ContentDecision, Queries, QueryKind } from "../protocol/queries.js";
import { answerAbout } from "./answers.js";
import type { AttachedClient } from "./attached-client.js";
import type { Attachments } from "./attachments.js";
import type { PeopleMessage } from "./auth/confirmation.js";
import { type ClientOptions, ConnectedClient, type HostClient } from "./connected-client.js";
import { COMMAND_SCHEMAS, knownPart, QUERY_SCHEMAS, refusalOf } from "./door.js";
import type { AnswerVerb, HostPorts } from "./host-ports.js";
import { HostedSessions, invalid, refuse, type SubagentSession } from "./hosted-sessions.js";
import type { Run } from "./run.js";
import { covers, isLimited, maySend, notAmong, outOfScope, outOfSessions, QUERY_REACH } from "./scope.js";

export type { AttachedClient } from "./attached-client.js";
export type { CustomRequest, HostPorts } from "./host-ports.js";
export type { PlaceRequest, RunRequest } from "./hosted-sessions.js";

type Handler<K extends CommandKind> = (
  run: Run,
  payload: CommandPayloads[K],
  client: AttachedClient,
) => Promise<CommandReply> | CommandReply;

const DONE: CommandReply = { ok: true };

/** They open a session that is only stored. */
const OPENING: ReadonlySet<CommandKind> = new Set(["AttachSession", "SendInput"]);

/** After them a client may follow a session. */
const ATTACHING: ReadonlySet<CommandKind> = new Set([...OPENING, "CreateSession"]);

/** Sets how long after the last arrival people get an announcement. */
const SETTLED_MS = 500;
/** Of what a call wants to do, in a message. */
const MOST_SUMMARY = 200;

/** Lists what a client can do in the session of a subagent. */
const FOLLOWING: ReadonlySet<CommandKind> = new Set([
  "AttachSession",
  "DetachSession",
  "AnswerPermission",
  "CancelTurn",
]);

/** Notices for people, as they are when someone comes, and what to do when the first one has got them. */
export interface Announcement {
  readonly notices: () => Promise<readonly PersonNotice[]>;
  readonly onShown: () => void;
}

type PersonNotice = Omit<EventPayloads["Notice"], "level" | "turn">;

function versionOf({ id, sha256 }: Pick<ContentDecision, "id" | "sha256">): string {
  return `${sha256} ${id}`;
}

/** It is in no log. */
function deliverNotice(reader: AttachedClient, { session, bus }: Run, notice: PersonNotice): void {
  const payload = { level: "warning", ...notice } as const;
  reader.deliver({ id: bus.nextId - 1, kind: "Notice", session, originator: reader.id, ts: bus.now(), payload });
}

export class Host {
  readonly #ports: HostPorts;
  readonly #clock: Clock;
  readonly #sessions: HostedSessions;
  readonly #clients = new Map<ClientId, ConnectedClient>();
  readonly #features = new Set(FEATURES);
  readonly #verbs = new Map<string, AnswerVerb>();
  #announced: (Announcement & { readonly seen: Set<ClientId> }) | undefined;
  /** The versions of waiting content that a client has got, by session. */
  readonly #shownContent = new Map<ClientId, Map<SessionId, ReadonlySet<string>>>();
  #stopTelling = () => {};
  #isReachable = false;
  #isClosing = false;

  constructor(ports: HostPorts) {
    this.#ports = ports;
    this.#clock = ports.clock ?? systemClock;
    this.#sessions = new HostedSessions({
      openRun: ports.openRun,
      personMayCome: () => this.#isReachable,
      clock: this.#clock,
      idle: ports.idle,
      history: ports.history,
      onFault: (session, error) => ports.onFault?.(session, error),
      onQuestion: (run, attached, question) => this.#tellQuestion(run, attached, question),
    });
  }

  /** A client of any transport. One that is not in this process shows that others can come, who may answer questions. */
  connect(options: ClientOptions): HostClient {
    if (options.transport !== "inproc") this.#isReachable = true;
    const client = new ConnectedClient(this.#clientHost, options, {
      since: new Date(this.#clock.wall()).toISOString(),
      onClose: () => {
        if (this.#clients.get(options.id) !== client) return;
        this.#clients.delete(options.id);
        this.#shownContent.delete(options.id);
      },
    });
    this.#clients.set(options.id, client);
    return client;
  }

  /** Answers the custom commands of a namespace. */
  addVerbs(namespace: string, answer: AnswerVerb): void {
    this.#verbs.set(namespace, answer);
  }

  /** Lets clients follow the run of a subagent. Returns what to call when the run has been closed. */
  follow(run: Run, subagent: SubagentSession): () => void {
    return this.#sessions.follow(run, subagent);
  }

  /** Announces a feature of a transport in the handshake. */
  addFeature(name: string): void {
    this.#features.add(name);
  }

  async carryOut<K extends CommandKind>(
    client: AttachedClient,
    command: { readonly kind: K; readonly payload: CommandPayloads[K]; readonly session?: SessionId },
  ): Promise<CommandReply> {
    const reply = await this.#carryOut(client, command);
    if (reply.ok && ATTACHING.has(command.kind)) this.#tellSoon();
    return reply;
  }

  async #carryOut<K extends CommandKind>(
    client: AttachedClient,
    command: { readonly kind: K; readonly payload: CommandPayloads[K]; readonly session?: SessionId },
  ): Promise<CommandReply> {
    const { kind, session } = command;
    const refusal =
      refusalOf(command, COMMAND_SCHEMAS, this.#ports) ??
      outOfScope(client.scope, command) ??
      (await this.#outOfFolders(client.scope, namedSessions(command)));
    if (refusal !== undefined) return refuse(refusal);
    if (this.#isClosing) return refuse(failure("ShuttingDown"));
    const payload = knownPart(COMMAND_SCHEMAS[kind], command.payload) as CommandPayloads[K];
    if (kind === "CreateSession") return this.#create(client, payload as CommandPayloads["CreateSession"]);
    const run = session === undefined ? undefined : await this.#runFor(client, kind, session);
    if (run === undefined) return refuse(failure("SessionNotFound", { session: session ?? "(none given)" }));
    if ("failure" in run) return refuse(run.failure);
    const { subagent } = this.#sessions.get(run.session) ?? {};
    if (subagent !== undefined && !FOLLOWING.has(kind)) {
      return invalid(
        `This session belongs to a subagent: you can follow it, answer its questions and cancel it. Your input belongs to ${subagent.parent}.`,
      );
    }
    const handler: Handler<K> | undefined = this.#handlers[kind];
    if (handler === undefined) return invalid(`${kind} is not supported by this engine.`);
    return handler(run, payload, client);
  }

  async query<K extends QueryKind>(
    query: { readonly kind: K; readonly request: Queries[K]["request"]; readonly session?: SessionId },
    client?: AttachedClient,
  ): Promise<QueryReply<K>> {
    const { kind, session } = query;
    const scope = client?.scope;
    const refusal =
      refusalOf({ ...query, payload: query.request }, QUERY_SCHEMAS) ??
      outOfSessions(scope, session) ??
      (await this.#outOfFolders(scope, session === undefined ? [] : [session]));
    if (refusal !== undefined) return refuse(refusal);
    const request = knownPart(QUERY_SCHEMAS[kind], query.request) as Queries[K]["request"];
    const run = session === undefined ? undefined : this.#sessions.get(session)?.run;
    if (QUERY_REACH[kind] === "place" && run === undefined && scope?.sessions !== undefined) {
      return refuse(failure("Forbidden", { detail: `for ${kind}, name an open session of the token.` }));
    }
    const reply = await answerAbout(kind, request, {
      ...{ ports: this.#ports.queries, session, run, isLimited: isLimited(scope) },
      sees: (id, cwd) => covers(scope, { session: id, cwd: cwd ?? this.#folderOf(id), ...this.#engineFolder }),
      clients: () => [...this.#clients.values()].map(({ info }) => info),
      live: this.#sessions.all(),
    });
    if (kind === "ListWaitingContent" && client !== undefined && run !== undefined && reply.ok && "diffs" in request)
      this.#noteShown(client, run.session, reply.answer as Queries["ListWaitingContent"]["answer"]);
    return reply;
  }

  /** Content counts as approved only if the client had it to show. */
  #noteShown({ id }: AttachedClient, session: SessionId, { items }: Queries["ListWaitingContent"]["answer"]): void {
    if (!this.#clients.has(id)) return;
    const shown = this.#shownContent.get(id) ?? new Map<SessionId, ReadonlySet<string>>();
    shown.set(session, new Set(items.map(versionOf)));
    this.#shownContent.set(id, shown);
  }

  get #engineFolder() {
    return { engineFolder: this.#ports.queries?.cwd?.(undefined) };
  }

  /** The folder of an open session. */
  #folderOf(session: SessionId): string | undefined {
    const run = this.#sessions.get(session)?.run;
    return run && this.#ports.queries?.cwd?.(run);
  }

  /** Tells why a session is not in the folders of the client; undefined if each is. */
  async #outOfFolders(scope: AttachedClient["scope"], sessions: readonly SessionId[]): Promise<Failure | undefined> {
    if (scope?.folders === undefined) return undefined;
    for (const session of sessions) {
      const stored = async () => (await this.#ports.queries?.sessions?.({ id: session }))?.[0]?.cwd;
      const cwd = this.#folderOf(session) ?? (await stored());
      if (!covers(scope, { session, cwd, ...this.#engineFolder })) return notAmong(session);
    }
    return undefined;
  }

  /**
   * Shows a message to every person who follows a session and may do everything, except one client; returns how many. It is in no log.
   * Holders of limited tokens do not get it: it may hold the code of a token, or the id of a session that is not theirs.
   */
  notifyPeople(message: string, { except, token }: PeopleMessage = {}): number {
    const people = this.#people().filter(({ reader }) => reader.id !== except);
    for (const { reader, run } of people) deliverNotice(reader, run, { message, ...(token && { token }) });
    return new Set(people.map(({ reader }) => reader.id)).size;
  }

  /** Shows notices to every person who may do everything, each once: now, or as soon as they follow a session. They replace earlier ones. */
  announce(announcement: Announcement): void {
    this.#announced = { ...announcement, seen: new Set() };
    this.#tellSoon();
  }

  /** A client that shows a session again leaves it and comes back within a moment: what it gets in between would be lost. */
  #tellSoon(): void {
    if (this.#announced === undefined) return;
    this.#stopTelling();
    this.#stopTelling = this.#clock.after(SETTLED_MS, () => void this.#tellPeople(), "unheld");
  }

  async #tellPeople(): Promise<void> {
    if (this.#announced === undefined) return;
    const { notices, seen, onShown } = this.#announced;
    const shown = await notices();
    const hadReached = seen.size > 0;
    for (const { reader, run } of this.#people()) {
      if (seen.has(reader.id)) continue;
      seen.add(reader.id);
      for (const notice of shown) deliverNotice(reader, run, notice);
    }
    if (!hadReached && seen.size > 0) onShown();
  }

  /** The readers of all sessions behind whom a person is who may do everything. */
  #people(): readonly { readonly reader: AttachedClient; readonly run: Run }[] {
    return this.#sessions
      .all()
      .flatMap(({ run, attached }) => attached.liveReaders.map((reader) => ({ reader, run })))
      .filter(({ reader }) => reader.identity === "human" && reader.canAnswer && !isLimited(reader.scope));
  }

  /** No turn runs, and no client follows a session. */
  isIdle(): boolean {
    return this.#sessions.all().every(({ run, attached }) => !run.busy && attached.readers.length === 0);
  }

  /** Takes no more commands, ends every session and tells their readers. */
  async close(reason?: SessionEndReason): Promise<void> {
    this.#isClosing = true;
    this.#stopTelling();
    await this.#sessions.endAll(reason);
    for (const client of [...this.#clients.values()]) client.close();
  }

  /** People learn of a session that an agent starts: its questions are for them. */
  async #create(client: AttachedClient, payload: CommandPayloads["CreateSession"]): Promise<CommandReply> {
    const reply = await this.#sessions.create(client, payload);
    if (!reply.ok || reply.session === undefined || client.identity !== "agent" || !client.isRemote) return reply;
    const name = safeLine(this.#clients.get(client.id)?.info.name ?? "an agent");
    this.notifyPeople(
      `${name} (agent) opened the session ${reply.session}. 'oxbow resume ${reply.session}' shows it.`,
      {
        except: client.id,
      },
    );
    return reply;
  }

  /** A question in the turn of an agent reaches people who follow other sessions if no one who could answer it follows this one. */
  #tellQuestion(
    { session, originator }: Run,
    attached: Attachments,
    { summary, timeout_ms: ms }: EventPayloads["PermissionRequested"],
  ): void {
    if (originator.identity !== "agent" || attached.personPresent) return;
    const limit = ms === undefined ? "" : ` Without an answer it is denied in ${formatDuration(ms)}.`;
    const what = safeLine(summary).slice(0, MOST_SUMMARY);
    this.notifyPeople(
      `An agent waits for your answer in the session ${session}: ${what}. 'oxbow resume ${session}' shows the question.${limit}`,
    );
  }

  async #runFor(client: AttachedClient, kind: CommandKind, session: SessionId) {
    const open = this.#sessions.get(session)?.run;
    this.#sessions.get(session)?.used();
    if (open !== undefined || !OPENING.has(kind)) return open;
    const found = await this.#sessions.find(client, session);
    if ("failure" in found) return found;
    // The session ended while the client was in it: it sees what its command does.
    if (kind !== "AttachSession" && client.attachOnCreate !== false) found.attached.attach(client);
    return found.run;
  }

  /** A person who answers a plan with "go ahead" approves it. Returns what the model gets with these words. */
  async #approval(
    run: Run,
    content: CommandPayloads["SendInput"]["content"],
    { id, identity, canAnswer, scope }: AttachedClient,
  ): Promise<string | undefined> {
    if (!run.hasPlan || identity !== "human" || !canAnswer || !maySend(scope, "ExitPlanMode")) return undefined;
    if (content.some(({ type }) => type !== "text") || !approvesPlan(plainText(content))) return undefined;
    const left = await run.exitPlan({ id, identity }, { approve: true });
    return "refused" in left ? undefined : left.work?.notice;
  }

  readonly #clientHost = {
    features: this.#features,
    isClosing: () => this.#isClosing,
    carryOut: this.carryOut.bind(this),
    query: this.query.bind(this),
    sessionsOf: (client: ClientId) =>
      this.#sessions.all().flatMap(({ run, attached }) => (attached.has(client) ? [run.session] : [])),
    leave: (client: ClientId) => {
      for (const { attached } of this.#sessions.all()) attached.detachAll(client);
    },
    detach: (session: SessionId, stream: symbol) => this.#sessions.get(session)?.attached.detach(stream),
  };

  readonly #handlers: { readonly [K in CommandKind]?: Handler<K> } = {
    SendInput: async (run, payload, client) => {
      const { content, queue, steer } = payload;
      const delivery = steer ? "steer" : queue ? "queue" : undefined;
      const { hint, started } = await run.arrivals.next(async () => {
        await this.#ports.inputs?.prepare(content, run);
        const hint = this.#ports.inputs?.hint(content, run);
        const notice = await this.#approval(run, content, client);
        const approved = notice !== undefined && { notice };
        return {
          hint,
          started: run.start({ content, originator: client, ...(delivery && { delivery }), ...approved }),
        };
      });
      if ("refused" in started) return refuse(started.refused);
      const state = "waiting" in started ? started.waiting : "started";
      // A client in this process is not told: it ends together with a turn that is not saved yet.
      const mustBeKept = state !== "started" || client.isRemote === true || client.passesOn === true;
      const problem = mustBeKept ? await run.kept(started) : undefined;
      if (problem !== undefined) return refuse(problem);
      return { ok: true, value: { state, ...(hint !== undefined && { hint }) } };
    },
    TakeBackInput: async (run, _payload, client) => {
      await run.arrivals.next(async () => run.takeBack(client.id));
      return DONE;
    },
    CancelTurn: async (run, _payload, client) => {
      await run.arrivals.next(async () => run.cancel(client.id));
      return DONE;
    },
    AnswerPermission: (run, { call, decision, message }, client) => {
      const refusal = client.canAnswer
        ? this.#ports.refuseAnswer(client, run.originator)
        : "Only a human may answer this question.";
      if (refusal !== undefined) return invalid(refusal);
      if (decision !== "deny" && isLimited(client.scope) && run.permissionPrompts.isBeyond(call)) {
        const detail =
          "this call would leave the sandbox or the workspace. You can deny it; a client without limits can allow it.";
        return refuse(failure("Forbidden", { detail }));
      }
      const answer = { decision, decidedBy: client.id, ...(message !== undefined && { message }) };
      if (run.permissionPrompts.answer(call, answer)) return DONE;
      const first = run.permissionPrompts.answerOf(call);
      if (first === undefined) return invalid(`No question is open for ${call}.`);
      const decided = { decided_by: first.decidedBy };
      return refuse(failure("AlreadyAnswered", { client: first.decidedBy, decision: first.decision }, decided));
    },
    AttachSession: async (run, { after, after_ts: ts }, client) => {
      const attached = this.#sessions.get(run.session)?.attached;
      if (after === undefined) attached?.attach(client);
      const problem = after === undefined ? undefined : await attached?.attachAfter(client, { id: after, ts });
      return problem === undefined ? DONE : refuse(problem);
    },
    DetachSession: (run, _payload, client) => {
      this.#sessions.get(run.session)?.attached.detach(client.id);
      return DONE;
    },
    EndSession: async ({ session }) => {
      await this.#sessions.end(session, "user");
      return DONE;
    },
    SetModel: async (run, payload) => {
      const set = await this.#ports.setModel(payload.model, run);
      if ("failure" in set) return refuse(set.failure);
      return { ok: true, value: `${set.model.provider}:${set.model.model}` };
    },
    SetMode: async (run, { mode }, client) => {
      const identity = client.canAnswer ? client.identity : "agent";
      const refusal = await run.setMode(mode, { id: client.id, identity });
      return refusal === undefined ? DONE : invalid(refusal);
    },
    EnterPlanMode: async (run, _payload, client) => {
      const refusal = await run.enterPlan(client);
      return refusal === undefined ? DONE : invalid(refusal);
    },
    ExitPlanMode: (run, { approve, mode }, client) => {
      if (mode !== undefined && !maySend(client.scope, "SetMode"))
        return refuse(failure("Forbidden", { detail: "SetMode is not among its commands." }));
      const identity = client.canAnswer ? client.identity : "agent";
      return run.arrivals.next(async () => {
        const left = await run.exitPlan({ id: client.id, identity }, { approve, mode });
        if ("refused" in left) return invalid(left.refused);
        if (left.work === undefined || !maySend(client.scope, "SendInput")) return DONE;
        const started = run.start({ ...left.work, originator: client });
        const problem = "refused" in started ? started.refused : await run.kept(started);
        return problem === undefined ? { ok: true, value: { state: "started" } } : refuse(problem);
      });
    },
    ApproveContent: async (run, approval, client) => {
      const { decisions } = approval;
      if (!client.canAnswer || client.identity !== "human") {
        return invalid("Only a person can approve content.");
      }
      const shown = this.#shownContent.get(client.id)?.get(run.session);
      const unseen = decisions.find((each) => each.decision === "approved" && !shown?.has(versionOf(each)));
      if (unseen !== undefined) {
        return invalid(
          `This client has not got the content of ${unseen.id}. Get it with ListWaitingContent and "diffs", show it to the person, then approve this version.`,
        );
      }
      const value = await this.#ports.approveContent?.(run, approval);
      return value === undefined ? invalid("There is nothing to approve here.") : { ok: true, value };
    },
    CustomCommand: async (run, { namespace, verb, payload }, { id, identity, canAnswer, scope }) => {
      const own = this.#verbs.get(namespace);
      if (own !== undefined) {
        if (isLimited(scope))
          return refuse(failure("Forbidden", { detail: `${namespace} needs a token without limits.` }));
        return own({ verb, payload, client: { id, identity: canAnswer ? identity : "agent" } });
      }
      const limits = isLimited(scope) ? { may: (kind: CommandKind) => maySend(scope, kind) } : undefined;
      return this.#ports.custom({ namespace, verb, payload, run, client: { id, identity }, limits });
    },
  };
}

/** The sessions that a command reaches. */
function namedSessions({ kind, payload, session }: { kind: CommandKind; payload: object; session?: SessionId }) {
  const { resume, after } = kind === "CreateSession" ? (payload as CommandPayloads["CreateSession"]) : {};
  return [session, resume, after].filter((each) => each !== undefined);
}
