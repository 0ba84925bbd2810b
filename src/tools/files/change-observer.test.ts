import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { ObservedChange, ObservedEntry } from "../../system/observed-change.js";
import { Workspace } from "../workspace.js";

let base: string;
let observed: string[];
let workspace: Workspace;

function shown(entry: ObservedEntry | undefined): string {
  if (entry === undefined) return "nothing";
  if (entry.kind === "file") return `${entry.content?.toString()} ${entry.mode?.toString(8)}`;
  return entry.kind === "link" ? `→ ${entry.target}` : entry.kind;
}

/** Reads what stands there when the observer hears of it: it must still be what was there before. */
async function before({ absolute, before, after }: ObservedChange): Promise<void> {
  if (before?.kind === "file") expect(readFileSync(absolute)).toEqual(before.content);
  observed.push(`${absolute.slice(base.length + 1)}: ${shown(before)} ⇒ ${shown(after)}`);
}

beforeEach(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-observer-")));
  observed = [];
  workspace = await Workspace.open(base, { observer: { before } });
  writeFileSync(join(base, "a"), "1");
  chmodSync(join(base, "a"), 0o640);
  mkdirSync(join(base, "d/e"), { recursive: true });
  writeFileSync(join(base, "d/e/f"), "2");
  chmodSync(join(base, "d/e/f"), 0o644);
  symlinkSync("a", join(base, "l"));
});
afterEach(() => rmSync(base, { recursive: true }));

describe("the observer of a workspace", () => {
  verifies(["T10"], "is notified of every change before it happens, with the old content", async () => {
    await workspace.readText("a");
    await workspace.writeText("a", "1");
    expect(observed).toEqual([]);
    await workspace.writeText("a", "one");
    await workspace.writeText("new/folder/x", "x");
    await workspace.remove("l");
    await workspace.remove("new/folder/x");
    await workspace.remove("new/folder");
    await workspace.move("d", "m/d");
    expect(observed).toEqual([
      "a: 1 640 ⇒ one 640",
      "new: nothing ⇒ folder",
      "new/folder: nothing ⇒ folder",
      "new/folder/x: nothing ⇒ x undefined",
      "l: → a ⇒ nothing",
      "new/folder/x: x 644 ⇒ nothing",
      "new/folder: folder ⇒ nothing",
      "m: nothing ⇒ folder",
      "d: folder ⇒ nothing",
      "m/d: nothing ⇒ folder",
      "d/e: folder ⇒ nothing",
      "m/d/e: nothing ⇒ folder",
      "d/e/f: 2 644 ⇒ nothing",
      "m/d/e/f: nothing ⇒ 2 644",
    ]);
  });

  it("stops a change by failing", async () => {
    const failing = { before: () => Promise.reject(new Error("the disk is full.")) };
    workspace = await Workspace.open(base, { observer: failing });
    await workspace.readText("a");
    const message = "was not changed, because its content could not be backed up for undo: the disk is full.";
    await expect(workspace.writeText("a", "one")).rejects.toThrow(`a ${message}`);
    await expect(workspace.remove("d/e/f")).rejects.toThrow(`d/e/f ${message}`);
    await expect(workspace.move("a", "b")).rejects.toThrow(`a ${message}`);
    await expect(workspace.writeText("new/x", "one")).rejects.toThrow(`new ${message}`);
    expect(readFileSync(join(base, "a"), "utf8")).toBe("1");
    expect(readFileSync(join(base, "d/e/f"), "utf8")).toBe("2");
  });

  it("is not notified of refused changes", async () => {
    await expect(workspace.writeText("a", "unread")).rejects.toThrow();
    await expect(workspace.remove("missing")).rejects.toThrow();
    await expect(workspace.move("a", "d")).rejects.toThrow();
    expect(observed).toEqual([]);
  });
});
