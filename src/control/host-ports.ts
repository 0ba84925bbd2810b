/** Describes what the host needs from the rest of the program. */
import type { Clock } from "../base/clock.js";
import type { Model } from "../engine/ports.js";
import type { CommandReply } from "../protocol/client.js";
import type { CommandKind, CommandPayloads } from "../protocol/commands.js";
import type { InputContent } from "../protocol/content.js";
import type { Failure } from "../protocol/errors.js";
import type { SessionId } from "../protocol/ids.js";
import type { JsonValue } from "../protocol/json.js";
import type { QueryPorts } from "./answers.js";
import type { Originator } from "./attached-client.js";
import type { StoredHistory } from "./attachments.js";
import type { OpenRun } from "./hosted-sessions.js";
import type { IdlePolicy } from "./idle-watch.js";
import type { Run } from "./run.js";

/** Describes what the host cannot know itself. */
export interface HostPorts {
  readonly openRun: OpenRun;
  /** Gives the run the model of this name. */
  setModel(spec: string, run: Run): Promise<{ readonly model: Model } | { readonly failure: Failure }>;
  /** Tells why this client may not answer a question of this turn; undefined when it may. */
  refuseAnswer(client: Originator, turn: Originator): string | undefined;
  /** Prepares to read an input, and returns what its sender should know. */
  readonly inputs?: {
    prepare(content: readonly InputContent[], run: Run): Promise<void>;
    hint(content: readonly InputContent[], run: Run): string | undefined;
  };
  /** Decides on content of the run's folder for a person; undefined where there is none. */
  approveContent?(run: Run, decisions: CommandPayloads["ApproveContent"]): Promise<JsonValue | undefined>;
  /** Verbs of slash commands and plugins, by namespace. */
  custom(request: CustomRequest): Promise<CommandReply>;
  /** Holds what the engine knows beyond its runs; a query without its port is refused. */
  readonly queries?: QueryPorts;
  readonly history?: StoredHistory;
  readonly clock?: Clock;
  /** The most characters of an input; default: what holds up no other client. */
  readonly mostText?: number | undefined;
  /** The rule by which a session ends that no client uses; never without it. */
  readonly idle?: IdlePolicy;
  /** A session could not be closed. */
  onFault?(session: SessionId, error: unknown): void;
}

/** Of custom commands that need no session. */
export type AnswerVerb = (request: Pick<CustomRequest, "verb" | "payload" | "client">) => CommandReply;

export interface CustomRequest {
  readonly namespace: string;
  readonly verb: string;
  readonly payload: JsonValue;
  readonly run: Run;
  readonly client: Originator;
  /** The client may do less than the user who runs the engine; absent if it may do everything. */
  readonly limits?: { may(kind: CommandKind): boolean } | undefined;
}
