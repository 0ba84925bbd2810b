import { describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import type { AssistantBlock } from "../protocol/content.js";
import type { CallId } from "../protocol/ids.js";
import { AnswerRecord } from "./answer-record.js";

const text = (words: string): AssistantBlock => ({ type: "text", text: words });
const thinking: AssistantBlock = { type: "thinking", text: "hm", provider: "p" };
const call = (malformed?: string): AssistantBlock => ({
  ...{ type: "tool_use", call: "call_1" as CallId, tool: "t", args: {} },
  ...(malformed !== undefined && { malformed }),
});

function shapeOf(blocks: readonly AssistantBlock[], { complete = true, announced = 9 } = {}) {
  const record = new AnswerRecord();
  for (const block of blocks) {
    if (block.type === "text") record.delta("TextDelta");
    if (block.type === "thinking") record.delta("ThinkingDelta");
    record.block(block);
  }
  return record.shape({ complete, announced });
}

describe("the shape of an answer", () => {
  verifies(["S6", "L11"], "is left out when the events alone give it", () => {
    for (const plain of [[], [text("a")], [thinking], [thinking, text("a"), call(), call()], [call()]]) {
      expect(shapeOf(plain)).toEqual({});
    }
  });

  verifies(["S6", "L11"], "names the blocks in another order, with how many deltas each has", () => {
    const one = { type: "text", deltas: 1 };
    expect(shapeOf([text("a"), thinking])).toEqual({ blocks: [one, { type: "thinking", deltas: 1 }] });
    expect(shapeOf([text("a"), text("b")])).toEqual({ blocks: [one, one] });
    expect(shapeOf([call(), text("a")])).toEqual({ blocks: [{ type: "tool_use", call: "call_1" }, one] });
    expect(shapeOf([call("{")])).toEqual({ blocks: [{ type: "tool_use", call: "call_1", malformed: "{" }] });
    const opaque: AssistantBlock = { type: "yield" };
    expect(shapeOf([opaque])).toEqual({ blocks: [opaque] });
    const record = new AnswerRecord();
    for (let times = 0; times < 3; times++) record.delta("TextDelta");
    record.block(text("a"));
    record.block(text("b"));
    expect(record.shape({ complete: true, announced: 0 })).toEqual({
      blocks: [
        { type: "text", deltas: 3 },
        { type: "text", deltas: 0 },
      ],
    });
  });

  verifies(["S6"], "says that it was interrupted, and how many calls it has if not all were announced", () => {
    expect(shapeOf([text("a")], { complete: false })).toEqual({ interrupted: true });
    expect(shapeOf([call(), call()], { announced: 1 })).toEqual({ calls: 2 });
    expect(shapeOf([call(), call()], { announced: 2 })).toEqual({});
  });

  verifies(["M9"], "has nothing of what was withdrawn", () => {
    const record = new AnswerRecord();
    record.delta("TextDelta");
    record.delta("ThinkingDelta");
    record.block(call("{"));
    record.clear();
    record.block(text("a"));
    record.block(thinking);
    expect(record.shape({ complete: true, announced: 0 })).toEqual({
      blocks: [
        { type: "text", deltas: 0 },
        { type: "thinking", deltas: 0 },
      ],
    });
  });
});
