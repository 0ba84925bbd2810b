import { describe, expect } from "vitest";
import { insideBlock } from "../../test/support/inside-block.js";
import { verifies } from "../../test/verifies.js";
import { type Message, ownText, type ResultContent, text } from "../protocol/content.js";
import { OutsideResults } from "./outside-results.js";

const MARK = "bcdfghjkbcdfghjk";
const image = { type: "image", media_type: "image/png", data: "AAAA" } as const;
const input: Message = { role: "user", content: [text("<untrusted-x> said the user")] };
const answer: Message = { role: "assistant", content: [{ type: "tool_use", call: "call_1", tool: "bash", args: {} }] };
const results = (...content: readonly ResultContent[]): Message => ({
  role: "user",
  content: [{ type: "tool_result", call: "call_1", tool: "bash", content, is_error: false }, text("and steered")],
});

function outside(results: "wrap" | "plain" = "wrap") {
  let asked = 0;
  const mark = async () => {
    asked++;
    return MARK;
  };
  return { results: new OutsideResults(mark, { results }), asked: () => asked };
}

describe("what is sent", () => {
  verifies(["P12"], "has each text from outside in a separate block, and nothing else", async () => {
    const message = results(text("one\n"), image, text(" \n"), ownText("Denied."), text("two"));
    const before = structuredClone(message);
    const sent = await outside().results.asSent([input, answer, message]);
    expect(sent.slice(0, 2)).toEqual([input, answer]);
    const [result, steered] = sent[2]?.content ?? [];
    expect(steered).toEqual(text("and steered"));
    const parts = result?.type === "tool_result" ? result.content : [];
    const said = parts.map((part) => (part.type === "text" ? part.text : part.type));
    expect(said.slice(1, 4)).toEqual(["image", " \n", "Denied."]);
    expect([said[0], said[4]].map((part) => insideBlock(part ?? ""))).toEqual(["one\n", "two"]);
    expect(message).toEqual(before);
  });

  verifies(
    ["P12", "X10"],
    "is made once for each message, and of nothing before there is something to delimit",
    async () => {
      const { results: marks, asked } = outside();
      const conversation = [input, answer, results(ownText("Denied."))];
      expect(marks.asSent(conversation)).toEqual([input, answer, results(text("Denied."))]);
      expect(asked()).toBe(0);
      conversation.push(answer, results(text("one")));
      const first = await marks.asSent(conversation);
      conversation.push(answer, results(text("two")));
      const second = await marks.asSent(conversation);
      for (const [at, message] of first.entries()) expect(second[at]).toBe(message);
      expect([second.length, asked()]).toEqual([conversation.length, 1]);
      // A summary replaces the beginning, or the end was removed.
      conversation.splice(0, 3, input);
      expect(await marks.asSent(conversation)).toEqual([input, ...second.slice(3)]);
      conversation.splice(3);
      expect(await marks.asSent(conversation)).toEqual([input, ...second.slice(3, 5)]);
    },
  );

  verifies(["P12"], "is the conversation where that is wanted; a summary still marks it", async () => {
    const { results: marks } = outside("plain");
    const conversation = [input, answer, results(text("one"))];
    expect(marks.asSent(conversation)).toEqual(conversation);
    expect((await marks.sender())(conversation)).toEqual(conversation);
    expect((await marks.wrapper())("one", "bash")).toBe('<untrusted-bcd source="bash">\none\n</untrusted-bcd>');
  });
});
