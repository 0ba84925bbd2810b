/**
 * The interface between Oxbow and a plugin, exported as `oxbow/plugin`.
 *
 * A plugin is a JavaScript or TypeScript module that exports one function by default:
 *
 *     export default function register(oxbow) { … }
 *
 * Oxbow calls it once, when it starts; it may return a promise. Everything that a plugin adds applies to all sessions of the process.
 */
import type {
  ModelEvent,
  ModelRequest,
  RequestLink,
  ToolContext,
  ToolLink,
  ToolLinkContext,
  ToolOutcome,
} from "../../engine/ports.js";
import type { EngineClient, Identity } from "../../protocol/client.js";
import type { Message } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import type { Usage } from "../../protocol/usage.js";

export type {
  EngineClient,
  Envelope,
  JsonObject,
  JsonValue,
  Message,
  ModelEvent,
  ModelRequest,
  RequestLink,
  ToolContext,
  ToolLink,
  ToolLinkContext,
  ToolOutcome,
};

/** The default export of a plugin. */
export type Register = (oxbow: Oxbow) => void | Promise<void>;

/** The surface for plugins. Every `add…` works only until `register` has returned. */
export interface Oxbow {
  /** The version of Oxbow. */
  readonly version: string;
  /** The name of the plugin: that of its file or package. */
  readonly plugin: string;
  /** The table `[plugin.NAME]` of the profile; empty without one. */
  readonly settings: JsonObject;
  /** Writes a line to Oxbow's log. */
  log(level: "error" | "warn" | "info" | "debug", message: string, fields?: JsonObject): void;
  /** Adds a link around every model call. Its name, `NN-name`, gives its place in the chain (src/chain/order.ts). */
  addRequestLink(link: RequestLink): void;
  /** Adds a link around every tool call (src/chain/order.ts). A link that does not call `next` answers for the tool. */
  addToolLink(link: ToolLink): void;
  /** Adds a hook to a stage of the turn (src/chain/order.ts). */
  addHook(stage: PluginStage, hook: PluginHook): void;
  /** Takes part in turns: adds context, observes calls, reviews them, takes part in compactions (docs/contributing/adding.md). */
  addLifecycle(lifecycle: PluginLifecycle): void;
  /** Calls a function with every event of every session, after it happened. */
  subscribe(listener: (event: Envelope) => void): void;
  /** Publishes a `CustomEvent` in an open session, with the namespace of this plugin. The payload is JSON of at most 64 KB. */
  publish(session: string, kind: string, payload: JsonValue): void;
  /** Adds a tool that the model can call. */
  addTool(tool: PluginTool): void;
  /** Adds tools that may come and go: Oxbow calls `list` before every iteration. */
  addToolSource(source: PluginToolSource): void;
  /** Adds a provider of models: `NAME:MODEL`. */
  addProvider(provider: PluginProvider): void;
  /** Adds a way for clients to reach the engine. It starts with the first session and stops with the program. */
  addTransport(transport: PluginTransport): void;
  /** Adds a slash command `/NAMESPACE:NAME`. The namespace is the plugin's name, unless it claims another. */
  addCommand(command: PluginCommand): void;
  /** Uses another namespace for the commands of this plugin. */
  claimNamespace(name: string): void;
  /** Adds a rule in the format of `[[permissions.rules]]` of the profile. */
  addPermissionRule(rule: JsonObject): void;
  /** Called when Oxbow ends. */
  onClose(close: () => void | Promise<void>): void;
}

export type PluginStage = "start" | "assemble" | "send" | "receive" | "tool_exec" | "tool_done" | "done" | "error";

/** `next` chooses another stage, `stop` ends the turn with a reason for the user. */
export type PluginHookResult = { readonly next: PluginStage } | { readonly stop: string } | undefined;

export interface PluginHook {
  /** `NN-name`, such as `45-check-style`. */
  readonly name: string;
  run(turn: PluginTurn): PluginHookResult | Promise<PluginHookResult>;
}

/** The turn as a hook sees it. */
export interface PluginTurn {
  readonly id: string;
  /** The messages so far. They must not be changed. */
  readonly conversation: readonly Message[];
  /** The request that is being made, from the stage `assemble` on. A hook may replace it. */
  request: ModelRequest | undefined;
  /** The number of model calls so far. */
  readonly iterations: number;
  readonly usage: Usage;
  /** The text of the newest answer. */
  readonly text: string;
  readonly signal: AbortSignal;
}

