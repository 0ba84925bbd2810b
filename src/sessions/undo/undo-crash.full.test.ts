/** The process is killed in the middle of and after every single change it makes; whatever is found then can be undone. */

import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, onTestFinished } from "vitest";
import { sample } from "../../../test/support/thorough.js";
import { verifies } from "../../../test/verifies.js";
import { StoreError } from "../store.js";
import { treeOf, UndoPlace } from "./test-support/undo-place.js";

/** Counts the calls that change files, and dies in the middle of one (`half`, a write) or after it. Only locks use `writeFileSync`. */
const PROGRAM = `
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";

const [base, session, what, at, when] = process.argv.slice(2);
const calls = [];
let armed = false;
let inLock = false;
const die = () => { process.kill(process.pid, "SIGKILL"); for (;;); };
const watch = (holder, name) => {
  const original = holder[name];
  holder[name] = function (...args) {
    // Taking and giving back the lock says nothing about files.
    const isLock = inLock || /[/](lock|holder[.]\\d+)$/.test(args[0]);
    if (!armed || isLock || calls.push(name) !== Number(at)) return original.apply(this, args);
    if (when === "half") {
      const [fd, bytes, offset = 0, length = bytes.length - offset, position] = args;
      original.call(this, fd, bytes, offset, length >> 1, position);
      die();
    }
    let result;
    try {
      result = original.apply(this, args);
    } catch {
      // Removing a folder fails while something is in it.
    }
    if (typeof result?.then !== "function") die();
    return result.then(die, die);
  };
};
const SYNC = "write rename link unlink rmdir mkdir symlink chmod fchmod ftruncate".split(" ");
for (const name of SYNC) watch(fs, name + "Sync");
for (const name of "rename link unlink mkdir rmdir".split(" ")) watch(fs.promises, name);
const { writeFileSync } = fs;
fs.writeFileSync = (...args) => { inLock = true; writeFileSync(...args); inLock = false; };
syncBuiltinESMExports();

const { openUndoJournal } = await import("./journal.js");
const { UndoRecorder } = await import("./recorder.js");
const { planUndo } = await import("./plan.js");
const { applyUndo } = await import("./apply.js");
const { Workspace } = await import("../../tools/workspace.js");
const { ids } = await import("./test-support/undo-place.js");
const KEY = new Uint8Array(32).fill(9);
const root = join(base, "ws");
const journal = openUndoJournal({ folder: join(base, "data", "undo"), session, key: KEY });
const recorder = new UndoRecorder({ root, open: async () => journal });
recorder.startTurn(ids.next("turn"), 1);
const workspace = await Workspace.open(root, { observer: recorder });
armed = true;

if (what === "tools") {
  await workspace.writeText("new/deep/file", "new");
  await workspace.readText("a");
  await workspace.writeText("a", "changed");
  await workspace.writeText("a", "changed again");
  await workspace.remove("d/gone");
  await workspace.move("d", "moved");
}
if (what === "undo") await applyUndo(journal, await planUndo(journal, { workspaceRoot: root }));
armed = false;
console.log(calls.join(" "));
`;

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "oxbow-undo-crash-"));
  await build({
    stdin: { contents: PROGRAM, resolveDir: fileURLToPath(new URL(".", import.meta.url)) },
    outfile: join(folder, "program.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "silent",
  });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Death {
  readonly at: number;
  readonly when: "half" | "after";
}

/** The calls it made; none if it died on purpose. */
function run(here: UndoPlace, what: string, death?: Death): Promise<readonly string[]> {
  const args = [join(folder, "program.mjs"), here.base, here.session, what, `${death?.at ?? 0}`, death?.when ?? ""];
  // What a killed process leaves in the folder for temporary files goes with this one.
  const env = { ...process.env, TMPDIR: folder };
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env });
  let out = "";
  child.stdout.on("data", (data) => {
    out += data;
  });
  return new Promise((resolve, reject) => {
    child.on("close", (code, signal) => {
      if (death === undefined ? code === 0 : signal === "SIGKILL") resolve(out.trim().split(" "));
      else reject(new Error(`${what}, ${JSON.stringify(death)}: ended with ${code ?? signal}`));
    });
  });
}

function place(): UndoPlace {
  const here = new UndoPlace();
  onTestFinished(() => here.discard());
  here.sh("mkdir d; echo a > a; echo b > d/b; echo gone > d/gone; chmod 640 d/b; ln -s a l0");
  return here;
}

/** Kills it at each moment, each time beginning with the same. */
async function atEachDeath(here: UndoPlace, what: string, check: () => Promise<void>): Promise<void> {
  const saved = join(here.base, "saved");
  const copy = (from: string, to: string) => {
    rmSync(join(to, "ws"), { recursive: true, force: true });
    rmSync(join(to, "data"), { recursive: true, force: true });
    cpSync(join(from, "ws"), join(to, "ws"), { recursive: true, verbatimSymlinks: true });
    cpSync(join(from, "data"), join(to, "data"), { recursive: true, verbatimSymlinks: true, force: true });
  };
  here.journal.close();
  copy(here.base, saved);
  const calls = await run(here, what);
  expect(calls.length).toBeGreaterThan(5);
  const deaths = calls.flatMap((call, index): readonly Death[] => {
    const after = { at: index + 1, when: "after" } as const;
    return call === "writeSync" ? [{ at: index + 1, when: "half" }, after] : [after];
  });
  for (const death of sample(deaths, 8)) {
    here.journal.close();
    copy(saved, here.base);
    await run(here, what, death);
    here.reopen();
    try {
      await check();
    } catch (error) {
      const call = calls[death.at - 1];
      throw new Error(`${what}, killed at ${call} ${JSON.stringify(death)}`, { cause: error });
    }
  }
}

/** A killed file tool may leave part of a file, under a name that cannot be mistaken for one. */
function removeLeftovers(here: UndoPlace): void {
  for (const path of Object.keys(here.tree())) {
    if (/(^|\/)\.[^/]+\.[0-9a-f]{12}\.tmp$/.test(path)) rmSync(join(here.root, path));
  }
}

/** Says what it completed, if it did. */
async function undoAll(here: UndoPlace): Promise<void> {
  try {
    await here.undo();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.code !== "not-found") expect(error.message).toContain("It is complete now");
  }
}

describe("a process that is killed", () => {
  verifies(
    ["T10"],
    "while its tools change files leaves what can be undone",
    async () => {
      const here = place();
      here.turn();
      await here.bash("true");
      const first = here.tree();
      await atEachDeath(here, "tools", async () => {
        removeLeftovers(here);
        await undoAll(here);
        expect(here.tree()).toEqual(first);
      });
    },
    180_000,
  );

  verifies(
    ["T10"],
    "while it restores files leaves an undo that can be finished, and undone",
    async () => {
      const here = place();
      const first = here.tree();
      here.turn();
      await here.bash(
        "rm -r d; echo x > a; mkdir n; echo y > n/m; ln -s n l; ln -sfn n l0; mkdir e; echo e > e/e; echo z > d; chmod 700 n",
      );
      const second = here.tree();
      await atEachDeath(here, "undo", async () => {
        await undoAll(here);
        expect(treeOf(here.root)).toEqual(first);
        await here.undo({ redo: true });
        expect(treeOf(here.root)).toEqual(second);
        await here.undo();
        expect(treeOf(here.root)).toEqual(first);
      });
    },
    180_000,
  );
});
