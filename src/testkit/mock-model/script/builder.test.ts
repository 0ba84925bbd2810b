import { describe, expect, it } from "vitest";
import { reply, script } from "./builder.js";
import { parseScript } from "./parse.js";

/** The lines are the one thing that code does not have. */
function withoutLines(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, inner) => (key === "line" ? undefined : inner)));
}

describe("a script in code", () => {
  it("is the same as one in a file", () => {
    const built = script(
      [
        reply()
          .times(2)
          .when("weather")
          .when("messages", { atLeast: 2 })
          .expect("system", { contains: "a" })
          .expectNot("tools", { contains: "bash" })
          .thinking("Hm.", { signature: "s" })
          .redactedThinking("abc")
          .text("Hello", { chunks: 2, everyMs: 5 })
          .tool("read", { path: "a" }, { id: "c1", chunks: 3 })
          .tool("list")
          .usage({ input: 5 })
          .stop("length")
          .header("X-A", "1")
          .split({ seed: 4 })
          .flushEachDelta(),
        reply().delay(20).start().ping().comment("c").event("e", { a: 1 }).garbage().raw("r").cut(),
        reply().error({ status: 529, kind: "overloaded", message: "No", retryAfterMs: 1000 }),
        reply().text("a").drop("reset"),
        reply().html("<p>", 404),
        reply().tool("read", '{"a').hang(),
      ],
      { atEnd: "loop", models: [{ name: "m" }] },
    );
    const parsed = parseScript(`
model m
loop
reply times=2 when "weather" and messages at-least 2
  expect system contains a and tools not contains bash
  thinking signature=s: Hm.
  redacted-thinking: abc
  text chunks=2 every=5ms: Hello
  tool read id=c1 pieces=3 {"path":"a"}
  tool list
  usage input=5
  stop length
  header x-a: 1
  split random 4
  flush
reply
  delay 20ms
  start
  ping
  comment: c
  event e {"a":1}
  garbage
  raw: r
  cut
reply
  error 529 overloaded "No" retry-after=1s
reply
  text: a
  drop reset
reply
  html 404: <p>
reply
  tool read raw: {"a
  hang
`);
    expect(withoutLines(built)).toEqual(withoutLines(parsed));
  });

  it("can share a beginning", () => {
    const start = reply().text("Well. ");
    expect(script([start.text("Yes."), start.text("No.")]).replies.map(({ actions }) => actions.length)).toEqual([
      2, 2,
    ]);
    expect(start.reply.actions).toHaveLength(1);
  });

  it("refuses what could never be sent", () => {
    expect(() => reply().drop().text("a")).toThrow('nothing is sent after "drop", so "text" cannot follow it');
    expect(() => reply().text("a").html("<p>")).toThrow('"html" replaces the whole answer');
    expect(reply().delay(5).html("<p>").reply.actions).toHaveLength(2);
  });
});
