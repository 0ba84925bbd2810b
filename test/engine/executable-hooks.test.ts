/** Hooks in any language, in the chain with the built-in ones. */

import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RUN_FLAGS } from "../../src/cli/commands/run-flags.js";
import { openReview } from "../../src/cli/open-review.js";
import { parseFlags } from "../../src/feature/flags.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import { listExtensions } from "../../src/runtime/content/find-extensions.js";
import { loadSettings } from "../../src/runtime/settings/settings.js";
import { ConversationBuilder } from "../../src/sessions/conversation.js";
import { MessageFold } from "../../src/sessions/files/message-fold.js";
import { ExtendedEngine, resultsOf } from "../support/extended-engine.js";
import { skipWithout } from "../support/needs.js";
import { survivors } from "../support/survivors.js";
import { verifies } from "../verifies.js";

/** Recognisable among the processes of the machine. */
const NAP = 200000 + process.pid;
const CALL = 'reply\n  tool ls {"path": "."}\nreply\n  text: Done.\n';

let engine: ExtendedEngine;
beforeEach(() => {
  engine = new ExtendedEngine();
});
afterEach(() => engine.close());

function hook(place: string, script: string, interpreter = "/bin/bash"): void {
  engine.bed.program(`.oxbow/hooks.d/${place}`, `#!${interpreter}\n${script}\n`);
}

/** A hook in JavaScript: `body` makes the output of `event`. */
function script(place: string, body: string): void {
  const read = 'const event = JSON.parse(require("node:fs").readFileSync(0, "utf8"));';
  hook(place, `${read}\nprocess.stdout.write(JSON.stringify((() => { ${body} })()));`, "/usr/bin/env node");
}

async function open(script: string, flags = ["--permission-mode", "allow"]): Promise<void> {
  await engine.bed.approveAll();
  await engine.open(script, { flags });
}

function ending(events: readonly Envelope[]): string {
  const end = events.find(({ kind }) => kind === "TurnEnded")?.payload as {
    readonly outcome: string;
    readonly failure?: { readonly message: string };
  };
  return `${end.outcome}${end.failure === undefined ? "" : `: ${end.failure.message}`}`;
}

