/** Shows what an editor gets of events, calls and prompts: tables of one translation each. */
import type { ContentBlock, SessionUpdate } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { text } from "../../../protocol/content.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { ToolKind } from "../../../protocol/events.js";
import type { JsonObject } from "../../../protocol/json.js";
import { EventUpdates } from "./event-updates.js";
import { replayHistory } from "./history.js";
import { commandOf, inputOf } from "./prompt-content.js";
import { endedCall, quotedContent, startedCall, titleOf } from "./tool-calls.js";
import { joined, UpdateQueue } from "./update-queue.js";

const event = (kind: string, payload: object, originator = "cli_other") =>
  ({ id: 1, kind, session: "sess_1", originator, ts: "", payload }) as unknown as Envelope;
const words = (update: SessionUpdate | undefined) => {
  const content = update !== undefined && "content" in update ? update.content : undefined;
  const [first] = Array.isArray(content) ? content : [content];
  const inner = first !== undefined && first !== null && "content" in first ? first.content : first;
  return inner !== undefined && inner !== null && "text" in inner ? inner.text : undefined;
};
const started = (call: string, tool = "bash") => event("ToolCallStarted", { call, tool, args: { command: "ls" } });

describe("[C4] events for an editor", () => {
  it.each([
    ["TextDelta", { text: "hi" }, "agent_message_chunk", "hi"],
    ["ThinkingDelta", { text: "hm" }, "agent_thought_chunk", "hm"],
    ["AnswerRetracted", {}, "agent_message_chunk", "\n\n*(The model starts its answer again.)*\n\n"],
    ["Notice", { message: "a\u0007b" }, "agent_thought_chunk", "a␇b\n"],
    ["RateLimited", { message: "busy" }, "agent_thought_chunk", "busy\n"],
    ["Retrying", { message: "again" }, "agent_thought_chunk", "again\n"],
    ["CompactionTriggered", { summary: "s" }, "agent_thought_chunk", "A summary replaces the older messages.\n"],
    ["MCPServerDown", { name: "x", reason: "gone" }, "agent_thought_chunk", "The MCP server x is down: gone\n"],
    [
      "FailedOver",
      { from: { provider: "p", model: "m" }, to: { provider: "q", model: "n" }, message: "why" },
      "agent_thought_chunk",
      "p:m → q:n: why\n",
    ],
  ])("%s %o", (kind, payload, sessionUpdate, shown) => {
    const [update, ...more] = new EventUpdates("/w").of(event(kind, payload));
    expect([update?.sessionUpdate, words(update), more]).toEqual([sessionUpdate, shown, []]);
  });

  it.each([
    ["TextDelta", { text: "" }],
    ["ThinkingDelta", { text: "" }],
    ["CompactionTriggered", {}],
    ["TurnEnded", {}],
    ["ToolCallProgress", { call: "call_1", text: "x" }],
    ["SubagentProgress", { call: "call_1" }],
    ["PermissionResolved", { call: "call_1", decision: "deny" }],
  ])("%s %o is nothing to show", (kind, payload) => {
    expect(new EventUpdates("/w").of(event(kind, payload))).toEqual([]);
  });

  it("have the input of other clients, and all input of the history", () => {
    const picture = { type: "image", media_type: "image/png", data: "aGk=" };
    for (const [kind, by] of [
      ["TurnStarted", { originator: "cli_me" }],
      ["InputSteered", { from: "cli_me" }],
    ] as const) {
      const own = event(kind, { input: [text("hi"), picture], ...by }, "originator" in by ? by.originator : "cli_x");
      expect(new EventUpdates("/w", "cli_me" as never).of(own)).toEqual([]);
      for (const self of ["cli_you" as never, undefined]) {
        expect(new EventUpdates("/w", self).of(own)).toMatchObject([
          { sessionUpdate: "user_message_chunk", content: { type: "text", text: "hi" } },
          { content: { type: "image", mimeType: "image/png", data: "aGk=" } },
        ]);
      }
    }
  });

  it("announce a call before anything else about it, and once", () => {
    const updates = new EventUpdates("/w");
    expect(updates.of(started("call_1"))).toMatchObject([{ sessionUpdate: "tool_call", toolCallId: "call_1" }]);
    expect(updates.of(event("PermissionRequested", { call: "call_1", tool: "bash", args: {} }))).toEqual([]);
    expect(updates.of(event("PermissionResolved", { call: "call_1", decision: "deny" }))).toEqual([]);
    expect(updates.of(event("PermissionResolved", { call: "call_1", decision: "allow_once" }))).toEqual([
      { sessionUpdate: "tool_call_update", toolCallId: "call_1", status: "in_progress" },
    ]);
    const result = { call: "call_1", tool: "bash", status: "ok", content: [text("out")] };
    expect(updates.of(event("ToolResult", result)).map(({ sessionUpdate }) => sessionUpdate)).toEqual([
      "tool_call_update",
    ]);
    // It is over: another result of that name is of a call that was not announced.
    expect(updates.of(event("ToolResult", result)).map(({ sessionUpdate }) => sessionUpdate)).toEqual([
      "tool_call",
      "tool_call_update",
    ]);
    expect(updates.of(event("ToolCallProgress", { call: "call_1", text: "late" }))).toEqual([]);
  });

  it.each([
    ["deny", "failed"],
    ["allow_once", "completed"],
  ])("end a question of a subagent that is answered with %s as %s", (decision, status) => {
    const updates = new EventUpdates("/w");
    const asked = event("PermissionRequested", { call: "call_2", tool: "bash", args: {} });
    expect(updates.of(asked)).toMatchObject([{ sessionUpdate: "tool_call" }]);
    const answered = event("PermissionResolved", { call: "call_2", decision });
    expect(updates.of(answered)).toEqual([{ sessionUpdate: "tool_call_update", toolCallId: "call_2", status }]);
    expect(updates.of(answered)).toEqual([]);
  });

  it("show the newest 20,000 characters that a command has written, and lines of a subagent", () => {
    const updates = new EventUpdates("/w");
    updates.of(started("call_1"));
    const progress = (part: string) => updates.of(event("ToolCallProgress", { call: "call_1", text: part }))[0];
    expect(words(progress("a\u0007"))).toBe("```\na␇\n```");
    expect(words(progress("b"))).toBe("```\na␇b\n```");
    expect(words(progress("c".repeat(19_999)))).toBe(`\`\`\`\nb${"c".repeat(19_999)}\n\`\`\``);
    const line = updates.of(
      event("SubagentProgress", { call: "call_1", type: "explore", text: "read x", elapsed_ms: 12_000, tokens: 3400 }),
    );
    expect(line).toMatchObject([{ status: "in_progress", toolCallId: "call_1" }]);
    expect(words(line[0])).toBe("explore: read x (12s, 3.4k tokens)");
  });

  it("show the model's list as a plan, without what is none", () => {
    const ended = ({ kind = "plan", ...more }: { kind?: ToolKind; status?: string; details?: object }) => {
      const updates = new EventUpdates("/w");
      updates.of(event("ToolCallStarted", { call: "call_1", tool: "x", tool_kind: kind, args: {} }));
      return updates.of(event("ToolResult", { call: "call_1", tool: "x", status: "ok", content: [], ...more })).at(-1);
    };
    const item = (status: unknown, about: unknown = "x") => ({ text: about, status });
    const todos = [item("pending"), item("in_progress"), item("done"), item("other"), item(1), item("done", 2), "x"];
    expect(ended({ details: { todos } })).toEqual({
      sessionUpdate: "plan",
      entries: ["pending", "in_progress", "completed"].map((status) => ({ content: "x", priority: "medium", status })),
    });
    for (const more of [
      {},
      { details: { todos: "x" } },
      { kind: "run" as const, details: { todos } },
      { status: "error", details: { todos } },
    ])
      expect(ended(more)?.sessionUpdate).toBe("tool_call_update");
  });
});

