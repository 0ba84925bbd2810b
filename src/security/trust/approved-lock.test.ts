import { spawn } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { ApprovedLock, type Decision, portableLock } from "./approved-lock.js";
import type { ContentItem, ContentKind } from "./content.js";
import { formatEntry, parseEntry } from "./lock-entry.js";
import { sha256 } from "./read-content.js";
import { ALICE, NOW, Testbed } from "./test-support/testbed.js";

let bed: Testbed;

beforeEach(() => {
  bed = new Testbed();
});

afterEach(() => bed.remove());

function item(text: string, over: Partial<ContentItem> = {}): ContentItem {
  return {
    root: "/project",
    path: "AGENTS.md",
    kind: "instructions",
    owner: "project",
    executable: false,
    sha256: sha256(text),
    size: text.length,
    ...over,
  };
}

async function decide(lock: ApprovedLock, what: ContentItem, { decision = "approved" as Decision, text = "" } = {}) {
  await lock.record({ decision, item: what, change: "prose", bytes: Buffer.from(text), by: ALICE, at: NOW() });
}

const file = () => join(bed.config, "approved.lock");

describe("the file", () => {
  it("is private, names who decided what and when, and lies in its folder alone", async () => {
    await decide(bed.lock(), item("x"), { text: "x" });
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file(), "utf8").trim())).toEqual({
      v: 1,
      root: "/project",
      path: "AGENTS.md",
      kind: "instructions",
      decision: "approved",
      sha256: sha256("x"),
      size: 1,
      executable: false,
      class: "prose",
      at: "2030-01-02T03:04:05.000Z",
      by: "alice",
    });
    expect(readdirSync(bed.folder)).toEqual([".git"]);
  });

  it("survives a line that was cut short, also when others come after it", async () => {
    await decide(bed.lock(), item("one"));
    appendFileSync(file(), '\n{"v":1,"root":"/project","path":"AGEN');
    expect(bed.lock().decisionOn(item("one"))?.decision).toBe("approved");
    await decide(bed.lock(), item("two"));
    expect(bed.lock().decisionOn(item("two"))?.decision).toBe("approved");
  });

  it("is not believed when other users can write to it", async () => {
    await decide(bed.lock(), item("x"));
    for (const mode of [0o666, 0o660, 0o620, 0o602]) {
      chmodSync(file(), mode);
      expect(() => bed.lock(), mode.toString(8)).toThrow(/other users.*chmod 600/s);
    }
    chmodSync(file(), 0o644);
    expect(bed.lock().decisionOn(item("x"))?.decision).toBe("approved");
  });

  needs("root").it("is not believed when it is another user's", async () => {
    await decide(bed.lock(), item("x"));
    chownSync(file(), 12_345, 12_345);
    const uid = vi.spyOn(process, "getuid").mockReturnValue(54_321);
    try {
      expect(() => bed.lock()).toThrow(/other users/);
      chownSync(file(), 54_321, 12_345);
      expect(bed.lock().decisionOn(item("x"))?.decision).toBe("approved");
    } finally {
      uid.mockRestore();
    }
  });

  it("is left alone when a later version wrote it", () => {
    writeFileSync(file(), '{"v":2,"decision":"withdrawn"}\n', { mode: 0o600 });
    expect(() => bed.lock()).toThrow(/later version/);
  });

  it.each(["[]", "7", "null", "{}", '{"v":1}', '{"v":"1"}', "\0\0"])(
    "skips lines that are not entries: %s",
    async (line) => {
      writeFileSync(file(), `${line}\n`, { mode: 0o600 });
      await decide(bed.lock(), item("x"));
      expect(bed.lock().decisionOn(item("x"))?.decision).toBe("approved");
    },
  );

  it("keeps every decision of several processes that write at once", async () => {
    const script = `
      import { ApprovedLock } from ${JSON.stringify(join(import.meta.dirname, "approved-lock.ts"))};
      const [file, contents, name] = process.argv.slice(2);
      const lock = new ApprovedLock({ file, contents });
      for (let n = 0; n < 25; n++) {
        const item = { root: "/p", path: name + n, kind: "tool", owner: "project", executable: true, sha256: ${JSON.stringify(sha256("x"))}, size: 1 };
        await lock.record({ decision: "approved", item, change: "executable", by: { identity: "human", name }, at: new Date(0) });
      }
    `;
    const path = join(bed.base, "writer.ts");
    const bundle = join(bed.base, "writer.mjs");
    writeFileSync(path, script);
    const { build } = await import("esbuild");
    await build({ entryPoints: [path], outfile: bundle, bundle: true, platform: "node", format: "esm" });
    const names = ["a", "b", "c", "d"];
    const codes = await Promise.all(
      names.map((name) => {
        const child = spawn(process.execPath, [bundle, file(), join(bed.base, "contents"), name], { stdio: "inherit" });
        return new Promise((resolve) => child.on("exit", resolve));
      }),
    );
    expect(codes).toEqual([0, 0, 0, 0]);
    const paths = bed
      .lock()
      .below("/p")
      .map((entry) => entry.path);
    expect(new Set(paths).size).toBe(100);
  });
});

