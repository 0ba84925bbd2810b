import fc from "fast-check";
import { expect } from "vitest";
import { times } from "../../../test/support/thorough.js";
import { verifies } from "../../../test/verifies.js";
import { Workspace, WorkspaceError } from "../../tools/workspace.js";
import { StoreError } from "../store.js";
import { UndoPlace } from "./test-support/undo-place.js";

/** Few names, so that files, folders and links take each other's places. */
const name = fc.constantFrom("a", "b", "c d", "é");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
const content = fc.oneof(
  fc.constantFrom("", "x\n", "y\n", "one\ntwo\n"),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
);
/** A folder that cannot be looked into is not watched, so those stay out of this. */
const mode = fc.constantFrom("a+rX,u-w", "u+rwX,go-rwx", "u+rwx,go+rx");

const quoted = (text: string) => `'${text}'`;
const command = fc.oneof(
  fc.tuple(path, content).map(([at, text]) => `printf %s ${quoted(Buffer.from(text).toString("hex"))} > ${quoted(at)}`),
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

type Act =
  /** `killed`: the session ends before the command does. */
  | { readonly do: "bash" | "killed"; readonly commands: readonly string[] }
  | { readonly do: "write"; readonly at: string; readonly content: string }
  | { readonly do: "remove"; readonly at: string }
  | { readonly do: "move"; readonly at: string; readonly to: string }
  | { readonly do: "restart" };

const commands = fc.array(command, { minLength: 1, maxLength: 5 });
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("bash" as const), commands }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("write" as const), at: path, content }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("remove" as const), at: path }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("move" as const), at: path, to: path }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("killed" as const), commands }) },
);

const turns = fc.array(fc.array(act, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 });

async function perform(here: UndoPlace, step: Act): Promise<void> {
  if (step.do === "restart") {
    here.reopen();
    here.sameTurn();
    return;
  }
  if ("commands" in step) {
    const script = step.commands.map((each) => `{ ${each}; } 2>/dev/null || true`).join("\n");
    return step.do === "bash" ? here.bash(script) : here.killedIn(script);
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

async function check(script: readonly (readonly Act[])[]): Promise<void> {
  const here = new UndoPlace();
  try {
    here.sh("mkdir -p a/b; echo x > a/b/a; echo y > b; ln -s b é; chmod 600 b");
    const trees = [here.tree()];
    for (const acts of script) {
      here.turn();
      for (const step of acts) await perform(here, step);
      trees.push(here.tree());
    }
    const undone: number[] = [];
    for (let turn = script.length; turn > 0; turn--) {
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

verifies(
  ["T10"],
  "whatever the tools and commands of some turns did is undone exactly, and done again exactly",
  async () => {
    await fc.assert(fc.asyncProperty(turns, check), { seed: 7, numRuns: times(15, 40) });
  },
  120_000,
);
