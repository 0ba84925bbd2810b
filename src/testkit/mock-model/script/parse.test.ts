import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../../test/support/thorough.js";
import { parseScript, ScriptError } from "./parse.js";
import type { Action, Condition, Reply } from "./script.js";

function replyOf(body: string): Reply {
  const indented = body.split("\n").map((line) => `  ${line}`);
  const [reply] = parseScript(["reply", ...indented].join("\n")).replies;
  return reply as Reply;
}

function actionsOf(body: string): readonly Action[] {
  return replyOf(body).actions;
}

function problemOf(script: string): string {
  try {
    parseScript(script);
  } catch (error) {
    expect(error).toBeInstanceOf(ScriptError);
    return (error as ScriptError).message;
  }
  throw new Error("it was understood");
}

describe("a script", () => {
  it("has replies, models and an end", () => {
    const script = parseScript(`# a comment
model small context=2048 capabilities=completion,tools   # another
model llama3.2:1b

reply
\ttext: one
reply times=3

  # in between
  text: two
loop
`);
    expect(script).toEqual({
      atEnd: "loop",
      models: [{ name: "small", contextLength: 2048, capabilities: ["completion", "tools"] }, { name: "llama3.2:1b" }],
      replies: [
        { line: 5, actions: [{ type: "text", text: "one" }] },
        { line: 7, times: 3, actions: [{ type: "text", text: "two" }] },
      ],
    });
  });

  it("may have Windows line ends, a byte order mark and empty replies", () => {
    expect(parseScript("\uFEFFreply\r\n  text: a\r\nreply\r\n").replies).toEqual([
      { line: 1, actions: [{ type: "text", text: "a" }] },
      { line: 3, actions: [] },
    ]);
  });

  it("may repeat a reply forever", () => {
    expect(parseScript("reply times=any").replies[0]?.times).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("text", () => {
  it("is literal, including blanks and #", () => {
    expect(actionsOf('text: a # b: "c"  ')).toEqual([{ type: "text", text: 'a # b: "c"  ' }]);
    expect(actionsOf("text:no blank")).toEqual([{ type: "text", text: "no blank" }]);
    expect(actionsOf("text:   two blanks kept")).toEqual([{ type: "text", text: "  two blanks kept" }]);
  });

  it("may be quoted, with a comment after it", () => {
    expect(actionsOf('text "a\\n\\u00e9 " # comment')).toEqual([{ type: "text", text: "a\né " }]);
  });

  it("may be several lines, without the indentation they share", () => {
    const text = "  text:\n      first\n\n        second # no comment\n     third\n\n\n  ping";
    expect(parseScript(`reply\n${text}`).replies[0]?.actions).toEqual([
      { type: "text", text: " first\n\n   second # no comment\nthird" },
      { type: "ping" },
    ]);
  });

  it("takes options", () => {
    expect(actionsOf("text chunks=3 every=20ms repeat=2: a")).toEqual([
      { type: "text", chunks: 3, everyMs: 20, repeat: 2, text: "a" },
    ]);
    expect(actionsOf('thinking size=5 signature="a b" "hm"')).toEqual([
      { type: "thinking", size: 5, signature: "a b", text: "hm" },
    ]);
  });

  it("comes out as it went in, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(actionsOf(`text ${JSON.stringify(text)}`)).toEqual([{ type: "text", text }]);
      }),
    );
    const line = fc.string().filter((text) => text.trim() !== "" && !/[\r\n]/.test(text));
    fc.assert(
      fc.property(line, (text) => {
        expect(actionsOf(`text: ${text}`)).toEqual([{ type: "text", text }]);
      }),
    );
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 5 }), (rows) => {
        const straight = ["x", ...rows].join("\n");
        const script = `reply\n  text:\n${straight.replace(/^/gm, "    ")}\n  ping`;
        expect(parseScript(script).replies[0]?.actions).toEqual([{ type: "text", text: straight }, { type: "ping" }]);
      }),
    );
  });
});

describe("tools", () => {
  it("keep their arguments as they are written", () => {
    expect(actionsOf('tool read pieces=2 id=c1 {"a":  "} # {"}   # comment')).toEqual([
      { type: "tool", name: "read", chunks: 2, id: "c1", args: '{"a":  "} # {"}' },
    ]);
    expect(actionsOf("tool list")).toEqual([{ type: "tool", name: "list", args: "{}" }]);
    expect(actionsOf("tool list # none")).toEqual([{ type: "tool", name: "list", args: "{}" }]);
  });

  it("may have arguments on several lines", () => {
    expect(actionsOf('tool write\n  {\n    "a": 1\n  }\nping')).toEqual([
      { type: "tool", name: "write", args: '{\n  "a": 1\n}' },
      { type: "ping" },
    ]);
  });

  it("may have broken ones", () => {
    expect(actionsOf('tool read raw: {"a": ')).toEqual([{ type: "tool", name: "read", args: '{"a": ' }]);
    expect(actionsOf('tool read raw:\n  {"a"\n  :')).toEqual([{ type: "tool", name: "read", args: '{"a"\n:' }]);
  });
});