const AT_ROOT = { kind: undefined, cwd: "/w" };

describe("[C4] a call for an editor", () => {
  const titled = (kind: ToolKind | "none", args: JsonObject) =>
    titleOf({ tool: "other", ...(kind !== "none" && { tool_kind: kind }), args });

  it.each([
    ["read", { path: "a\nb" }, "Read a␊b"],
    ["list", {}, "List ."],
    ["list", { path: "src" }, "List src"],
    ["search", { pattern: "x" }, "Search for x"],
    ["edit", { path: "a", content: "x" }, "Write a"],
    ["edit", { path: "a" }, "Edit a"],
    ["edit", { patch: "*** Add File: a\n*** Update File: b \n*** Delete File: c" }, "Patch a, b, c"],
    ["run", { command: "echo `x`" }, "`echo 'x'`"],
    ["fetch", { url: "https://h" }, "Fetch https://h"],
    ["fetch", { query: "how" }, "Search the web for how"],
    ["plan", {}, "Update the plan"],
    ["none", { n: 1, first: "one", second: "two" }, "other: one"],
    ["none", { a: "one", description: "what" }, "other: what"],
    ["none", {}, "other"],
    ["read", { path: 5 }, "Read "],
  ] as const)("%s %o is titled %s", (kind, args, title) => expect(titled(kind, args)).toBe(title));

  it("has a title of 160 characters at most", () => {
    expect(titled("none", { a: "x".repeat(153) })).toHaveLength(160);
    expect(titled("none", { a: "x".repeat(154) })).toBe(`other: ${"x".repeat(152)}…`);
  });

  it.each([
    [{ path: "src/a", offset: 7.9 }, [{ path: "/w/src/a", line: 7 }]],
    [{ path: "/x/a", offset: 0 }, [{ path: "/x/a" }]],
    [{ path: "a", offset: "3" }, [{ path: "/w/a" }]],
    [{ path: "", patch: "*** Add File: b" }, [{ path: "/w/b" }]],
    [{ patch: 3 }, undefined],
    [{ path: "" }, undefined],
  ])("with %o is at %o", (args, locations) => {
    const call = startedCall({ call: "call_1" as never, tool: "read", args: args as never }, "/w");
    expect([call.status, call.locations]).toEqual(["pending", locations]);
  });

  it.each(["ok", "error", "denied", "cancelled", "timeout", "skipped"] as const)("that ends %s", (status) => {
    const { status: shown, rawOutput } = endedCall(
      { call: "call_1", tool: "x", status, content: [] } as never,
      AT_ROOT,
    );
    expect([shown, rawOutput]).toEqual([status === "ok" ? "completed" : "failed", { status }]);
  });

  it("that changed files is at those files, whatever a tool that changes none says", () => {
    const details = { files: [{ path: "a" }, { path: "/x/b" }, {}, "c"] };
    const of = (kind: ToolKind | undefined, more: object = details) =>
      endedCall({ call: "c", tool: "x", status: "ok", content: [], details: more } as never, { kind, cwd: "/w" });
    expect(of("edit").locations).toEqual([{ path: "/w/a" }, { path: "/x/b" }]);
    expect(of("edit", { path: "d" }).locations).toEqual([{ path: "/w/d" }]);
    for (const kind of ["read", "run", undefined] as const)
      expect(of(kind, { path: "d" }), kind).not.toHaveProperty("locations");
    expect(of("run").rawOutput).toEqual({ status: "ok", details });
  });

  it("quotes what programs and files say, and not what Oxbow or a subagent says", () => {
    const shown = (kind: ToolKind, block: object) => {
      const result = { call: "c", tool: "x", status: "ok", content: [block] } as never;
      const { content } = endedCall(result, { kind, cwd: "/w" });
      return words({ sessionUpdate: "tool_call_update", toolCallId: "c", content: content ?? [] });
    };
    expect(shown("run", text("out\n"))).toBe("```\nout\n```");
    expect(shown("run", { ...text("own"), own: true })).toBe("own");
    for (const kind of ["plan", "ask", "edit"] as const) expect(shown(kind, text("x")), kind).toBe("x");
    expect(
      words({ sessionUpdate: "tool_call_update", toolCallId: "c", content: [quotedContent("a ````` b ``` c")] }),
    ).toBe("``````\na ````` b ``` c\n``````");
    const image = { type: "image", media_type: "image/png", data: "aGk=" };
    expect(endedCall({ call: "c", tool: "x", status: "ok", content: [image] } as never, AT_ROOT).content).toEqual([
      { type: "content", content: { type: "image", mimeType: "image/png", data: "aGk=" } },
    ]);
  });
});

