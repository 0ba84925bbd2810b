/** Describes what MCP needs from the session and from other features. */
import type { Clock } from "../../base/clock.js";
import type { Tool, ToolCall } from "../../engine/ports.js";
import type { Turn } from "../../engine/turn.js";
import type { AsideAnswer, FeatureContext } from "../../feature/part.js";
import type { McpServerEntry } from "../../protocol/commands.js";
import type { Message } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import type { ChosenServer } from "./choose-servers.js";
import type { Connection, ConnectionOptions, TransportPorts } from "./connection.js";
import type { KnownTools } from "./known-tools.js";
import type { ConfigPlace } from "./read-config.js";
import type { ServerConfig } from "./server-config.js";

export interface McpContext extends FeatureContext {
  /** The servers that the client named for this session. */
  readonly handedIn: readonly McpServerEntry[] | undefined;
  notify(message: string): void;
  /** Tells whether a person wrote the input of this moment, and no agent. */
  byPerson(): boolean;
  /** Decides about a call by the rules of the session. */
  judge(call: ToolCall, tool: Tool): Promise<{ readonly decision: "allow" | "ask" | "deny" }>;
  /** Asks the model of the turn, which pays for it. */
  sample(request: SampleRequest, turn: Turn, signal: AbortSignal): Promise<AsideAnswer>;
  hooks(): QuestionHooks;
  host(notify: (message: string) => void): Promise<ServerHost>;
}

export interface SampleRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  readonly maxOutputTokens: number;
}

/** The hooks around a question of a server. */
export interface QuestionHooks {
  has(event: QuestionEvent): boolean;
  fire(event: QuestionEvent, occasion: QuestionOccasion): Promise<QuestionHookAnswer>;
}

type QuestionEvent = "Elicitation" | "ElicitationResult";

interface QuestionOccasion {
  readonly subject: string;
  readonly input: JsonObject;
  readonly signal: AbortSignal;
}

export interface QuestionHookAnswer {
  readonly refuses?: true;
  readonly elicited?: { readonly action: "accept" | "cancel" | "decline"; readonly content?: JsonObject };
}

/** Starts servers and keeps approvals: the sandbox, the network, the credentials and the trust around them. */
export interface ServerHost {
  /** The place from which entries get their variables. */
  readonly place: ConfigPlace;
  /** Makes a key of everything that makes two servers different. */
  keyOf(chosen: ChosenServer): string;
  options(chosen: ChosenServer): ServerOptions;
  approve(name: string, seen: { readonly version: string | undefined; readonly more?: string }): Promise<SeenApproval>;
}

export type SeenApproval =
  | { readonly files: readonly string[] }
  /** Holds what the person has to see first, and the name of exactly this version. */
  | { readonly text: string; readonly version: string };

/** Describes what a supervised server needs from around it. */
export interface ServerOptions extends TransportPorts {
  readonly config: ServerConfig;
  readonly root: string;
  readonly clock: Clock;
  readonly known: KnownTools;
  /** Tells why it must not start; undefined if it may. */
  readonly refusal: () => Promise<string | undefined>;
  readonly connect: (options: ConnectionOptions) => Promise<Connection>;
}
