/**
 * Hosts runs, executes commands and answers queries. It knows clients by id, not how they are connected.
 *
 * It checks input first (door.ts): only what fits its schema reaches a run.
 */
import type { Model } from "../engine/ports.js";
import type { CommandReply, QueryReply } from "../protocol/client.js";
import type { CommandKind, CommandPayloads } from "../protocol/commands.js";
import type { InputContent } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { SessionEndReason } from "../protocol/events.js";
import type { ClientId, SessionId } from "../protocol/ids.js";
import type { JsonValue } from "../protocol/json.js";
import type { ContentDecision, Queries, QueryKind } from "../protocol/queries.js";
import { answerAbout, type QueryPorts } from "./answers.js";
import { Attachments, type History } from "./attachments.js";
import { COMMAND_SCHEMAS, QUERY_SCHEMAS, refusalOf } from "./door.js";
import type { Originator } from "./inbox.js";
import type { Run } from "./run.js";

/** What the host cannot know itself. */
export interface HostPorts {
  openRun(request: RunRequest): Promise<Run | { readonly failure: Failure }>;
  resolveModel(spec: string, run: Run): Promise<{ readonly model: Model } | { readonly failure: Failure }>;
  /** Why this client may not answer a question of this turn; undefined when it may. */
  refuseAnswer(client: Originator, turn: Originator): string | undefined;
  /** Prepares to read an input, and returns what its sender should know. */
  readonly inputs?: {
    prepare(content: readonly InputContent[], run: Run): Promise<void>;
    hint(content: readonly InputContent[], run: Run): string | undefined;
  };
  /** Decides on content of the run's folder for a person; undefined where there is none. */
  approveContent?(run: Run, decisions: readonly ContentDecision[]): Promise<JsonValue | undefined>;
  /** Verbs of slash commands and plugins, by namespace. */
  custom(request: CustomRequest): Promise<CommandReply>;
  /** What the engine knows beyond its runs; a query without its port is refused. */
  readonly queries?: QueryPorts;
  readonly history?: History;
}

export interface RunRequest {
  readonly originator: ClientId;
  readonly personPresent: () => boolean;
  /** The session to resume; without it, a new one. */
  readonly resume?: CommandPayloads["CreateSession"] & { readonly resume: SessionId };
  /** The run whose settings the new one keeps. */
  readonly after?: Run;
  /** A summary that the conversation begins with. */
  readonly carry?: string;
  /** Where the session works, if not in the default place. */
  readonly place?: PlaceRequest;
}

export type PlaceRequest = Pick<CommandPayloads["CreateSession"], "cwd" | "profile" | "model">;

export interface CustomRequest {
  readonly namespace: string;
  readonly verb: string;
  readonly payload: JsonValue;
  readonly run: Run;
  readonly client: Originator;
}

export interface AttachedClient extends Originator {
  /** Whether a person at the client can answer a question. */
  readonly canAnswer: boolean;
  readonly deliver: (event: Envelope) => void;
}

type Handler<K extends CommandKind> = (
  run: Run,
  payload: CommandPayloads[K],
  client: AttachedClient,
) => Promise<CommandReply> | CommandReply;

const DONE: CommandReply = { ok: true };

export class Host {
  readonly #ports: HostPorts;
  readonly #runs = new Map<SessionId, { readonly run: Run; readonly attached: Attachments }>();

  constructor(ports: HostPorts) {
    this.#ports = ports;
  }

  async carryOut<K extends CommandKind>(
    client: AttachedClient,
    command: { readonly kind: K; readonly payload: CommandPayloads[K]; readonly session?: SessionId },
  ): Promise<CommandReply> {
    const refusal = refusalOf(command, COMMAND_SCHEMAS);
    if (refusal !== undefined) return refuse(refusal);
    if (command.kind === "CreateSession") {
      return this.#create(client, command.payload as CommandPayloads["CreateSession"]);
    }
    const hosted = command.session === undefined ? undefined : this.#runs.get(command.session);
    if (hosted === undefined) return refuse(failure("SessionNotFound", { session: command.session ?? "(none given)" }));
    const handler = this.#handlers[command.kind] as Handler<K> | undefined;
    if (handler === undefined) {
      return refuse(failure("InvalidInput", { detail: `${command.kind} is not supported by this engine.` }));
    }
    return handler(hosted.run, command.payload, client);
  }