describe("[C4] updates that wait", () => {
  const said = (sessionUpdate: string, value: string) =>
    ({ sessionUpdate, content: { type: "text", text: value } }) as SessionUpdate;
  const call = (toolCallId: string, more: object = {}) =>
    ({ sessionUpdate: "tool_call_update", toolCallId, ...more }) as SessionUpdate;
  const picture = {
    sessionUpdate: "agent_message_chunk",
    content: { type: "image", data: "", mimeType: "" },
  } as SessionUpdate;

  it.each([
    [said("agent_message_chunk", "a"), said("agent_message_chunk", "b"), said("agent_message_chunk", "ab")],
    [said("agent_thought_chunk", "a"), said("agent_thought_chunk", "b"), said("agent_thought_chunk", "ab")],
    [said("user_message_chunk", "a"), said("user_message_chunk", "b"), undefined],
    [said("agent_message_chunk", "a"), said("agent_thought_chunk", "b"), undefined],
    [said("agent_message_chunk", "a"), picture, undefined],
    [picture, said("agent_message_chunk", "a"), undefined],
    [
      call("1", { status: "in_progress", title: "t" }),
      call("1", { status: "completed" }),
      call("1", { status: "completed", title: "t" }),
    ],
    [call("1"), call("2"), undefined],
  ])("%o and %o are %o", (first, second, one) => expect(joined(first, second)).toEqual(one));

  it("go in order, joined while the editor is slow, until it is gone", async () => {
    const sent: SessionUpdate[] = [];
    let go = () => {};
    let isGone = false;
    const queue = new UpdateQueue(async (update) => {
      if (isGone) throw new Error("gone");
      sent.push(update);
      await new Promise<void>((resolve) => {
        go = resolve;
      });
    });
    queue.push([]);
    await queue.sent();
    queue.push([said("agent_message_chunk", "a")]);
    queue.push([said("agent_message_chunk", "b"), call("1"), said("agent_message_chunk", "c")]);
    queue.push([said("agent_message_chunk", "d")]);
    for (let turn = 0; turn < 4; turn++) {
      go();
      await new Promise(setImmediate);
    }
    await queue.sent();
    expect(sent.map((update) => words(update) ?? "call")).toEqual(["a", "b", "call", "cd"]);
    isGone = true;
    queue.push([call("1"), call("2")]);
    await queue.sent();
    isGone = false;
    queue.push([call("3")]);
    await new Promise(setImmediate);
    expect(sent.at(-1)).toMatchObject({ toolCallId: "3" });
    go();
    await queue.sent();
  });
});

