import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock, systemClock } from "../../base/clock.js";
import { holdLockSync } from "../../system/file-lock.js";
import { processMark } from "../../system/process-identity.js";
import { Placeholders } from "./placeholders.js";

let base: string;
let git: string;
let state: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "oxbow-places-"));
  git = join(base, ".git");
  state = join(base, "state");
});
afterEach(() => rmSync(base, { recursive: true }));

/** Each has a note of its own, as one in another process has. */
const open = () => new Placeholders({ clock: new ManualClock(), lingerMs: 0, folder: state });
const absent = () => ({ pinned: [], readOnly: [git], missing: [{ path: git }] });
const present = () => ({ pinned: [], readOnly: [git], missing: [] });
const deadMark = () => processMark().replace(/^\d+/, String(spawnSync("true").pid));

describe("placeholders of two processes in one workspace", () => {
  it.each([
    ["found it", present],
    ["wanted it too", absent],
  ])("stay while another process that %s needs them, and go with the last one", (_, guards) => {
    const [first, second] = [open(), open()];
    const one = first.hold(absent());
    const two = second.hold(guards());
    expect(two?.folders).toEqual([git]);
    one?.release();
    expect(existsSync(git)).toBe(true);
    const again = first.hold(present());
    two?.release();
    expect(existsSync(git)).toBe(true);
    again?.release();
    expect([existsSync(git), readdirSync(state)]).toEqual([false, []]);
  });

  it("are searched again when one was removed before it was claimed", () => {
    expect(open().hold(present())).toBeUndefined();
    expect(readdirSync(state)).toEqual([]);
  });

  it("that a killed process has left stay while another one needs them", () => {
    const held = open().hold(absent());
    writeFileSync(join(state, `placeholders-${deadMark()}-1.json`), JSON.stringify([{ path: git }]));
    open().sweep();
    expect([existsSync(git), readdirSync(state).length]).toEqual([true, 1]);
    held?.release();
    expect([existsSync(git), readdirSync(state)]).toEqual([false, []]);
  });

  it("that another program has made belong to it", () => {
    mkdirSync(git);
    const held = open().hold(absent());
    expect(held?.folders).toEqual([]);
    const second = open().hold(present());
    second?.release();
    held?.release();
    expect(existsSync(git)).toBe(true);
  });

  it("do not wait for a lock whose holder was killed", () => {
    mkdirSync(state);
    const lock = join(state, "placeholders.lock");
    const other = holdLockSync(lock, { clock: systemClock });
    const mark = readlinkSync(lock).split("_");
    other.release();
    symlinkSync(mark.with(2, String(spawnSync("true").pid)).join("_"), lock);
    const held = open().hold(absent());
    expect(held?.folders).toEqual([git]);
    held?.release();
    expect([existsSync(git), readdirSync(state)]).toEqual([false, []]);
  });
});
