import fc from "fast-check";
import { describe, expect } from "vitest";
import { times } from "../../../test/support/thorough.js";
import { verifies } from "../../../test/verifies.js";
import type { ModelEvent } from "../../engine/ports.js";
import { text } from "../../protocol/content.js";
import { ShownAnswer } from "./shown-answer.js";

const say = (words: string): ModelEvent => ({ type: "text", text: words });
const think = (words: string): ModelEvent => ({ type: "thinking", text: words });
const said = (words: string): ModelEvent => ({ type: "block", block: text(words) });
const thought = (words: string, signature = words): ModelEvent => ({
  type: "block",
  block: { type: "thinking", text: words, provider: "x", opaque: { signature } },
});
const STOP: ModelEvent = { type: "stop", reason: "end" };

function* cut(words: string, size: number, event: (piece: string) => ModelEvent): Generator<ModelEvent> {
  for (let at = 0; at < words.length; at += size) yield event(words.slice(at, at + size));
}

function answer(thinking: string, words: string, size: number): readonly ModelEvent[] {
  return [
    ...(thinking === "" ? [] : [...cut(thinking, size, think), thought(thinking)]),
    ...(words === "" ? [] : [...cut(words, size, say), said(words)]),
    STOP,
  ];
}

/** Tells what a reader has at the end, with blocks and everything. */
function read(events: readonly ModelEvent[]): readonly ModelEvent[] {
  const out: ModelEvent[] = [];
  for (const event of events) {
    const last = out.at(-1);
    if (event.type === "retract") out.length = 0;
    else if ((event.type === "text" || event.type === "thinking") && last?.type === event.type) {
      out[out.length - 1] = { type: event.type, text: last.text + event.text };
    } else out.push(event);
  }
  return out;
}

describe("one answer over several attempts", () => {
  verifies(["M9"], "an attempt with the same text continues where the last one broke", () => {
    const shown = new ShownAnswer();
    expect(shown.take([think("hm"), thought("hm"), say("The qu")])).toHaveLength(3);
    shown.restart("StreamInterrupted");
    expect(shown.take([think("h"), think("m"), thought("hm"), say("The")])).toEqual([]);
    expect(shown.take([say(" quick"), say(" fox"), said("The quick fox"), STOP])).toEqual([
      say("ick"),
      say(" fox"),
      said("The quick fox"),
      STOP,
    ]);
  });

  verifies(["M9"], "an attempt with other text withdraws the old text and starts from its beginning", () => {
    const shown = new ShownAnswer();
    shown.take([say("The quick")]);
    shown.restart("Overloaded");
    expect(shown.take([say("The ")])).toEqual([]);
    expect(shown.take([say("slow fox")])).toEqual([
      { type: "retract", reason: "Overloaded" },
      say("The "),
      say("slow fox"),
    ]);
  });

  verifies(["M9"], "and so does one that ends earlier, or that signs its thinking differently", () => {
    const shorter = new ShownAnswer();
    shorter.take([say("The quick")]);
    shorter.restart("StreamInterrupted");
    expect(read(shorter.take([say("The"), said("The"), STOP]))).toEqual([say("The"), said("The"), STOP]);
    const signed = new ShownAnswer();
    signed.take([think("hm"), thought("hm", "one"), say("a")]);
    signed.restart("StreamInterrupted");
    const events = signed.take([think("hm"), thought("hm", "two"), say("a"), said("a"), STOP]);
    expect(events[0]).toEqual({ type: "retract", reason: "StreamInterrupted" });
  });

  verifies(["M9"], "whatever breaks where, and however the words are cut, a reader has the last answer once", () => {
    const piece = fc.record({
      thinking: fc.constantFrom("", "hm", "hmm"),
      words: fc.constantFrom("", "a", "ab", "abab", "ababab", "b"),
      size: fc.integer({ min: 1, max: 4 }),
      breaks: fc.nat(12),
    });
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 5 }), (attempts) => {
        const shown = new ShownAnswer();
        const out: ModelEvent[] = [];
        for (const [i, { thinking, words, size, breaks }] of attempts.entries()) {
          const events = answer(thinking, words, size);
          if (i > 0) shown.restart("StreamInterrupted");
          const last = i === attempts.length - 1;
          const arrived = last ? events : events.slice(0, Math.min(breaks, events.length - 1));
          for (const event of arrived) out.push(...shown.take([event]));
        }
        const { thinking, words } = attempts.at(-1) as { thinking: string; words: string };
        expect(read(out)).toEqual(read(answer(thinking, words, 1)));
      }),
      { numRuns: times(400, 2000), seed: 9 },
    );
  });
});