describe("a decision", () => {
  it("counts for one folder, path, entry, kind and hash", async () => {
    const lock = bed.lock();
    await decide(lock, item("x"));
    expect(lock.decisionOn(item("x"))?.decision).toBe("approved");
    expect(lock.decisionOn(item("y"))).toBeUndefined();
    expect(lock.decisionOn(item("x", { root: "/other" }))).toBeUndefined();
    expect(lock.decisionOn(item("x", { path: "docs/AGENTS.md" }))).toBeUndefined();
    expect(lock.decisionOn(item("x", { entry: "hooks.Stop" }))).toBeUndefined();
    expect(lock.decisionOn(item("x", { kind: "hook" }))).toBeUndefined();
  });

  it("does not let a file of a skill become a program", async () => {
    const lock = bed.lock();
    const part = { kind: "skill-file" as const };
    await decide(lock, item("x", part));
    expect(lock.decisionOn(item("x", { ...part, executable: true }))).toBeUndefined();
  });

  it("is a person's: an agent's is an error and leaves nothing behind", async () => {
    const lock = bed.lock();
    const by = { identity: "agent" as const, name: "helper" };
    const record = lock.record({ decision: "approved", item: item("x"), change: "prose", by, at: NOW() });
    await expect(record).rejects.toThrow(/Only a person/);
    expect(existsSync(file())).toBe(false);
    expect(lock.decisionOn(item("x"))).toBeUndefined();
  });

  it("on a text is remembered for every version, on a program and on settings for the latest", async () => {
    for (const [kind, expected] of [
      ["instructions", "approved"],
      ["hook", undefined],
      ["profile", undefined],
      ["mcp", undefined],
    ] as const) {
      const lock = bed.lock();
      const path = kind;
      await decide(lock, item("one", { kind, path }));
      await decide(lock, item("two", { kind, path }));
      expect(lock.decisionOn(item("two", { kind, path }))?.decision).toBe("approved");
      expect(lock.decisionOn(item("one", { kind, path }))?.decision, kind).toBe(expected);
    }
  });

  it("can be taken back by refusing the same thing later", async () => {
    const lock = bed.lock();
    await decide(lock, item("x"));
    await decide(lock, item("x"), { decision: "refused" });
    expect(lock.decisionOn(item("x"))?.decision).toBe("refused");
    expect(bed.lock().decisionOn(item("x"))?.decision).toBe("refused");
  });
});

describe("the approved bytes", () => {
  it("are kept to compare with, only as long as they are the latest", async () => {
    const lock = bed.lock();
    await decide(lock, item("one"), { text: "one" });
    const first = lock.lastApproved(item("?"));
    expect(first && String(lock.bytesOf(first))).toBe("one");
    await decide(lock, item("two"), { text: "two" });
    expect(first && lock.bytesOf(first)).toBeUndefined();
    const folder = join(bed.base, "home/data/approved");
    expect(readdirSync(folder)).toEqual([sha256("two")]);
    expect(statSync(join(folder, sha256("two"))).mode & 0o777).toBe(0o600);
  });

  it("stay when another file still has them", async () => {
    const lock = bed.lock();
    await decide(lock, item("same", { path: "a" }), { text: "same" });
    await decide(lock, item("same", { path: "b" }), { text: "same" });
    await decide(lock, item("new", { path: "a" }), { text: "new" });
    const other = lock.lastApproved(item("?", { path: "b" }));
    expect(other && String(lock.bytesOf(other))).toBe("same");
  });

  it("are not believed when they were changed", async () => {
    const lock = bed.lock();
    await decide(lock, item("one"), { text: "one" });
    writeFileSync(join(bed.base, "home/data/approved", sha256("one")), "other");
    const entry = lock.lastApproved(item("?"));
    expect(entry && lock.bytesOf(entry)).toBeUndefined();
  });

  it("are not kept when they are large", async () => {
    const text = "x".repeat(256 * 1024 + 1);
    const lock = bed.lock();
    await decide(lock, item(text), { text });
    const entry = lock.lastApproved(item("?"));
    expect(entry && lock.bytesOf(entry)).toBeUndefined();
  });
});