describe("the other statements", () => {
  it.each<[string, Action]>([
    ["delay 1m30s", { type: "delay", ms: 90_000 }],
    ["start", { type: "start" }],
    ["comment: alive", { type: "comment", text: "alive" }],
    ['event odd {"a": 1} # x', { type: "event", name: "odd", data: '{"a": 1}' }],
    ['event odd "no json"', { type: "event", name: "odd", data: "no json" }],
    ["garbage", { type: "garbage", text: "{not json" }],
    ["garbage: ???", { type: "garbage", text: "???" }],
    ['raw "a\\n"', { type: "raw", text: "a\n" }],
    ["html 404: <p>", { type: "html", status: 404, text: "<p>" }],
    ["drop", { type: "drop", how: "close" }],
    ["drop reset # now", { type: "drop", how: "reset" }],
    ["cut", { type: "cut" }],
    ["hang", { type: "hang" }],
    ["redacted-thinking: abc=", { type: "redacted-thinking", data: "abc=" }],
    ["error 418", { type: "error", status: 418 }],
    ["error too-long", { type: "error", kind: "too-long" }],
    [
      'error 529 overloaded "Too much" retry-after=2 type=odd_error code=x',
      {
        type: "error",
        status: 529,
        kind: "overloaded",
        message: "Too much",
        retryAfterMs: 2000,
        errorType: "odd_error",
        code: "x",
      },
    ],
    ["error 429 retry-after=250ms", { type: "error", status: 429, retryAfterMs: 250 }],
  ])("%s", (statement, action) => {
    expect(actionsOf(statement)).toEqual([action]);
  });

  it.each<[string, Partial<Reply>]>([
    [
      "usage input=1 output=2 cache-read=3 cache-write=4 reasoning=5",
      { usage: { input: 1, output: 2, cache_read: 3, cache_write: 4, reasoning: 5 } },
    ],
    ["usage none", { usage: "none" }],
    ["stop length", { stop: "length" }],
    ['stop "SAFETY"', { stop: "SAFETY" }],
    ["header X-A: 1: 2\nheader x-b: 3", { headers: { "x-a": "1: 2", "x-b": "3" } }],
    ["split 7", { split: { bytes: 7 } }],
    ["split random 42", { split: { seed: 42 } }],
    ["flush", { flush: "each-delta" }],
  ])("%s", (statement, settings) => {
    expect(replyOf(statement)).toEqual({ line: 1, actions: [], ...settings });
  });
});

describe("conditions", () => {
  it.each<[string, Omit<Condition, "line">]>([
    ['"weather"', { subject: "last-user", test: { contains: "weather" } }],
    ["tools contains read", { subject: "tools", test: { contains: "read" } }],
    ['system not contains "a b"', { subject: "system", not: true, test: { contains: "a b" } }],
    ["messages is 3", { subject: "messages", test: { is: 3 } }],
    ['model is "3"', { subject: "model", test: { is: "3" } }],
    ["model is gpt-4:latest", { subject: "model", test: { is: "gpt-4:latest" } }],
    ["stream is true", { subject: "stream", test: { is: true } }],
    ['body.a.0.b is {"x": [1]}', { subject: "body.a.0.b", test: { is: { x: [1] } } }],
    ["body.tool_choice not exists", { subject: "body.tool_choice", not: true, test: { exists: true } }],
    ["header X-Beta matches /^a\\/b$/i", { subject: "header x-beta", test: { matches: /^a\/b$/i } }],
    ["messages at-least 2", { subject: "messages", test: { atLeast: 2 } }],
    ["messages at-most 2.5", { subject: "messages", test: { atMost: 2.5 } }],
  ])("%s", (text, condition) => {
    expect(parseScript(`reply when ${text}  # why`).replies[0]?.when).toEqual([{ ...condition, line: 1 }]);
    expect(replyOf(`expect ${text}`).expect).toEqual([{ ...condition, line: 2 }]);
  });

  it("are joined by and, and by standing below each other", () => {
    const reply = parseScript('reply times=2 when "a" and messages is 1\n  expect "b" and "c"\n  expect "d"')
      .replies[0];
    expect(reply?.times).toBe(2);
    expect(reply?.when).toHaveLength(2);
    expect(reply?.expect?.map(({ test }) => test)).toEqual([{ contains: "b" }, { contains: "c" }, { contains: "d" }]);
  });
});

