import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TrustedItem } from "./content.js";
import { decideTrust } from "./decide.js";
import { ContentChanged, readTrusted, removeUnusedCopies, trustedCopies } from "./read-trusted.js";
import { Testbed } from "./test-support/testbed.js";

let bed: Testbed;

beforeEach(() => {
  bed = new Testbed();
});

afterEach(() => bed.remove());

async function trusted(path: string): Promise<TrustedItem> {
  await bed.approveAll();
  const options = { interactive: false, skipUnapproved: false, mayRun: () => true, asksAboutPrograms: true };
  const { load } = decideTrust({ review: await bed.review(), ...options });
  const found = load.find((item) => item.path === path);
  if (found === undefined) throw new Error(`${path} is not loaded`);
  return found;
}

describe("the bytes of approved content", () => {
  it("are those of the file", async () => {
    bed.put("AGENTS.md", "Be kind.\n");
    expect(String(await readTrusted(await trusted("AGENTS.md")))).toBe("Be kind.\n");
  });

  it("are those of the entry, in its canonical form", async () => {
    bed.put(".mcp.json", '{ "mcpServers": { "a": { "command": "a", "args": [] } } }');
    expect(String(await readTrusted(await trusted(".mcp.json")))).toBe('{"args":[],"command":"a"}');
  });

  const swaps: readonly (readonly [string, (path: string) => void])[] = [
    ["was rewritten", (path) => writeFileSync(path, "Be evil.\n")],
    ["was replaced", (path) => renameSync(bed.put("other", "Be evil.\n"), path)],
    ["is gone", (path) => rmSync(path)],
    [
      "became a link to other bytes",
      (path) => {
        rmSync(path);
        symlinkSync(bed.put("other", "Be evil.\n"), path);
      },
    ],
    [
      "became a link that leads outside to the same bytes",
      (path) => {
        rmSync(path);
        symlinkSync(bed.put(join(bed.outside, "same"), "Be kind.\n"), path);
      },
    ],
    [
      "became a pipe",
      (path) => {
        rmSync(path);
        spawnSync("mkfifo", [path]);
      },
    ],
  ];

  it.each(swaps)("are not given when the file %s", async (_, swap) => {
    const path = bed.put("AGENTS.md", "Be kind.\n");
    const item = await trusted("AGENTS.md");
    swap(path);
    await expect(readTrusted(item)).rejects.toThrow(ContentChanged);
  });

  it("are never others, however fast another process switches the file", async () => {
    const path = bed.put("AGENTS.md", "Be kind.\n");
    const item = await trusted("AGENTS.md");
    const code = `
      const { writeFileSync, renameSync } = require("node:fs");
      const path = ${JSON.stringify(path)};
      process.stdout.write("ready");
      for (let n = 0; ; n++) {
        writeFileSync(path + ".new", n % 2 ? "Be kind.\\n" : "Be evil.\\n");
        renameSync(path + ".new", path);
      }`;
    const { spawn } = await import("node:child_process");
    const attacker = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "ignore"] });
    try {
      await new Promise((resolve) => attacker.stdout.once("data", resolve));
      const results = new Set<string>();
      for (let round = 0; round < 2000; round++) {
        const result = await readTrusted(item).catch((error: Error) => error.name);
        results.add(String(result));
      }
      expect([...results].filter((result) => result !== "Be kind.\n" && result !== "ContentChanged")).toEqual([]);
    } finally {
      attacker.kill("SIGKILL");
    }
  });

  it("say what changed and what to do", async () => {
    const path = bed.put("AGENTS.md", "one");
    const item = await trusted("AGENTS.md");
    writeFileSync(path, "two");
    const error = await readTrusted(item).catch((caught: unknown) => caught as ContentChanged);
    expect(error).toBeInstanceOf(ContentChanged);
    expect((error as ContentChanged).failure.reason).toBe("HookHashChanged");
    expect((error as ContentChanged).message).toContain(path);
  });
});

describe("approved programs", () => {
  const folder = () => join(bed.base, "home/data/programs");
  const copyOf = async (item: TrustedItem, items = [item]) => (await trustedCopies(items, folder())).get(item) ?? "";

  it("run from private copies, whatever happens to the originals afterwards", async () => {
    const path = bed.program(".oxbow/tools/t", "#!/bin/sh\necho good\n");
    const item = await trusted(".oxbow/tools/t");
    const copy = await copyOf(item);
    writeFileSync(path, "#!/bin/sh\necho evil\n");
    expect(spawnSync(copy).stdout.toString()).toBe("good\n");
    expect(statSync(copy).mode & 0o777).toBe(0o500);
    await expect(copyOf(item)).rejects.toThrow(ContentChanged);
  });

  it("are removed when no process used them for a month", async () => {
    bed.program(".oxbow/tools/t");
    const copy = await copyOf(await trusted(".oxbow/tools/t"));
    removeUnusedCopies(folder(), Date.now());
    expect(existsSync(copy)).toBe(true);
    removeUnusedCopies(folder(), Date.now() + 31 * 24 * 3600 * 1000);
    expect(existsSync(copy)).toBe(false);
  });

  it("find their approved companions, and no others", async () => {
    bed.program(".oxbow/tools/t", '#!/bin/sh\ncd "$(dirname "$0")" && cat lib/a.txt lib/b.txt\n');
    bed.put(".oxbow/tools/lib/a.txt", "approved\n");
    const items = [await trusted(".oxbow/tools/t"), await trusted(".oxbow/tools/lib/a.txt")] as const;
    bed.put(".oxbow/tools/lib/b.txt", "not approved\n");
    expect(spawnSync(await copyOf(items[0], [...items])).stdout.toString()).toBe("approved\n");
  });

  it("are copied again when another process changed the copy", async () => {
    bed.program(".oxbow/tools/t", "#!/bin/sh\necho good\n");
    const item = await trusted(".oxbow/tools/t");
    const copy = await copyOf(item);
    chmodSync(copy, 0o700);
    writeFileSync(copy, "#!/bin/sh\necho evil\n");
    chmodSync(copy, 0o500);
    expect(spawnSync(await copyOf(item)).stdout.toString()).toBe("good\n");
  });

  it("have a new copy when one of them is another", async () => {
    bed.program(".oxbow/tools/t", "#!/bin/sh\necho one\n");
    const first = await copyOf(await trusted(".oxbow/tools/t"));
    bed.program(".oxbow/tools/t", "#!/bin/sh\necho two\n");
    const second = await copyOf(await trusted(".oxbow/tools/t"));
    expect(spawnSync(second).stdout.toString()).toBe("two\n");
    expect(first).not.toBe(second);
  });
});
