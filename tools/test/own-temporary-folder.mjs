/**
 * Gives the tests of a run their own temporary folder, and always removes it afterwards. Files that a test leaves there would stay on
 * the user's machine, so any leftover makes the run fail.
 */
import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Entries of other programs, which reuse them in their next run. */
const THEIRS = /^(?:node-compile-cache|v8-compile-cache-.*|node-jiti|tsx-\d+|vitest-.*)$/;
const SHOWN = 12;
/** A file system in memory, where Linux has one: the tests make hundreds of thousands of files. */
const MEMORY = "/dev/shm";
const ENOUGH_BYTES = 2 ** 31;

export default function setup() {
  const before = process.env.TMPDIR;
  // A short name, because the whole path of a socket is limited to 108 bytes.
  const folder = realpathSync(mkdtempSync(join(before === undefined ? base() : tmpdir(), "oxt-")));
  // Some tests run a command as another user, who needs access to folders below.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  return () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    const left = readdirSync(folder).filter((name) => !THEIRS.test(name));
    const inside = left.slice(0, SHOWN).map((name) => `${name} (${contentOf(join(folder, name))})`);
    rmSync(folder, { recursive: true, force: true });
    if (left.length === 0) return;
    const more = left.length > SHOWN ? ` and ${left.length - SHOWN} more` : "";
    throw new Error(`Tests left in the temporary folder: ${inside.join(", ")}${more}.`);
  };
}

/** Enough to recognise the test. */
function contentOf(path) {
  try {
    return readdirSync(path, { recursive: true }).slice(0, SHOWN).join(" ") || "empty";
  } catch {
    return "a file";
  }
}

function base() {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ENOUGH_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