describe("[C4] the history of a session", () => {
  const stored = Array.from({ length: 4500 }, (_, at) => ({ ...event("TextDelta", { text: "x" }), id: at + 1 }));
  const clientOf = (fails?: string) =>
    ({
      query: async (kind: string, { before, limit }: { before: number; limit: number }) => {
        if (kind === fails) return { ok: false, failure: { reason: "Internal", message: "broken" } };
        if (kind === "GetStatus") return { ok: true, answer: { last_event: stored.length } };
        const events = stored.filter(({ id }) => id < before && id >= before - limit);
        return { ok: true, answer: { events } };
      },
    }) as never;

  it("comes in pages, in order, each event once, with an answer as one message", async () => {
    const shown: SessionUpdate[][] = [];
    const place = { client: clientOf(), session: "sess_1" as never, cwd: "/w" };
    await replayHistory(place, async (updates) => void shown.push([...updates]));
    expect(shown.map((updates) => updates.map((update) => words(update)?.length))).toEqual([[2000], [2000], [500]]);
  });

  it("fails where the engine does", async () => {
    for (const fails of ["GetStatus", "ListEvents"]) {
      const place = { client: clientOf(fails), session: "sess_1" as never, cwd: "/w" };
      await expect(
        replayHistory(place, async () => {}),
        fails,
      ).rejects.toThrow("broken");
    }
  });
});