describe("an executable hook", () => {
  verifies(["L2", "E2"], "sees its stage as JSON; fields pass on to the hooks after it", async () => {
    for (const place of ["start/99", "assemble/99", "send/99", "receive/99", "tool_exec/01", "tool_done/99", "done/99"])
      hook(`${place}-show`, `cat >> seen.jsonl\necho '{"trail": "${place}"}'`);
    await open(CALL);
    expect(ending(await engine.turn("hello there"))).toBe("answered");
    const lines = readFileSync(join(engine.bed.folder, "seen.jsonl"), "utf8").trim().split("\n");
    const seen = lines.map((line) => JSON.parse(line) as Record<string, never>);
    expect(seen.map(({ stage }) => stage)).toEqual(
      "start assemble send receive tool_exec tool_done assemble send receive done".split(" "),
    );
    const [start, assemble, send, receive, exec, done] = seen;
    expect(start).toMatchObject({ input: [{ type: "text", text: "hello there" }], cwd: engine.bed.folder });
    expect(assemble).toMatchObject({ trail: "start/99", payload: { messages: [{ role: "user" }] }, iteration: 0 });
    expect(send).toMatchObject({ trail: "assemble/99" });
    expect(JSON.stringify(send)).toContain('"name":"ls"');
    expect(receive).toMatchObject({ message: { tool_calls: [{ name: "ls", input: { path: "." } }] } });
    expect(exec).toMatchObject({ tool_calls: [{ name: "ls", input: { path: "." } }] });
    expect(done).toMatchObject({ results: [{ name: "ls", is_error: false }] });
  });

  verifies(["L2"], "changes the request, results and context, and tells the user something", async (context) => {
    skipWithout(context, "python3");
    script("assemble/90-system", 'event.payload.system += " Answer in rhymes."; return { payload: event.payload };');
    hook("start/50-note", `echo '{"context": "The user likes cats.", "notice": "cats are on"}'`);
    hook(
      "tool_done/50-redact.py",
      [
        "import json, sys",
        "event = json.load(sys.stdin)",
        'for result in event["results"]: result["content"] = "hidden"',
        'print(json.dumps({"results": event["results"]}))',
      ].join("\n"),
      "/usr/bin/env python3",
    );
    await open(CALL);
    const events = await engine.turn("hi");
    expect(engine.requests[0]).toContain("Answer in rhymes.");
    expect(engine.requests[0]).toContain("[hook start/50-note] The user likes cats.");
    expect(engine.requests[1]).toContain("\\nhidden\\n");
    expect(JSON.stringify(events.filter(({ kind }) => kind === "Notice"))).toContain("start/50-note: cats are on");
  });

  verifies(["L2"], "changes calls and results in the log as well: a resumed session sees the same", async () => {
    const secret = `sk-ant-${"api03-"}${randomBytes(70).toString("hex").slice(0, 93)}AA`;
    script(
      "tool_exec/05-change",
      'return { tool_calls: event.tool_calls.map((call) => ({ ...call, input: { path: "sub" } })) };',
    );
    script(
      "tool_done/50-change",
      `const [first, ...rest] = event.results; return { results: [{ ...first, content: "changed ${secret}", is_error: true }, ...rest] };`,
    );
    engine.bed.put("sub/inside.txt", "x");
    await open('reply\n  tool ls {"path": "."}\n  tool ls {"path": "."}\nreply\n  text: Done.\n');
    const events = await engine.turn("hi");
    const [, second = ""] = engine.requests;
    expect(second.match(/"input":\{"path":"sub"\}/g)).toHaveLength(2);
    expect(second).toContain("changed «redacted");
    expect(second).not.toContain(secret);
    const changes = events.filter(({ kind }) => kind === "ToolResultChanged");
    expect(changes).toMatchObject([{ payload: { tool: "ls", status: "error", by: "tool_done/50-change" } }]);
    const builder = new ConversationBuilder();
    const files = new MessageFold(0);
    for (const event of events) for (const reader of [builder, files]) reader.take(event);
    const rebuilt = builder.end().messages;
    expect(rebuilt.flatMap(({ content }) => content.filter(({ type }) => type === "tool_result"))).toMatchObject([
      { content: [{ text: expect.stringMatching(/^changed «redacted/) }], is_error: true },
      { content: [{ text: expect.stringContaining("inside.txt") }], is_error: false },
    ]);
    expect(JSON.stringify([...files.changed.values()])).toContain("changed «redacted");
    const calls = rebuilt.flatMap(({ content }) => content.filter(({ type }) => type === "tool_use"));
    expect(calls).toMatchObject([{ args: { path: "sub" } }, { args: { path: "sub" } }]);
  });

  verifies(["L2", "E1"], "replaces a built-in one, and the closest folder wins", async () => {
    engine.bed.program(join(engine.home, "config/hooks.d/assemble/30-instructions"), "#!/bin/sh\necho user > which\n");
    script("assemble/30-instructions", 'event.payload.system = "Only this."; return { payload: event.payload };');
    await open("reply\n  text: Done.\n");
    await engine.turn("hi");
    expect(engine.requests[0]).toContain("Only this.");
    expect(engine.requests[0]).not.toContain("You are");
    expect(existsSync(join(engine.bed.folder, "which"))).toBe(false);
  });

  verifies(["L2"], "chooses the next stage, and an empty one stops the turn", async () => {
    hook("tool_done/90-end", `echo '{"next_state": "done"}'`);
    await open(CALL);
    expect(ending(await engine.turn("hi"))).toBe("answered");
    expect(engine.requests).toHaveLength(1);
    hook("assemble/90-gate", 'echo \'{"next_state": ""}\'');
    await engine.bed.approveAll();
    expect(ending(await engine.turn("again"))).toContain("stopped: The hook assemble/90-gate stopped the turn");
    expect(engine.requests).toHaveLength(1);
  });

  verifies(["E1"], "comes and goes between turns, also in Perl", async (context) => {
    skipWithout(context, "perl");
    await open("reply\n  text: One.\nreply\n  text: Two.\n");
    await engine.turn("hi");
    hook("start/40-perl.pl", `print '{"context": "perl was here"}';`, "/usr/bin/perl");
    await engine.bed.approveAll();
    await engine.turn("again");
    expect(engine.requests[1]).toContain("perl was here");
  });
});

