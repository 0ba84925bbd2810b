import { spawnSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { asOrdinaryUser } from "../../../test/support/ordinary-user.js";
import { until } from "../../../test/support/waiting.js";
import { verifies } from "../../../test/verifies.js";
import { text } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventBody, EventPayloads, ToolStatus } from "../../protocol/events.js";
import type { CallId } from "../../protocol/ids.js";
import { redact } from "../../security/redact/redact.js";
import { MarkdownRecorder, type MarkdownRecorderOptions } from "./markdown-recorder.js";

const START = Date.UTC(2026, 0, 31, 14, 5, 9);
const USAGE = { input: 1200, output: 34, cache_read: 0, cache_write: 0, reasoning: 0 };

let folder: string;
let problems: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-record-"));
  problems = [];
});

afterEach(() => rm(folder, { recursive: true, force: true }));

function recorderIn(workspace: string, options: Partial<MarkdownRecorderOptions> = {}): MarkdownRecorder {
  return new MarkdownRecorder({
    workspace,
    model: () => "test:mock",
    redact,
    wall: () => START,
    onProblem: (message) => problems.push(message),
    timeZone: "UTC",
    ...options,
  });
}

/** Feeds a recorder as the bus of a session does. */
class Session {
  readonly #recorder: MarkdownRecorder;
  #id = 0;

  constructor(recorder: MarkdownRecorder) {
    this.#recorder = recorder;
  }