/** The moments of a session that memory, retrieval and approvals need; each is optional and may return a promise. */
export interface PluginLifecycle {
  /** The input is not in the conversation yet. `context` goes to the model with it; `stop` ends the turn. */
  beforeTurn?(turn: PluginMoment): Answer<{ readonly context: string } | { readonly stop: string }>;
  /** Before each model call: text that the model gets from now on. */
  beforeInference?(
    inference: PluginMoment & { readonly iteration: number; readonly messages: readonly Message[] },
  ): Answer<string>;
  /** After the permission rules: it may deny a call or ask the user, and allows nothing. */
  reviewCall?(
    call: { readonly tool: string; readonly args: JsonObject },
    about: { readonly verdict: { readonly decision: string; readonly reason: string }; readonly signal: AbortSignal },
  ): Answer<{ readonly decision: "ask" | "deny"; readonly by: string; readonly reason: string }>;
  /** A call has its result. */
  onToolEvidence?(evidence: {
    readonly tool: string;
    readonly args: JsonObject;
    readonly outcome: ToolOutcome;
  }): unknown;
  /** Older messages are about to be replaced by a summary. */
  beforeCompaction?(compaction: {
    readonly messages: readonly Message[];
  }): Promise<{ readonly keep?: string; readonly refuse?: string } | undefined>;
  /** The conversation continues from the summary. */
  afterCompaction?(compaction: { readonly summary: string; readonly messages: readonly Message[] }): Promise<void>;
  /** The turn has ended. */
  afterTurn?(ended: {
    readonly session: string;
    readonly input: string;
    readonly text: string;
    readonly outcome: string;
    readonly messages: readonly Message[];
  }): unknown;
}

/** A value, a promise of it, or nothing. */
export type Answer<T> = Promise<T | undefined> | T | undefined;

export interface PluginMoment {
  readonly session: string;
  readonly turn: string;
  /** The text of the input. */
  readonly input: string;
  readonly signal: AbortSignal;
}

export interface PluginTool {
  /** Letters, digits, `-` and `_`. */
  readonly name: string;
  readonly description: string;
  /** The JSON Schema of the arguments; Oxbow checks them. */
  readonly inputSchema: JsonObject;
  /** May run beside other safe tools. Default: false. */
  readonly concurrencySafe?: boolean;
  /** Makes changes. Default: true. */
  readonly mutating?: boolean;
  /** A text, or a whole outcome. An error is a result for the model. */
  run(args: JsonObject, context: ToolContext): Promise<string | ToolOutcome> | string | ToolOutcome;
}

export interface PluginToolSource {
  readonly name: string;
  /** The tools at present. */
  list(): readonly PluginTool[] | Promise<readonly PluginTool[]>;
}

export interface PluginProvider {
  readonly name: string;
  /** The version of the messages that it is written for; an Oxbow with another version does not use it. Default: 1. */
  readonly canonicalForm?: number;
  /** The models that it has, for lists. */
  models?(): Promise<readonly string[]> | readonly string[];
  /** US dollars per million tokens; without it, the price is unknown. */
  price?(model: string): { readonly input: number; readonly output: number } | undefined;
  /** The tokens that the model can read. */
  contextTokens?(model: string): number | undefined;
  /** Events of one answer, in batches; the last one is a `stop` or a `failure`. */
  stream(
    request: ModelRequest,
    context: { readonly model: string; readonly signal: AbortSignal },
  ): AsyncIterable<readonly ModelEvent[]>;
}

export interface PluginTransport {
  readonly name: string;
  /** `connect` makes a client of the engine. Clients of programs are agents: they cannot answer questions for a person. */
  start(engine: {
    connect(client?: { readonly identity?: Identity; readonly canAnswer?: boolean }): EngineClient;
  }): Promise<{ close(): void | Promise<void> }> | { close(): void | Promise<void> };
}

export interface PluginCommand {
  /** The part after the namespace: lower-case letters, digits and `-`. */
  readonly name: string;
  /** One line without a full stop. */
  readonly summary: string;
  /** The arguments, as the help shows them. */
  readonly usage?: string;
  /** `args` is the rest of the line. The text is shown; `value` is the same as data. */
  run(
    args: string,
    context: { readonly signal: AbortSignal; readonly session: string },
  ): PluginAnswer | Promise<PluginAnswer>;
}

export type PluginAnswer = string | { readonly text: string; readonly value?: JsonValue };

/** Gives a plugin its types and does nothing else. */
export function definePlugin(register: Register): Register {
  return register;
}
