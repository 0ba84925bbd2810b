/** A turn without chains: what its parts do is seen directly. */
import { AbortNode } from "../../base/abort-tree.js";
import { ManualClock } from "../../base/clock.js";
import { createIdSource } from "../../base/ulid.js";
import type { Message } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventKind, EventPayloads } from "../../protocol/events.js";
import { NO_USAGE } from "../../protocol/usage.js";
import { Bus } from "../bus.js";
import type { EnginePorts, Tool, ToolOutcome } from "../ports.js";
import { Turn, type TurnOptions } from "../turn.js";

export interface LooseTurn {
  readonly turn: Turn;
  readonly clock: ManualClock;
  readonly abort: AbortNode;
  readonly events: readonly Envelope[];
  readonly conversation: Message[];
  /** The payloads of the events of one kind, in order. */
  of<K extends EventKind>(kind: K): readonly EventPayloads[K][];
}

export function looseTurn(ports: Partial<EnginePorts> = {}, options: Partial<TurnOptions> = {}): LooseTurn {
  const clock = new ManualClock();
  const ids = createIdSource({ wall: () => clock.wall(), random: (bytes) => bytes.fill(3) });
  const bus = new Bus({ session: ids.next("sess"), originator: ids.next("cli"), clock });
  const events: Envelope[] = [];
  bus.subscribe((event) => events.push(event));
  const abort = new AbortNode();
  const conversation: Message[] = [];
  const turn = new Turn({
    id: ids.next("turn"),
    input: [],
    bus,
    ports: {
      clock,
      ids,
      requestLinks: [],
      toolLinks: [],
      tools: toolsOf(),
      mayStartEarly: () => true,
      toolExecution: "batched",
      maxIterations: 10,
      ...ports,
    },
    model: { provider: "p", family: "f", model: "m", stream: async function* () {} },
    abort,
    conversation,
    ...options,
  });
  const of = <K extends EventKind>(kind: K) =>
    events.flatMap((event) => (event.kind === kind ? [event.payload as EventPayloads[K]] : []));
  return { turn, clock, abort, events, conversation, of };
}

export function toolsOf(...tools: readonly Tool[]) {
  return { list: () => tools, find: (name: string) => tools.find((tool) => tool.name === name) };
}

export function sampleTool(name: string, run: Tool["run"], traits: Partial<Tool> = {}): Tool {
  const schema = { type: "object" };
  return {
    ...{ name, description: name, inputSchema: schema, set: "read", concurrencySafe: true, mutating: false, run },
    ...traits,
  };
}

export function done(words = ""): ToolOutcome {
  return { status: "ok", content: [{ type: "text", text: words }] };
}

export function tokens(input: number, output = 0) {
  return { ...NO_USAGE, input, output };
}