  async query<K extends QueryKind>(query: {
    readonly kind: K;
    readonly request: Queries[K]["request"];
    readonly session?: SessionId;
  }): Promise<QueryReply<K>> {
    const { kind, request, session } = query;
    const refusal = refusalOf({ kind, payload: request, session }, QUERY_SCHEMAS);
    if (refusal !== undefined) return { ok: false, failure: refusal };
    const run = session === undefined ? undefined : this.#runs.get(session)?.run;
    const place = { ports: this.#ports.queries, run, session, isLive: (id: SessionId) => this.#runs.has(id) };
    return answerAbout(kind, request, place);
  }

  async close(reason?: SessionEndReason): Promise<void> {
    await Promise.all([...this.#runs.values()].map(({ run }) => run.close(reason)));
    this.#runs.clear();
  }

  readonly #handlers: { readonly [K in CommandKind]?: Handler<K> } = {
    SendInput: async (run, payload, client) => {
      const { content, queue, steer } = payload;
      await this.#ports.inputs?.prepare(content, run);
      const hint = this.#ports.inputs?.hint(content, run);
      const delivery = steer ? "steer" : queue ? "queue" : undefined;
      const started = run.start({ content, originator: client, ...(delivery && { delivery }) });
      if ("refused" in started) return refuse(started.refused);
      const state = "waiting" in started ? started.waiting : "started";
      // From now on the sender may rely on it.
      if (state !== "started") await run.saved();
      return { ok: true, value: { state, ...(hint !== undefined && { hint }) } };
    },
    TakeBackInput: (run, _payload, client) => {
      run.takeBack(client.id);
      return DONE;
    },
    CancelTurn: (run, _payload, client) => {
      run.cancel(client.id);
      return DONE;
    },
    AnswerPermission: (run, { call, decision, message }, client) => {
      const refusal = client.canAnswer
        ? this.#ports.refuseAnswer(client, run.originator)
        : "Only a human may answer this question.";
      if (refusal !== undefined) return refuse(failure("InvalidInput", { detail: refusal }));
      const answer = { decision, decidedBy: client.id, ...(message !== undefined && { message }) };
      const known = run.permissionPrompts.answer(call, answer);
      return known ? DONE : refuse(failure("InvalidInput", { detail: `No question is open for ${call}.` }));
    },
    AttachSession: async (run, { after }, client) => {
      const attached = this.#runs.get(run.session)?.attached;
      if (after === undefined) attached?.attach(client);
      const problem = after === undefined ? undefined : await attached?.attachAfter(client, after, this.#history);
      return problem === undefined ? DONE : refuse(problem);
    },
    DetachSession: (run, _payload, client) => {
      this.#runs.get(run.session)?.attached.detach(client.id);
      return DONE;
    },
    SetModel: async (run, payload) => {
      const resolved = await this.#ports.resolveModel(payload.model, run);
      if ("failure" in resolved) return refuse(resolved.failure);
      run.model = resolved.model;
      return { ok: true, value: `${resolved.model.provider}:${resolved.model.model}` };
    },
    SetMode: async (run, { mode }, client) => {
      const identity = client.canAnswer ? client.identity : "agent";
      const refusal = await run.setMode(mode, { id: client.id, identity });
      return refusal === undefined ? DONE : refuse(failure("InvalidInput", { detail: refusal }));
    },
    EnterPlanMode: async (run) => {
      if (run.plan === undefined) return refuse(failure("InvalidInput", { detail: "This run has no plan mode." }));
      await run.plan.enter();
      return DONE;
    },
    ExitPlanMode: async (run, { approve }, client) => {
      const identity = client.canAnswer ? client.identity : "agent";
      const refusal = await run.plan?.exit({ approve, client: { id: client.id, identity }, turn: run.originator });
      return refusal === undefined ? DONE : refuse(failure("InvalidInput", { detail: refusal }));
    },
    ApproveContent: async (run, { decisions }, client) => {
      if (!client.canAnswer || client.identity !== "human") {
        return refuse(failure("InvalidInput", { detail: "Only a person can approve content." }));
      }
      const value = await this.#ports.approveContent?.(run, decisions);
      return value === undefined
        ? refuse(failure("InvalidInput", { detail: "There is nothing to approve here." }))
        : { ok: true, value };
    },
    CustomCommand: (run, { namespace, verb, payload }, { id, identity }) =>
      this.#ports.custom({ namespace, verb, payload, run, client: { id, identity } }),
  };

  /** `closed`: an earlier run of the session that is resumed. */
  async #create(
    client: AttachedClient,
    payload: CommandPayloads["CreateSession"],
    closed?: Run,
  ): Promise<CommandReply> {
    const resumed = payload.resume === undefined ? undefined : this.#runs.get(payload.resume);
    if (resumed !== undefined && payload.profile === undefined) {
      resumed.attached.attach(client);
      return { ok: true, session: resumed.run.session };
    }
    const before = payload.after === undefined ? undefined : this.#runs.get(payload.after)?.run;
    if (payload.after !== undefined && before === undefined) {
      return refuse(failure("SessionNotFound", { session: payload.after }));
    }
    if (before?.busy || resumed?.run.busy)
      return refuse(failure("InvalidInput", { detail: "A turn is running. Wait until it ends, or cancel it." }));
    let attached: Attachments | undefined;
    if (payload.profile !== undefined && client.identity === "agent") {
      return refuse(
        failure("InvalidInput", {
          detail: "Only a person may choose the profile, because it contains the permissions.",
        }),
      );
    }
    if (resumed !== undefined) return this.#reopen(client, payload, resumed.run);
    const after = before ?? closed;
    const opened = await this.#ports.openRun({
      originator: client.id,
      personPresent: () => attached?.personPresent ?? false,
      ...(payload.resume !== undefined && { resume: { ...payload, resume: payload.resume } }),
      ...(after !== undefined && { after }),
      ...(payload.carry !== undefined && { carry: payload.carry }),
      ...placeOf(payload),
    });
    if ("failure" in opened) return refuse(opened.failure);
    const run = opened;
    attached = new Attachments(run);
    attached.follow();
    this.#runs.set(run.session, { run, attached });
    attached.attach(client);
    for (const event of run.opening) client.deliver(event);
    if (before !== undefined) {
      this.#runs.delete(before.session);
      await before.close("user");
    }
    return { ok: true, session: run.session };
  }

  /** Opens a live session with another profile. If that fails, it continues with its own. */
  async #reopen(client: AttachedClient, payload: CommandPayloads["CreateSession"], run: Run): Promise<CommandReply> {
    this.#runs.delete(run.session);
    await run.close("user");
    const reply = await this.#create(client, payload, run);
    if (!reply.ok) await this.#create(client, { resume: run.session }, run);
    return reply;
  }

  readonly #history: History = (run, after) => this.#ports.history?.(run, after);
}

function placeOf({ cwd, profile, model }: CommandPayloads["CreateSession"]): Pick<RunRequest, "place"> {
  if (cwd === undefined && profile === undefined && model === undefined) return {};
  const place = {
    ...(cwd !== undefined && { cwd }),
    ...(profile !== undefined && { profile }),
    ...(model !== undefined && { model }),
  };
  return { place };
}

function refuse(reason: Failure): CommandReply {
  return { ok: false, failure: reason };
}
