import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { findForeignSessions } from "./discover.js";
import { importTranscript } from "./import.js";
import { linesOf } from "./lines.js";
import { ClaudeLines, CodexLines, collect, OPTIONS } from "./test-support/sample.js";
import { unpackedFile } from "./unpack.js";

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "oxbow-discover-"));
});

afterEach(() => rm(home, { recursive: true }));

async function put(path: string, lines: readonly string[], day: number): Promise<string> {
  const full = join(home, path);
  await mkdir(dirname(full), { recursive: true });
  await writeFile(full, `${lines.join("\n")}\n`);
  const written = new Date(Date.UTC(2026, 5, day));
  await utimes(full, written, written);
  return full;
}

function claude(words: string, more = ""): string[] {
  const lines = new ClaudeLines();
  lines.user(words);
  lines.assistant("m1", { type: "text", text: `ok ${more}` });
  return lines.text();
}

function codex(words: string): string[] {
  const lines = new CodexLines();
  lines.user("<environment_context>\n<cwd>/x</cwd>\n</environment_context>");
  lines.user(words);
  lines.assistant("ok");
  return lines.text();
}

describe("transcripts of other programs", () => {
  verifies(["S6", "S10"], "are found, the newest first, with their subject", async () => {
    const old = await put(".claude/projects/-home-ann-project/one.jsonl", claude("an old question\nwith details"), 1);
    const rollout = await put(
      ".codex/sessions/2026/06/03/rollout-2026-06-03T10-00-00-id.jsonl",
      codex("a newer one"),
      3,
    );
    const archived = await put(".codex/archived_sessions/rollout-2026-06-02T10-00-00-id.jsonl", codex("put away"), 2);
    await put(".claude/projects/-home-ann-project/agent-a1.jsonl", claude("a sub-agent"), 9);
    await put(".claude/projects/-home-ann-project/one/subagents/agent-a2.jsonl", claude("another"), 9);
    await put(".claude/projects/-home-ann-project/stub.jsonl", ['{"type":"summary","summary":"x","leafUuid":"y"}'], 9);
    await put(".claude/projects/-home-ann-project/broken.jsonl", ["not JSON"], 9);
    await put(".codex/history.jsonl", ['{"text":"x"}'], 9);
    const place = { cwd: "/home/ann/project" };
    expect(await findForeignSessions({ home })).toEqual([
      {
        path: rollout,
        kind: "codex",
        ...place,
        started: "2026-05-01T09:00:00.000Z",
        active: "2026-06-03T00:00:00.000Z",
        title: "a newer one",
      },
      expect.objectContaining({ path: archived, title: "put away" }),
      {
        path: old,
        kind: "claude-code",
        ...place,
        started: "2026-02-01T12:00:01.000Z",
        active: "2026-06-01T00:00:00.000Z",
        title: "an old question",
      },
    ]);
  });

  it("are none where the programs were never used", async () => {
    expect(await findForeignSessions({ home })).toEqual([]);
    expect(await findForeignSessions({ home: join(home, "nobody") })).toEqual([]);
  });

  it("are searched where the programs are configured to keep them", async () => {
    await put("c/projects/p/one.jsonl", claude("here"), 1);
    await put("d/sessions/2026/01/01/rollout-x.jsonl", codex("there"), 2);
    const found = await findForeignSessions({ home, claudeFolder: join(home, "c"), codexFolder: join(home, "d") });
    expect(found.map(({ title }) => title)).toEqual(["there", "here"]);
  });

  it("are known by their beginning, however long they are", async () => {
    const lines = new ClaudeLines();
    // What comes first is longer than the first look.
    lines.system("informational", { content: "x".repeat(50_000) });
    lines.user("a long talk");
    for (let at = 0; at < 40; at++) lines.assistant(`m${at}`, { type: "text", text: "x".repeat(20_000) });
    lines.other({ type: "custom-title", customTitle: "Only at the end", sessionId: "s-1" });
    await put(".claude/projects/p/long.jsonl", lines.text(), 1);
    expect(await findForeignSessions({ home })).toMatchObject([{ title: "a long talk", cwd: "/home/ann/project" }]);
  });

  verifies(["S6"], "can be read from their files, whatever is inside of a line", async () => {
    const separators = "one\u2028two\u2029three\rfour";
    const path = await put(".claude/projects/p/odd.jsonl", ["", ...claude(separators), "", "{"], 1);
    const read = () => linesOf(unpackedFile(path, { path: "", avoid: "/" }));
    const lines = await collect(read());
    expect(lines).toHaveLength(5);
    const { events, notes } = await importTranscript(read(), OPTIONS);
    const [started] = await collect(events);
    expect(started?.payload).toMatchObject({ input: [{ type: "text", text: separators }] });
    expect(notes).toEqual(["Line 5 was left out: it is not JSON."]);
  });

  verifies(["S6"], "can be read when they are packed", async () => {
    const words = `${codex("put away").join("\n")}\n`;
    const plain = await put("plain.jsonl", codex("put away"), 1);
    const [gzip, zstd] = [join(home, "x.jsonl.gz"), join(home, ".codex/sessions/rollout-x.jsonl.zst")];
    await mkdir(dirname(zstd), { recursive: true });
    await writeFile(gzip, gzipSync(words));
    await writeFile(zstd, storedAsZstd(Buffer.from(words)));
    expect(await findForeignSessions({ home })).toMatchObject([{ path: zstd, kind: "codex" }]);
    // It skips what a stored frame has before its content.
    await writeFile(join(home, "zstd"), '#!/bin/sh\n[ "$1" = -dcq ] && tail -c +11 "$3"\n', { mode: 0o755 });
    const read = (file: string, path = home) => collect(linesOf(unpackedFile(file, { path, avoid: "/nowhere" })));
    expect(await read(gzip)).toEqual(await read(plain));
    expect(await read(zstd)).toEqual(await read(plain));
    await writeFile(gzip, gzipSync(words).subarray(0, 40));
    await expect(read(gzip)).rejects.toThrow(`cannot unpack ${gzip}: unexpected end`);
    const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
    if (major > 22 || (major === 22 && minor >= 15)) return;
    await expect(read(zstd, "")).rejects.toThrow("Install the program 'zstd'");
    await writeFile(join(home, "zstd"), "#!/bin/sh\necho 'broken frame' >&2; exit 1\n", { mode: 0o755 });
    await expect(read(zstd)).rejects.toThrow(`cannot unpack ${zstd}: broken frame`);
  });
});

/** A zstd frame of one block that is stored as it is: 256 to 65,791 bytes. */
function storedAsZstd(bytes: Buffer): Buffer {
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x60, 0, 0, 0, 0, 0]);
  header.writeUInt16LE(bytes.length - 256, 5);
  header.writeUIntLE((bytes.length << 3) | 1, 7, 3);
  return Buffer.concat([header, bytes]);
}