describe("a hook and permissions", () => {
  const gate = (answer: string) =>
    script("tool_exec/05-gate", `return { tool_calls: event.tool_calls.map((call) => ({ ...call, ...${answer} })) };`);

  verifies(
    ["L2", "P14"],
    "can deny a call, ask about it, and change its arguments before they are judged",
    async () => {
      gate('{decision: "deny", reason: "not on Sundays"}');
      await open(CALL);
      expect(resultsOf(await engine.turn("hi"))).toEqual([expect.stringMatching(/^denied: .*not on Sundays/)]);
    },
  );

  it("asks where the call would be allowed", async () => {
    gate('{decision: "ask", reason: "please look"}');
    await open(CALL);
    expect(resultsOf(await engine.turn("hi")).join()).toMatch(/denied: .*needs the user's permission.*please look/);
  });

  verifies(["L2"], "never allow a call, and changed arguments are checked", async () => {
    gate('{decision: "allow"}');
    await open('reply\n  tool bash {"command": "touch x"}\nreply\n  text: Done.\n', ["--permission-mode", "ask"]);
    expect(resultsOf(await engine.turn("hi")).join()).toMatch(/denied/);
    expect(engine.notes.join()).toContain("a hook can only make permissions stricter");
  });

  it("checks changed arguments", async () => {
    gate('{input: {command: "touch x"}}');
    await open('reply\n  tool bash {"command": "ls"}\nreply\n  text: Done.\n', ["--permission-mode", "ask"]);
    expect(resultsOf(await engine.turn("hi")).join()).toMatch(/denied/);
    expect(existsSync(join(engine.bed.folder, "x"))).toBe(false);
  });

  it("answers a call itself, and skips what it removes", async () => {
    script(
      "tool_exec/05-own",
      'return { results: [{ tool_use_id: event.tool_calls[0].id, content: "mine" }], tool_calls: [] };',
    );
    await open('reply\n  tool ls {}\n  tool ls {"path": "."}\nreply\n  text: Done.\n');
    expect(resultsOf(await engine.turn("hi"))).toEqual([
      "ok: mine",
      "skipped: Not run: the hook tool_exec/05-own removed it.",
    ]);
  });

  it("keeps the hooks that keep a session safe", async () => {
    hook("done/80-save", "exit 0");
    await open("reply\n  text: Done.\n");
    await engine.turn("hi");
    expect(engine.notes.join()).toContain("done/80-save is built in and keeps sessions safe");
  });
});

describe("a hook that misbehaves", () => {
  verifies(["E2", "L2"], "is contained and changes nothing; in tool_exec the calls do not run", async (context) => {
    skipWithout(context, "setsid");
    hook("start/10-crash", "exit 7");
    hook("start/20-flood", "yes");
    hook("start/30-fork", `for i in 1 2 3; do (setsid sleep ${NAP} &) ; done; echo '{}'`);
    hook("start/40-words", "echo hello");
    hook("start/50-list", "echo '[]'");
    hook("start/60-stage", `echo '{"next_state": "nowhere"}'`);
    hook("start/notahook", "echo x");
    hook("nostage/10-x", "echo x");
    hook("tool_exec/50-crash", "exit 7");
    hook("assemble/80-payload", `echo '{"payload": {"messages": [{"role": "system"}]}}'`);
    await open(CALL);
    // start/10-crash stands beside the built-in 10-input.
    const events = await engine.turn("hi");
    expect(ending(events)).toBe("answered");
    const notes = engine.notes.join("\n");
    for (const expected of [
      "start/10-crash exited with code 7",
      "start/20-flood printed more than 16 MB",
      "start/40-words printed no JSON: hello",
      "start/50-list printed JSON that is not an object",
      'start/60-stage named the unknown stage "nowhere"',
      "a hook is named NN-name",
      '"nostage" is not a stage',
      'assemble/80-payload printed a message whose "role" is neither user nor assistant',
    ])
      expect(notes).toContain(expected);
    expect(resultsOf(events).join()).toMatch(/denied: .*The hook failed: it exited with code 7/);
    expect(survivors(`sleep ${NAP}`)).toEqual([]);
  });
});

describe("a cancelled turn", () => {
  it("stops the hook that runs, and gives the hooks of done a second", async () => {
    hook("start/50-sleep", `echo started > begun; sleep ${NAP}`);
    hook("done/50-sleep", `sleep ${NAP}`);
    await open("reply\n  text: Done.\n");
    const begun = join(engine.bed.folder, "begun");
    const turn = engine.turn("hi");
    await expect.poll(() => existsSync(begun)).toBe(true);
    await engine.client.send("CancelTurn", {}, engine.session);
    expect(ending(await turn)).toBe("cancelled");
    expect(survivors(`sleep ${NAP}`)).toEqual([]);
  });
});

describe("the stage sources", () => {
  verifies(["E1"], "adds folders, which pass trust, and leaves others out", async () => {
    const more = join(engine.bed.outside, "more");
    const tool = (words: string) =>
      `#!/bin/bash\ncase $1 in --schema) echo '{"input_schema":{}}';; --exec) echo ${words};; esac\n`;
    engine.bed.program(join(engine.home, "config/tools/hello"), tool("user"));
    engine.bed.program(".oxbow/tools/wave", tool("project"));
    engine.bed.program(join(more, "tools/extra"), tool("extra"));
    script(
      "sources/50-own",
      `return { sources: [...event.sources.filter((each) => !each.endsWith("config")), "${more}"] };`,
    );
    await engine.bed.approveAll({ extra: [more] });
    const calls = ["hello", "wave", "extra"].map((name) => `  tool ${name} {}`).join("\n");
    await engine.open(`reply\n${calls}\nreply\n  text: Done.\n`);
    const results = resultsOf(await engine.turn("hi"));
    expect(results[0]).toContain('There is no tool "hello"');
    expect(results.slice(1)).toEqual(["ok: project", "ok: extra"]);
  });

  verifies(
    ["E1", "P14"],
    "adds folders whose files 'oxbow ack' and 'oxbow sources' show, and a run names",
    async () => {
      const more = join(engine.bed.outside, "more");
      engine.bed.program(join(more, "tools/extra"), "#!/bin/sh\n");
      const add = `#!/bin/sh\necho '{"sources": ["${more}"]}'\n`;
      engine.bed.program(join(engine.home, "config/hooks.d/sources/50-more"), add);
      await engine.bed.approveAll();
      await engine.open("reply\n  text: Done.\n");
      await engine.turn("hi");
      expect(engine.notes.join("\n")).toContain(join(more, "tools/extra"));
      const variables = { PATH: process.env.PATH, OXBOW_HOME: engine.home, HOME: engine.home };
      const flags = parseFlags(RUN_FLAGS, ["--cwd", engine.bed.folder], "run");
      const { extra } = await openReview(flags, variables);
      expect(extra).toEqual([more]);
      const { items } = await listExtensions({
        loaded: await loadSettings(flags, variables),
        variables,
        root: engine.bed.folder,
      });
      expect(items.filter(({ kind }) => kind === "tool")).toMatchObject([
        { path: join(more, "tools/extra"), state: "waiting" },
      ]);
    },
  );
});
