/**
 * Describes what the MCP server offers: tools, resources and prompts. The server itself only speaks the protocol, so another offer can stand behind the
 * same code.
 */
import type {
  CallToolResult,
  CompleteRequest,
  GetPromptResult,
  InputRequiredResult,
  JSONObject,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
  ServerContext,
  Tool,
} from "@modelcontextprotocol/server";
import type { Envelope } from "../../../protocol/envelope.js";
import type { JsonObject } from "../../../protocol/json.js";

export interface OfferedCall {
  readonly name: string;
  readonly args: JsonObject;
  readonly signal: AbortSignal;
  /** Absent if the caller wants no progress. */
  readonly onProgress?: ((message: string) => void) | undefined;
  /** The name by which the caller calls itself. */
  readonly agent: string;
  /** The request itself, for what only some tools need. */
  readonly context: ServerContext;
}

/** `contents`: the event, for the resource that holds the events. */
export type Publish = (uri: string, contents?: Envelope) => void;

export interface McpOffer {
  readonly instructions: string;
  /** The handshake of the engine: versions, kinds and features. */
  readonly handshake?: JSONObject;
  readonly tools: readonly Tool[];
  readonly templates: readonly ResourceTemplateType[];
  /** Undefined if there is no such tool. */
  call(call: OfferedCall): Promise<CallToolResult | InputRequiredResult | undefined>;
  /** `all`: those of an allowed caller. */
  resources(which: "all" | "fixed"): Promise<readonly Resource[]>;
  read(uri: string): Promise<ReadResourceResult>;
  prompts(): Promise<readonly Prompt[]>;
  prompt(
    name: string,
    args: Readonly<Record<string, string>>,
    context: ServerContext,
  ): Promise<GetPromptResult | InputRequiredResult>;
  complete(params: CompleteRequest["params"]): Promise<readonly string[]>;
  /** Prepares a resource to be subscribed to; false if there is no such resource. */
  follow(uri: string): Promise<boolean>;
  /** Publishes changes until the returned function is called. `wants`: whether someone subscribed to a resource. */
  watch(publish: Publish, wants: (uri: string) => boolean): () => void;
  /** Shows a new subscriber what it missed. */
  replay(uri: string, show: (event: Envelope) => Promise<void> | void): Promise<void>;
  /** Checks the state that comes back with the answers to questions of a tool. */
  readonly verifyState?: (state: string, context: ServerContext) => unknown;
}