describe("a portable lock", () => {
  it("counts for the project's files on another machine, not for anything else", async () => {
    const project = { root: bed.folder };
    await decide(bed.lock(), item("x", project));
    const portable = bed.put(
      join(bed.base, "ci.lock"),
      portableLock([item("x", project), item("y", project)], bed.lock()),
    );
    expect(readFileSync(portable, "utf8")).not.toContain(bed.base);
    const fresh = new ApprovedLock({
      file: join(bed.base, "none/approved.lock"),
      contents: join(bed.base, "none/contents"),
      portable: { file: portable, root: "/builds/7" },
    });
    expect(fresh.decisionOn(item("x", { root: "/builds/7" }))?.decision).toBe("approved");
    expect(fresh.decisionOn(item("y", { root: "/builds/7" }))).toBeUndefined();
    expect(fresh.decisionOn(item("x", { root: "/builds" }))).toBeUndefined();
    expect(fresh.decisionOn(item("x", { root: "/home/ci/.config/oxbow", owner: "user" }))).toBeUndefined();
    expect(existsSync(join(bed.base, "none"))).toBe(false);
  });

  it("yields to the user's own refusal", async () => {
    const mine = item("x", { root: bed.folder });
    await decide(bed.lock(), mine);
    const portable = bed.put(join(bed.base, "ci.lock"), portableLock([mine], bed.lock()));
    await decide(bed.lock(), mine, { decision: "refused" });
    expect(bed.lock(portable).decisionOn(mine)?.decision).toBe("refused");
  });

  it("must be whole", async () => {
    const portable = bed.put(join(bed.base, "ci.lock"), "{}\n");
    expect(() => bed.lock(portable)).toThrow(/entry 1 is not one of a lock file/);
    expect(() => bed.lock(join(bed.base, "missing.lock"))).toThrow(/cannot read/);
  });
});

describe("for all decisions", () => {
  const kinds: readonly ContentKind[] = ["hook", "mcp", "profile", "instructions", "skill-file"];
  const anyItem = fc.record({
    root: fc.constantFrom("/a", "/b\n", '/c"'),
    path: fc.oneof(fc.constantFrom("x", "y/z"), fc.string({ unit: "binary", minLength: 1, maxLength: 8 })),
    entry: fc.option(fc.constantFrom("hooks.Stop", "mcp_servers.\u2028"), { nil: undefined }),
    kind: fc.constantFrom(...kinds),
    executable: fc.boolean(),
    text: fc.constantFrom("1", "2", "3"),
    decision: fc.constantFrom<Decision>("approved", "refused"),
  });

  it("the file says what the memory says, and the last decision on a thing is the one that counts", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyItem, { minLength: 1, maxLength: 12 }), async (steps) => {
        const own = join(bed.base, `lock-${globalThis.crypto.randomUUID()}`);
        const options = { file: own, contents: join(bed.base, "contents") };
        const lock = new ApprovedLock(options);
        const items: ContentItem[] = [];
        for (const { text, entry, decision, ...rest } of steps) {
          const one = item(text, { ...rest, ...(entry !== undefined && { entry }) });
          items.push(one);
          await decide(lock, one, { decision, text });
          expect(lock.decisionOn(one)?.decision).toBe(decision);
        }
        const again = new ApprovedLock(options);
        for (const one of items) expect(again.decisionOn(one)).toEqual(lock.decisionOn(one));
      }),
      { numRuns: 40 },
    );
  });

  it("a line is read as it was written, and a damaged one never as an approval of something else", () => {
    fc.assert(
      fc.property(anyItem, fc.nat(), ({ text, entry, decision, ...rest }, cut) => {
        const { owner: _, ...fields } = item(text, rest);
        const whole = {
          ...fields,
          ...(entry !== undefined && { entry }),
          decision,
          class: "prose",
          at: "t",
          by: "b",
        } as const;
        const line = formatEntry(whole);
        expect(line).not.toContain("\n");
        expect(parseEntry(line, "f")).toEqual(whole);
        expect(parseEntry(line.slice(0, cut % line.length), "f")).toBeUndefined();
      }),
    );
  });
});
