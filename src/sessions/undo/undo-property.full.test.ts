import fc from "fast-check";
import { describe, expect } from "vitest";
import { skipWithout } from "../../../test/support/needs.js";
import { times } from "../../../test/support/thorough.js";
import { verifies } from "../../../test/verifies.js";
import { pathText, shownPath } from "../../system/path-bytes.js";
import { Workspace, WorkspaceError } from "../../tools/workspace.js";
import { StoreError } from "../store.js";
import { UndoPlace } from "./test-support/undo-place.js";

const content = fc.oneof(
  fc.constantFrom("", "x\n", "y\n", "one\ntwo\n"),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
);
/** The test reads each folder. */
const mode = fc.constantFrom("a+rX,u-w", "u+rwX,go-rwx", "u+rwx,go+rx");

const quoted = (path: string) => (path.isWellFormed() ? `'${path.replaceAll("'", "'\\''")}'` : shownPath(path));

/** Few names, so that files, folders and links take each other's places. */
function actsWith(names: Names): fc.Arbitrary<Act> {
  const path = fc
    .array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 })
    .map((parts) => `./${parts.join("/")}`);
  const command = fc.oneof(
    fc
      .tuple(path, content)
      .map(([at, text]) => `printf %s ${quoted(Buffer.from(text).toString("hex"))} > ${quoted(at)}`),
    fc.tuple(path, path).map(([from, to]) => `mv ${quoted(from)} ${quoted(to)}`),
    fc.tuple(path, path).map(([from, to]) => `cp -r ${quoted(from)} ${quoted(to)}`),
    fc.tuple(path, path).map(([from, to]) => `ln -sfn ${quoted(from)} ${quoted(to)}`),
    fc.tuple(path, path).map(([from, to]) => `ln -f ${quoted(from)} ${quoted(to)}`),
    fc.tuple(mode, path).map(([bits, at]) => `chmod ${bits} ${quoted(at)}`),
    path.map((at) => `rm -rf ${quoted(at)}`),
    path.map((at) => `mkdir -p ${quoted(at)}`),
    path.map((at) => `echo more >> ${quoted(at)}`),
    path.map((at) => `sed -i s/x/y/ ${quoted(at)}`),
    path.map((at) => `[ -f ${quoted(at)} ] && touch ${quoted(at)}`),
  );
  const commands = fc.array(command, { minLength: 1, maxLength: 5 });
  return fc.oneof(
    { weight: 3, arbitrary: fc.record({ do: fc.constant("bash" as const), commands }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("write" as const), at: path, content }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("remove" as const), at: path }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("move" as const), at: path, to: path }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const) }) },
  );
}

type Act =
  | { readonly do: "bash"; readonly commands: readonly string[] }
  | { readonly do: "write"; readonly at: string; readonly content: string }
  | { readonly do: "remove"; readonly at: string }
  | { readonly do: "move"; readonly at: string; readonly to: string }
  | { readonly do: "restart" };

type Names = readonly [string, string, string, string];

interface Script {
  readonly names: Names;
  readonly turns: readonly (readonly Act[])[];
}

function scriptWith(names: Names): fc.Arbitrary<Script> {
  const acts = fc.array(actsWith(names), { minLength: 1, maxLength: 4 });
  return fc.record({ names: fc.constant(names), turns: fc.array(acts, { minLength: 1, maxLength: 4 }) });
}

/** Any bytes that a Linux file system takes. */
const byteName = fc
  .array(fc.oneof(fc.integer({ min: 1, max: 255 }), fc.integer({ min: 128, max: 255 })), { minLength: 1, maxLength: 8 })
  .map((bytes) => pathText(Buffer.from(bytes)))
  .filter((name) => !name.includes("/") && name !== "." && name !== "..");
const byteNames = fc
  .uniqueArray(byteName, { minLength: 4, maxLength: 4 })
  .map(([a = "", b = "", c = "", d = ""]): Names => [a, b, c, d]);

async function perform(here: UndoPlace, step: Act): Promise<void> {
  if (step.do === "restart") {
    here.reopen();
    here.sameTurn();
    return;
  }
  if ("commands" in step) {
    const script = step.commands.map((each) => `{ ${each}; } 2>/dev/null || true`).join("\n");
    return here.bash(script);
  }
  const workspace = await Workspace.open(here.root, { observer: here.recorder });
  try {
    if (step.do === "remove") await workspace.remove(step.at);
    else if (step.do === "move") await workspace.move(step.at, step.to);
    else {
      await workspace.readText(step.at).catch(() => {});
      await workspace.writeBytes(step.at, Buffer.from(step.content, "latin1"));
    }
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error;
  }
}

/** Turns that changed nothing are not in the journal. */
async function undoIfThere(here: UndoPlace, choice: Parameters<UndoPlace["undo"]>[0]): Promise<boolean> {
  try {
    await here.undo(choice);
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.code === "not-found") return false;
    throw error;
  }
}

async function check({ names, turns }: Script): Promise<void> {
  const here = new UndoPlace();
  try {
    const [a, b, , d] = names.map((name) => quoted(`./${name}`));
    here.sh(`mkdir -p ${a}/${b}; echo x > ${a}/${b}/${a}; echo y > ${b}; ln -s ${b} ${d}; chmod 600 ${b}`);
    const trees = [here.tree()];
    for (const acts of turns) {
      here.turn();
      for (const step of acts) await perform(here, step);
      trees.push(here.tree());
    }
    const undone: number[] = [];
    for (let turn = turns.length; turn > 0; turn--) {
      if (await undoIfThere(here, { turn })) undone.unshift(turn);
      expect(here.tree()).toEqual(trees[turn - 1]);
    }
    for (const turn of undone) {
      await here.undo({ redo: true });
      expect(here.tree()).toEqual(trees[turn]);
    }
    if (await undoIfThere(here, { from: undone[0] ?? 1 })) expect(here.tree()).toEqual(trees[0]);
  } finally {
    here.discard();
  }
}

describe("whatever the tools and commands of some turns did is undone exactly, and done again exactly", () => {
  verifies(
    ["T10"],
    "with ordinary names",
    async () => {
      const script = scriptWith(["a", "b", "c d", "é"]);
      await fc.assert(fc.asyncProperty(script, check), { seed: 7, numRuns: times(6, 40) });
    },
    120_000,
  );

  verifies(
    ["T10"],
    "with names of any bytes",
    async (context) => {
      skipWithout(context, "linux");
      await fc.assert(fc.asyncProperty(byteNames.chain(scriptWith), check), { seed: 7, numRuns: times(4, 40) });
    },
    120_000,
  );
});
