import fc from "fast-check";
import { describe, expect } from "vitest";
import { times } from "../../../test/support/thorough.js";
import { verifies } from "../../../test/verifies.js";
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { rebuildConversation } from "../conversation.js";
import { payloadProblem } from "../event-shapes.js";
import { StoreError } from "../store.js";
import { importTranscript } from "./import.js";
import {
  ClaudeLines,
  CodexLines,
  collect,
  OPTIONS,
  OTHER_SESSION,
  orderProblems,
  stream,
  toolUse,
} from "./test-support/sample.js";

function claudeSample(): JsonObject[] {
  const lines = new ClaudeLines();
  for (let round = 0; round < 3; round++) {
    lines.user(`question ${round}`);
    lines.assistant(`m${round}`, { type: "thinking", thinking: "hm", signature: "c2ln" });
    lines.assistant(`m${round}`, toolUse(`toolu_${round}a`, "Bash", { command: "ls" }));
    lines.assistant(`m${round}`, toolUse(`toolu_${round}b`, "Read", { file_path: "x" }));
    lines.result(`toolu_${round}b`, [{ type: "text", text: "x" }]);
    lines.result(`toolu_${round}a`, "a", { parentUuid: `uuid-${round * 8 + 3}` });
    lines.assistant(`n${round}`, { type: "text", text: "done" }, { stop_reason: "end_turn" });
    lines.system("turn_duration", { durationMs: 5 });
  }
  lines.system("compact_boundary", { parentUuid: null, logicalParentUuid: "uuid-24" });
  lines.user("summary", { isCompactSummary: true });
  lines.user([{ type: "text", text: "[Request interrupted by user]" }]);
  lines.other({ type: "summary", summary: "s", leafUuid: "uuid-7" });
  return lines.lines;
}

function codexSample(): JsonObject[] {
  const lines = new CodexLines();
  for (let round = 0; round < 3; round++) {
    lines.user(`question ${round}`);
    lines.item({ type: "reasoning", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "ZW5j" });
    lines.item({ type: "function_call", call_id: `c${round}`, name: "shell", arguments: '{"command":["ls"]}' });
    lines.item({ type: "function_call_output", call_id: `c${round}`, output: "Exit code: 0\n" });
    lines.tokens(round, { input_tokens: 5, cached_input_tokens: 2, output_tokens: 1 });
    lines.assistant("done");
    lines.add("event_msg", { type: "task_complete" });
  }
  lines.add("event_msg", { type: "thread_rolled_back", num_turns: 1 });
  lines.add("compacted", { message: "summary" });
  lines.add("event_msg", { type: "turn_aborted", reason: "interrupted" });
  return lines.lines;
}

/** The places in a value, each as the keys that lead to it. */
function places(value: JsonValue | undefined, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, item]) => places(item, [...path, key]))];
}

function replaced(value: JsonValue | undefined, path: readonly string[], by: JsonValue): JsonValue {
  const [key, ...rest] = path;
  if (key === undefined || typeof value !== "object" || value === null) return by;
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, JsonValue>;
  copy[key] = replaced(copy[key], rest, by);
  return copy as JsonValue;
}

const KNOWN_WORDS = [
  "user",
  "assistant",
  "uuid-3",
  "m1",
  "c1",
  "toolu_0a",
  "",
  "message",
  "compacted",
  "9999-99-99",
  "text",
];

const change = fc.record({
  line: fc.nat(),
  place: fc.nat(),
  how: fc.constantFrom("value", "value", "value", "drop", "repeat", "move", "cut"),
  value: fc.oneof(
    fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>,
    fc.constantFrom<JsonValue>(...KNOWN_WORDS),
    fc.constantFrom<JsonValue>(-1, 1e308, 0.5, null, true, [], {}),
  ),
});

function damage(
  sample: readonly JsonObject[],
  changes: readonly (typeof change extends fc.Arbitrary<infer T> ? T : never)[],
) {
  const lines: JsonValue[] = [...sample];
  const cut = new Map<number, number>();
  for (const { line, place, how, value } of changes) {
    const at = line % lines.length;
    const found = places(lines[at]);
    if (how === "value") lines[at] = replaced(lines[at], found[place % found.length] ?? [], value);
    else if (how === "drop" && lines.length > 2) lines.splice(at, 1);
    else if (how === "repeat") lines.splice(place % lines.length, 0, lines[at] ?? null);
    else if (how === "move") lines.splice(place % lines.length, 0, ...lines.splice(at, 1));
    else if (how === "cut") cut.set(at, place % 200);
  }
  return lines.map((line, index) => JSON.stringify(line).slice(0, cut.get(index)));
}

/** The number of events, 0 when it was refused. */
async function check(lines: readonly string[]): Promise<number> {
  try {
    const { events, record } = await importTranscript(stream(lines), OPTIONS);
    const all = await collect(events);
    expect(orderProblems(all, OTHER_SESSION)).toEqual([]);
    for (const { kind, payload } of all) {
      expect(payloadProblem(kind, JSON.parse(JSON.stringify(payload)) as JsonObject)).toBeUndefined();
    }
    expect((await rebuildConversation(stream(all))).open).toEqual([]);
    expect(new Date(record.created_at).toISOString()).toBe(record.created_at);
    return all.length;
  } catch (error) {
    // To refuse is right, as long as it is said why.
    if (!(error instanceof StoreError)) throw error;
    return 0;
  }
}

describe("import of damaged transcripts", () => {
  for (const [name, sample] of [
    ["Claude Code", claudeSample()],
    ["Codex", codexSample()],
    [
      "Codex, older",
      codexSample().map(({ type, payload }) => (type === "response_item" ? payload : { type }) as JsonObject),
    ],
  ] as const) {
    verifies(["S6"], `never fails and always gives valid events: ${name}`, async () => {
      expect(await check(sample.map((line) => JSON.stringify(line)))).toBeGreaterThan(15);
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 10 }), async (changes) => {
          await check(damage(sample, changes));
        }),
        { numRuns: times(60, 200) },
      );
    });
  }
});