describe("errors name the line and what was expected", () => {
  it.each([
    ["", 'line 1: expected at least one "reply"'],
    ["# nothing\n", 'line 2: expected at least one "reply"'],
    ["replay", 'line 1: expected reply, model or loop, found "replay"'],
    ["text: a", 'line 1: expected reply, model or loop, found "text" (indent it to make it part of a reply)'],
    ["  text: a", "line 1: expected reply, model or loop at the left edge, found an indented line"],
    [
      "reply\n  txt: a",
      'line 2: expected text, thinking, redacted-thinking, tool, delay, start, ping, comment, event, garbage, raw, html, error, drop, cut, hang, usage, stop, header, split, flush or expect, found "txt"',
    ],
    ["reply\n  42", 'found "42"'],
    ["reply\n  text: a\n    text: b", "line 3: this line is indented by 4, the first line of its reply by 2"],
    ["reply\n  text", 'line 2: expected "text: …", "text:" with indented lines below, or "text" and a quoted text'],
    ["reply\n  text:\n  ping", 'line 2: expected "text: …"'],
    ['reply\n  text "a', "line 2: expected a closing quote"],
    ['reply\n  text "a\\x"', "line 2: expected a string with JSON's escapes"],
    ["reply\n  text chunk=3: a", 'line 2: expected chunks=, size=, every= or repeat=, found "chunk="'],
    ["reply\n  text chunks=0: a", 'line 2: expected a whole number from 1 up after "chunks=", found "0"'],
    ["reply\n  text chunks= : a", 'line 2: expected a value after "chunks="'],
    [
      "reply\n  text every=20: a",
      'line 2: expected a duration with its unit, such as 200ms or 2s, after "every=", found "20"',
    ],
    [
      "reply\n  delay 200",
      'line 2: expected a duration with its unit, such as 200ms or 2s, after "delay", found "200"',
    ],
    ["reply\n  tool", "line 2: expected the tool's name, found the end of the line"],
    ['reply\n  tool read {"a"', "line 2: expected complete JSON"],
    [
      "reply\n  tool read [1]",
      'line 2: expected the arguments as a JSON object (use "raw:" for broken ones), found [1]',
    ],
    ["reply\n  tool read\n    oops", "line 2: expected the arguments as a JSON object"],
    ["reply\n  tool read {} {}", 'line 2: expected nothing more on this line, found "{}"'],
    ["reply\n  error", "line 2: expected an HTTP status or bad-request, auth, quota"],
    [
      "reply\n  error 529 overlaoded",
      'line 2: expected bad-request, auth, quota, permission, not-found, too-large, too-long, rate-limit, server, overloaded or timeout (or type=… for another), found "overlaoded"',
    ],
    [
      "reply\n  stop soon",
      'line 2: expected end, tool, length, refusal, pause or stop-sequence, or the wire\'s own word in quotes, found "soon"',
    ],
    ["reply\n  usage", "line 2: expected none, input=, output="],
    ["reply\n  usage input=many", 'line 2: expected a whole number after "input=", found "many"'],
    ["reply\n  split", 'line 2: expected a number of bytes or "random SEED", found the end of the line'],
    ["reply\n  drop\n  text: a", 'line 3: nothing is sent after "drop", so "text" cannot follow it'],
    ["reply\n  text: a\n  html", 'line 3: "html" replaces the whole answer'],
    ["reply times=0", 'line 1: expected "any" or a whole number from 1 up after "times=", found "0"'],
    ["reply when", "line 1: expected a quoted word, last-user, last-tool-result"],
    ["reply when weather", 'found "weather"'],
    ["reply\n  expect system", "line 2: expected contains, is, matches, exists, at-least or at-most"],
    ["reply\n  expect system has x", 'found "has"'],
    ["reply\n  expect system matches /(/", "line 2: Invalid regular expression"],
    ["reply\n  expect messages at-least many", 'line 2: expected a number after "at-least", found "many"'],
    ["reply times=any\nreply", "line 2: this reply is never used: the one on line 1 answers any number of calls"],
    ["reply\nloop twice", 'line 2: expected nothing more on this line, found "twice"'],
    ["model", "line 1: expected the model's name"],
  ])("%j", (script, problem) => {
    expect(problemOf(script)).toContain(problem);
  });

  it("whatever is written, it is understood or complained about", () => {
    const words = [
      "reply",
      "\n  ",
      "text",
      ":",
      '"',
      "tool",
      "{",
      "}",
      "when",
      "expect",
      "body.",
      "=",
      "#",
      "raw",
      "/",
      " ",
    ];
    const noise = fc.array(fc.oneof(fc.constantFrom(...words), fc.string()), { maxLength: 12 });
    fc.assert(
      fc.property(noise, (parts) => {
        try {
          parseScript(`reply\n  ${parts.join("")}`);
        } catch (error) {
          expect(error).toBeInstanceOf(ScriptError);
          expect((error as Error).message).toMatch(/^line \d+: ./);
        }
      }),
      { numRuns: times(100, 500) },
    );
  });
});