  take(body: EventBody): this {
    const event = { ...body, id: ++this.#id, session: "sess_1", originator: "cli_1", ts: "2026-01-31T14:05:10.000Z" };
    this.#recorder.take(event as Envelope);
    return this;
  }

  started(input: string): this {
    return this.take({ kind: "TurnStarted", payload: { turn: "turn_1", input: [text(input)] } });
  }

  said(...deltas: string[]): this {
    for (const delta of deltas) this.take({ kind: "TextDelta", payload: { text: delta } });
    return this;
  }

  called(call: CallId, tool: string, args: EventPayloads["ToolCallStarted"]["args"]): this {
    return this.take({ kind: "ToolCallStarted", payload: { call, tool, args } });
  }

  returned(call: CallId, tool: string, output: string, status: ToolStatus = "ok"): this {
    return this.take({ kind: "ToolResult", payload: { call, tool, status, content: [text(output)] } });
  }

  paid(): this {
    const payload = { turn: "turn_1" as const, provider: "test", model: "mock", usage: USAGE, elapsed_ms: 5 };
    return this.take({ kind: "CostIncremented", payload });
  }

  ended(more: Partial<EventPayloads["TurnEnded"]> = {}): this {
    const payload = { turn: "turn_1" as const, outcome: "answered" as const, text: "", iterations: 1, usage: USAGE };
    return this.take({ kind: "TurnEnded", payload: { ...payload, ...more } });
  }
}

async function record(feed: (session: Session) => void, options?: Partial<MarkdownRecorderOptions>): Promise<string> {
  const recorder = recorderIn(folder, options);
  const { file } = await recorder.start("out.md");
  feed(new Session(recorder));
  await recorder.stop();
  expect(problems).toEqual([]);
  return (await readFile(file, "utf8")).split("### Turn 1\n\n")[1] ?? "";
}

describe("what a recording holds", () => {
  verifies(["S8"], "a header, and numbered turns with input, answer, calls, results and outcome", async () => {
    const recorder = recorderIn(folder);
    const { file, continued } = await recorder.start();
    expect(file).toBe(join(folder, "oxbow-session-20260131-140509.md"));
    expect(continued).toBe(false);
    new Session(recorder)
      .started("List the files\n\nplease")
      .take({ kind: "ThinkingDelta", payload: { text: "hidden" } })
      .said("Let me ", "look.")
      .called("call_1", "bash", { command: "ls -la" })
      .called("call_2", "grep", { pattern: "x", path: "src" })
      .paid()
      .take({
        kind: "PermissionResolved",
        payload: { call: "call_1", tool: "bash", decision: "allow_once", decided_by: "person" },
      })
      .returned("call_1", "bash", "one\ntwo\n")
      .returned("call_2", "grep", "nothing", "error")
      .said("Two files.")
      .paid()
      .ended({ iterations: 2 })
      .started("Thanks")
      .said("Welcome.")
      .ended({ outcome: "failed", failure: { reason: "Internal", message: "It broke." }, truncated: true });
    expect(recorder.status()).toEqual({ recording: true, file, started_at: "2026-01-31T14:05:09.000Z", turns: 2 });
    expect(await recorder.stop()).toEqual({ file, turns: 2 });
    expect(recorder.status()).toEqual({ recording: false });
    expect(await readFile(file, "utf8")).toBe(`<!-- oxbow recording 1 -->
# Oxbow session

- Started: 2026-01-31T14:05:09.000Z
- Model: \`test:mock\`
- Workspace: \`${folder}\`

### Turn 1

> List the files
>
> please

Let me look.

**Call 1: \`bash\`** \`ls -la\`

**Call 2: \`grep\`** \`pattern=x path=src\`

*Permission for bash: allowed (person)*

**Result 1: ok**

    one
    two

**Result 2: error**

    nothing

Two files.

*answered · 2 model calls · 1,200 in, 34 out · test:mock*

### Turn 2

> Thanks

Welcome.

*The answer was cut off at the model's output limit.*

> It broke.

*failed · 1 model call · 1,200 in, 34 out*

`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(problems).toEqual([]);
  });

  verifies(["S8", "S4"], "no secret, even if it came in two deltas or is where a result is cut", async () => {
    const token = ["ghp", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].join("_");
    const written = await record((session) => {
      session.started(`my token is ${token}`).said(`It is ${token.slice(0, 12)}`, `${token.slice(12)}, keep it.`);
      session.called("call_1", "bash", { command: `curl -H 'Authorization: Bearer ${token}'` });
      session.returned("call_1", "bash", `${"x".repeat(980)} ${token.slice(0, 8)}\u001b[0m${token.slice(8)}`).ended();
    });
    for (let length = 12; length <= token.length; length++) expect(written).not.toContain(token.slice(0, length));
    expect(written).toMatch(/It is «redacted:[^»]+», keep it\./);
  });

  it("the beginning of a long result, an image by its name", async () => {
    const written = await record((session) => {
      session.started("x").called("call_1", "t", {});
      session.returned("call_1", "t", Array.from({ length: 30 }, (_, n) => `line ${n + 1}`).join("\n"));
      const image = { type: "image" as const, media_type: "image/png", data: "AAAA" };
      const payload = { call: "call_9" as const, tool: "shot", status: "ok" as const, content: [image] };
      session.take({ kind: "ToolResult", payload }).ended();
    });
    expect(written).toContain("**Call 1: `t`**\n\n**Result 1: ok**\n\n    line 1\n");
    expect(written).toContain("    line 10\n    … 20 more lines\n\n**Result `shot`: ok**\n\n    [image/png]\n\n");
    expect(written).not.toContain("line 11");
  });

  it("texts that cannot change what follows them", async () => {
    const written = await record((session) => {
      session.started("```\n### Turn 7\n<!--").said("### Turn 8\n```ts\ncut off");
      session.called("call_1", "w`x", { a: "`\n### Turn 9" }).returned("call_1", "w", "### Turn 10\n```").ended();
      session.started("next").ended();
    });
    expect(written).toContain("> ```\n> ### Turn 7\n> <!--\n\n\\### Turn 8\n```ts\ncut off\n```\n\n");
    expect(written).toContain(
      "**Call 1: ``w`x``** `` `␊### Turn 9 ``\n\n**Result 1: ok**\n\n    ### Turn 10\n    ```\n\n",
    );
    expect(written.match(/^### Turn \d+$/gm)).toEqual(["### Turn 2"]);
  });

  it("no control characters", async () => {
    const written = await record((session) => {
      session
        .started("a\u001b]0;x\u0007")
        .said("b\u001b", "[31mred\r\n")
        .called("call_1", "t", { a: "\u009b2J" })
        .ended();
    });
    expect(written).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(written).toContain("bred\n");
  });

  it("compaction and gaps; and that a turn never ended", async () => {
    const written = await record((session) => {
      session
        .started("x")
        .said("half")
        .take({ kind: "StreamGap", payload: { from: 3, to: 5, reason: "slow" } });
      session.take({ kind: "CompactionTriggered", payload: { turn: "turn_1", reason: "too long" } });
      session.said("an answer").started("y").said("more");
    });
    expect(written).toBe(`> x

half

*Events 3–5 are missing: slow*

*The conversation was compacted: too long*

an answer

*This turn has no end in the log.*

### Turn 2

> y

more

*The recording stopped before the turn ended.*

`);
  });

  it("nothing from outside of turns", async () => {
    const recorder = recorderIn(folder);
    const session = new Session(recorder).started("before").said("lost");
    const { file } = await recorder.start("out.md");
    session
      .said("middle of a turn")
      .ended()
      .called("call_1", "bash", { command: "!ls" })
      .returned("call_1", "bash", "x");
    session.started("seen").ended();
    await recorder.stop();
    session.started("after").ended();
    const written = await readFile(file, "utf8");
    expect(written.match(/^> .*$/gm)).toEqual(["> seen"]);
    expect(written).not.toMatch(/middle|!ls|lost|after/);
  });
});

describe("the file of a recording", () => {
  verifies(["S8"], "is on the disk after every turn, before the recording stops", async () => {
    const recorder = recorderIn(folder);
    const { file } = await recorder.start("live.md");
    const session = new Session(recorder).started("one").said("first").ended();
    await until(async () => (await readFile(file, "utf8")).includes("*answered"));
    session.started("two");
    await until(async () => (await readFile(file, "utf8")).includes("> two"));
    await recorder.stop();
  });

  it("keeps the order however fast the events come", async () => {
    const recorder = recorderIn(folder);
    const { file } = await recorder.start("fast.md");
    const session = new Session(recorder);
    for (let turn = 1; turn <= 300; turn++) session.started(`q${turn}`).said(`a${turn}`).ended();
    await recorder.stop();
    const written = (await readFile(file, "utf8")).match(/^(> q|a)\d+$/gm) ?? [];
    const expected = Array.from({ length: 300 }, (_, n) => [`> q${n + 1}`, `a${n + 1}`]).flat();
    expect(written).toEqual(expected);
  });

  verifies(["S8"], "is continued when it is a recording, with the turns counted on", async () => {
    const first = recorderIn(folder);
    await first.start("log.md");
    new Session(first).started("one").said("### Turn 40").ended().started("two").ended();
    await first.stop();
    const second = recorderIn(folder, { wall: () => START + 60_000, model: () => "other:model" });
    expect(await second.start("log.md")).toEqual({ file: join(folder, "log.md"), continued: true });
    new Session(second).started("three").ended();
    expect(await second.stop()).toMatchObject({ turns: 1 });
    const written = await readFile(join(folder, "log.md"), "utf8");
    expect(written.match(/^### Turn \d+$/gm)).toEqual(["### Turn 1", "### Turn 2", "### Turn 3"]);
    expect(written).toContain("\n---\n\n- Continued: 2026-01-31T14:06:09.000Z\n- Model: `other:model`\n");
    expect(written.match(/oxbow recording/g)).toHaveLength(1);
  });

  verifies(["S8"], "is never one that holds something else", async () => {
    const notes = join(folder, "notes.md");
    await writeFile(notes, "# My notes\n");
    const recorder = recorderIn(folder);
    await expect(recorder.start("notes.md")).rejects.toThrow(
      `${notes} exists and is not a recording, so it is left alone. Choose another name, or move it away.`,
    );
    expect(await readFile(notes, "utf8")).toBe("# My notes\n");
    expect(recorder.status()).toEqual({ recording: false });
    await mkdir(join(folder, "sub"));
    await expect(recorder.start("sub")).rejects.toThrow(/cannot write .*: it is a folder\.$/);
    await symlink("/dev/null", join(folder, "device.md"));
    await expect(recorder.start("device.md")).rejects.toThrow(/is not an ordinary file/);
    await symlink(join(folder, "nowhere", "x.md"), join(folder, "dangling.md"));
    await expect(recorder.start("dangling.md")).rejects.toThrow(/There is no folder/);
  });

  it("may be empty before, and may be anywhere", async () => {
    await writeFile(join(folder, "empty.md"), "");
    const recorder = recorderIn(join(folder, "elsewhere"));
    expect(await recorder.start(join(folder, "empty.md"))).toMatchObject({ continued: false });
    await recorder.stop();
    expect(await readFile(join(folder, "empty.md"), "utf8")).toMatch(/^<!-- oxbow recording 1 -->\n# Oxbow session\n/);
  });

  it("has a new name when none is given, also in the same second", async () => {
    const names: string[] = [];
    for (let round = 0; round < 3; round++) {
      const recorder = recorderIn(folder);
      await recorder.start();
      await recorder.stop();
    }
    names.push(...(await readdir(folder)).sort());
    const stem = "oxbow-session-20260131-140509";
    expect(names).toEqual([`${stem}-2.md`, `${stem}-3.md`, `${stem}.md`]);
  });

  it("has the local time in its name", async () => {
    const recorder = recorderIn(folder, { timeZone: "Asia/Tokyo" });
    expect((await recorder.start()).file).toBe(join(folder, "oxbow-session-20260131-230509.md"));
    await recorder.stop();
  });

  it("is refused where there is no folder or no right to write", async () => {
    const recorder = recorderIn(folder);
    await expect(recorder.start("no/such/x.md")).rejects.toThrow(
      `There is no folder ${join(folder, "no/such")} for x.md. Make it first, or choose another.`,
    );
    await chmod(folder, 0o555);
    await asOrdinaryUser(() => expect(recorder.start("x.md")).rejects.toThrow(/you may not write there/));
    await chmod(folder, 0o700);
  });
});

describe("starting and stopping", () => {
  it("refuses a second recording, names the first, and can record again after it", async () => {
    const recorder = recorderIn(folder);
    const starting = recorder.start("a.md");
    await expect(recorder.start("b.md")).rejects.toThrow("Already recording.");
    const { file } = await starting;
    await expect(recorder.start("b.md")).rejects.toThrow(`Already recording to ${file}. End that first: /record stop.`);
    await recorder.stop();
    await recorder.start("b.md");
    await recorder.stop();
    expect((await readdir(folder)).sort()).toEqual(["a.md", "b.md"]);
  });

  it("has nothing to stop when nothing is recorded", async () => {
    expect(await recorderIn(folder).stop()).toBeUndefined();
  });

  verifies(["S8"], "ends with the session", async () => {
    const recorder = recorderIn(folder);
    await recorder.start("a.md");
    const session = new Session(recorder).started("x").said("y").ended();
    session.take({ kind: "SessionEnded", payload: { reason: "user" } });
    expect(recorder.status()).toEqual({ recording: false });
    expect(await recorder.stop()).toMatchObject({ turns: 1 });
    expect(await readFile(join(folder, "a.md"), "utf8")).toContain("*answered");
    expect(await recorder.stop()).toBeUndefined();
  });
});

describe("what goes wrong while recording", () => {
  verifies(["S8"], "a folder that is removed is reported once and ends the recording, not the turn", async () => {
    const recorder = recorderIn(join(folder));
    await mkdir(join(folder, "gone"));
    const { file } = await recorder.start("gone/a.md");
    const session = new Session(recorder).started("x");
    await rm(join(folder, "gone"), { recursive: true });
    session.said("y").ended().started("z").ended();
    await until(async () => problems.length > 0);
    session.started("more").ended();
    const problem = `The recording to ${file} has ended: the file, or its folder, was removed.`;
    expect(problems).toEqual([problem]);
    expect(recorder.status()).toEqual({ recording: false, problem });
    expect(await recorder.stop()).toBeUndefined();
    await recorder.start("again.md");
    expect(recorder.status()).toMatchObject({ recording: true });
    await recorder.stop();
  });

  it("a file that took the place of ours is noticed and not written to", async () => {
    const recorder = recorderIn(folder);
    const { file } = await recorder.start("a.md");
    await rename(file, join(folder, "moved.md"));
    await writeFile(file, "mine");
    new Session(recorder).started("x").ended();
    expect(await recorder.stop()).toMatchObject({
      problem: expect.stringContaining("another file has replaced it"),
    });
    expect(await readFile(file, "utf8")).toBe("mine");
    expect(problems).toHaveLength(1);
  });

  it("a redaction or a listener that throws does not reach the turn", async () => {
    const recorder = recorderIn(folder, {
      redact: (value) => {
        if (value.includes("bad")) throw new Error("no pattern");
        return value;
      },
      onProblem: (message) => {
        problems.push(message);
        throw new Error("a listener failed");
      },
    });
    const { file } = await recorder.start("a.md");
    new Session(recorder).started("fine").said("bad").ended();
    expect(problems).toEqual([`The recording to ${file} has ended: no pattern`]);
    expect(recorder.status()).toMatchObject({ recording: false });
    expect(await recorder.stop()).toBeUndefined();
  });

  verifies(["S8"], "a disk that takes no more is reported once", async () => {
    const child = join(folder, "child.mjs");
    await build({
      entryPoints: [fileURLToPath(new URL("./test-support/full-disk.child.ts", import.meta.url))],
      outfile: child,
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "silent",
    });
    // The system's limit on a file's size stands for the disk's: the write fails in the same place.
    const limited = `trap '' XFSZ; ulimit -f 8; exec "$@"`;
    const file = join(folder, "full.md");
    const ended = spawnSync("bash", ["-c", limited, "bash", process.execPath, child, file], { encoding: "utf8" });
    expect(ended.stderr).toBe("");
    const problem = `The recording to ${file} has ended: the file has reached the largest size that is allowed.`;
    expect(JSON.parse(ended.stdout)).toEqual({
      problems: [problem],
      stopped: null,
      status: { recording: false, problem },
    });
    expect(await readFile(file, "utf8")).toContain("### Turn 1\n\n> question\n\nanswer answer");
  });
});