describe("[C4] a prompt of an editor", () => {
  const delimit = ({ source, text: inside }: { source: string; text: string }) => `<${source}>${inside}</>`;
  const of = (...blocks: object[]) => inputOf(blocks as ContentBlock[], delimit);
  const resource = (inside: object) => ({ type: "resource", resource: { uri: "file:///a", ...inside } });

  it("is one text where texts are side by side", () => {
    const link = { type: "resource_link", name: "a[b]\n", uri: "file:///a (1).ts" };
    expect(of(text("See "), link, text("!"), resource({ text: "T" }))).toEqual([
      text("See [@ab␊](file:///a%20%281%29.ts)!\n<file:///a>T</>\n"),
    ]);
    const image = { type: "image", mimeType: "IMAGE/JPG", data: "aGk=" };
    const shown = { type: "image", media_type: "image/jpeg", data: "aGk=" };
    expect(of(text("a"), image, text("b"))).toEqual([text("a"), shown, text("b")]);
    expect(of(resource({ mimeType: "image/png", blob: "aGk=" }))).toEqual([{ ...shown, media_type: "image/png" }]);
    expect(of(resource({ blob: "aGk=" }))).toEqual([text("\n(file:///a is binary, so its content is left out.)\n")]);
  });

  it.each([
    [[], "The prompt is empty."],
    [[{ type: "audio", data: "", mimeType: "" }], " is no type of audio."],
    [
      [{ type: "image", mimeType: "image/svg+xml", data: "aGk=" }],
      "Oxbow takes PNG, JPEG, GIF and WebP images, not image/svg+xml.",
    ],
    [[{ type: "image", mimeType: "image/png", data: "" }], "The data of an image must be base64."],
    [[{ type: "image", mimeType: "image/png", data: "a b" }], "The data of an image must be base64."],
  ])("%o is refused: %s", (blocks, message) => expect(() => of(...blocks)).toThrow(message));

  it("is a command when it begins with a slash, with files as their paths", () => {
    const file = (uri: string) => ({ type: "resource_link", name: "f", uri }) as ContentBlock;
    const of = (...blocks: object[]) => commandOf(blocks as ContentBlock[]);
    expect(of(text(" /undo now"))).toMatchObject({ name: "undo", rest: "now" });
    expect(of(text("/add "), file("file:///a%20b"))).toMatchObject({ name: "add", rest: "/a b" });
    expect(of(text("/add "), file("https://h/%zz"))).toMatchObject({ rest: "https://h/%zz" });
    expect(of(text("/add "), file("file:///%zz"))).toMatchObject({ rest: "file:///%zz" });
    expect(of(text("no /undo"))).toBeUndefined();
    expect(of(file("/x"), text("/undo"))).toBeUndefined();
    expect(of()).toBeUndefined();
    const image = { type: "image", mimeType: "image/png", data: "aGk=" };
    expect(() => of(text("/undo"), image)).toThrow("A slash command takes text and file mentions only.");
  });
});
