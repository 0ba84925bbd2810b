/** An engine with hand-driven ports, for tests that need to hold a model or a tool at an exact moment. */
import { AbortNode } from "../../src/base/abort-tree.js";
import { type Clock, systemClock } from "../../src/base/clock.js";
import { createIdSource } from "../../src/base/ulid.js";
import { buildChains } from "../../src/chain/build.js";
import type { ChainServices, CostTracker } from "../../src/chain/services.js";
import { Bus } from "../../src/engine/bus.js";
import { runTurn, type TurnResult } from "../../src/engine/loop.js";
import type {
  EnginePorts,
  Model,
  ModelEvent,
  ModelRequest,
  RequestLink,
  Tool,
  ToolLink,
  ToolOutcome,
} from "../../src/engine/ports.js";
import { type NamedHook, type Stage, Turn } from "../../src/engine/turn.js";
import { type Message, text } from "../../src/protocol/content.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import type { EventKind } from "../../src/protocol/events.js";
import type { JsonObject } from "../../src/protocol/json.js";
import { PermissionGate, type PermissionMode } from "../../src/security/permissions/gate.js";

export const ids = createIdSource({ wall: () => Date.now(), random: (bytes) => crypto.getRandomValues(bytes) });

export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** Each model call plays the next part; a part may wait on promises between its events. */
export type Part = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<readonly ModelEvent[]>;

export function scriptedModel(parts: readonly Part[]): Model & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    provider: "scripted",
    family: "scripted",
    model: "test",
    requests,
    stream(request, { signal }) {
      const part = parts[requests.length];
      requests.push(request);
      if (part === undefined) throw new Error("the script has no more parts");
      return part(request, signal);
    },
  };
}

export function says(words: string): Part {
  return async function* () {
    yield [
      { type: "text", text: words },
      { type: "block", block: text(words) },
      { type: "stop", reason: "end" },
    ];
  };
}

export function call(tool: string, args: JsonObject = {}): ModelEvent {
  return { type: "block", block: { type: "tool_call", tool, args } };
}

export function calls(...events: readonly ModelEvent[]): Part {
  return async function* () {
    yield [...events, { type: "stop", reason: "tool_calls" }];
  };
}

export function tool(name: string, run: Tool["run"], traits: Partial<Tool> = {}): Tool {
  return {
    name,
    description: name,
    inputSchema: { type: "object" },
    set: "read",
    concurrencySafe: true,
    mutating: false,
    run,
    ...traits,
  };
}

export function ok(words: string): ToolOutcome {
  return { status: "ok", content: [text(words)] };
}

export interface EngineOptions {
  readonly model: Model;
  readonly tools?: readonly Tool[];
  readonly lacks?: (plainName: string) => string | undefined;
  readonly mode?: PermissionMode;
  readonly clock?: Clock;
  readonly maxIterations?: number;
  readonly maxAnswerCharacters?: number;
  readonly toolExecution?: "batched" | "sequential";
  readonly costs?: CostTracker;
  readonly requestLinks?: readonly RequestLink[];
  readonly toolLinks?: readonly ToolLink[];
  readonly retry?: ChainServices["retry"];
  readonly compaction?: ChainServices["compaction"];
  readonly outside?: ChainServices["outside"];
  readonly extraHooks?: Partial<Record<Stage, readonly NamedHook[]>>;
}

export interface TestEngine {
  readonly bus: Bus;
  readonly events: Envelope[];
  readonly conversation: Message[];
  /** Kinds only, for asserting an order. */
  kinds(...only: readonly EventKind[]): EventKind[];
  turn(prompt: string, abort?: AbortNode): Promise<TurnResult>;
}

export function testEngine(options: EngineOptions): TestEngine {
  const clock = options.clock ?? systemClock;
  const bus = new Bus({ session: ids.next("sess"), originator: ids.next("cli"), clock });
  const events: Envelope[] = [];
  bus.subscribe((event) => events.push(event));
  const tools = options.tools ?? [];
  const registry = {
    list: () => tools,
    find: (name: string) => tools.find((candidate) => candidate.name === name),
    ...(options.lacks && { lacks: options.lacks }),
  };
  const gate = new PermissionGate(options.mode ?? "allow");
  const services: ChainServices = {
    tools: registry,
    gate,
    person: { present: () => false, ask: async () => ({ decision: "deny", decidedBy: "test" }), record: () => {} },
    log: () => {},
    ...(options.retry !== undefined && { retry: options.retry }),
    ...(options.compaction !== undefined && { compaction: options.compaction }),
    ...(options.outside !== undefined && { outside: options.outside }),
    systemPrompt: () => "system",
    ...(options.costs !== undefined && { costs: options.costs }),
  };
  const { requestLinks = [], toolLinks = [], extraHooks = {} } = options;
  const chains = buildChains(services, { requestLinks, toolLinks, stages: extraHooks });
  for (const subscriber of chains.subscribers) bus.subscribe((event) => subscriber.run(event));
  const ports: EnginePorts = {
    clock,
    ids,
    tools: registry,
    requestLinks: chains.requestLinks,
    toolLinks: chains.toolLinks,
    mayStartEarly: (toolCall, definition) => gate.judge(toolCall, definition).decision === "allow",
    toolExecution: options.toolExecution ?? "batched",
    maxIterations: options.maxIterations ?? 100,
    ...(options.maxAnswerCharacters !== undefined && { maxAnswerCharacters: options.maxAnswerCharacters }),
  };
  const conversation: Message[] = [];
  return {
    bus,
    events,
    conversation,
    kinds: (...only) => events.map((event) => event.kind).filter((kind) => only.length === 0 || only.includes(kind)),
    turn: (prompt, abort = new AbortNode()) =>
      runTurn(
        new Turn({
          id: ids.next("turn"),
          input: [text(prompt)],
          bus,
          ports,
          model: options.model,
          abort,
          conversation,
        }),
        chains.stages,
      ),
  };
}
