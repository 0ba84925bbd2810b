import { mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { call, calls, ids, ok, says, scriptedModel, testEngine, tool } from "../../test/support/engine.js";
import { verifies } from "../../test/verifies.js";
import type { ModelEvent, Tool } from "../engine/ports.js";
import { plainText } from "../protocol/content.js";
import { applyUndo } from "../sessions/undo/apply.js";
import { openUndoJournal, type UndoJournal } from "../sessions/undo/journal.js";
import { planUndo } from "../sessions/undo/plan.js";
import { GAPS, UndoRecorder } from "../sessions/undo/recorder.js";
import { BackgroundCommands } from "../tools/background.js";
import { createBashTool } from "../tools/bash.js";
import { createEditTool } from "../tools/edit.js";
import { Workspace } from "../tools/workspace.js";
import { createWriteTool } from "../tools/write.js";
import type { ChainServices, ChangeRecorder } from "./services.js";
import { undo as create } from "./tool-links.js";

let base: string;
let root: string;
let journal: UndoJournal;
let recorder: UndoRecorder;
let background: BackgroundCommands;
const warnings: string[] = [];

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-undo-link-")));
  root = join(base, "ws");
  mkdirSync(root);
  writeFileSync(join(root, "a.txt"), "one\n");
  journal = openUndoJournal({ folder: join(base, "undo"), session: ids.next("sess"), key: new Uint8Array(32) });
  recorder = new UndoRecorder({ root, open: async () => journal });
  background = new BackgroundCommands();
  warnings.length = 0;
});
afterEach(async () => {
  await background.close();
  journal.close();
  rmSync(base, { recursive: true });
});

function link(undo: ChangeRecorder | undefined) {
  const log: ChainServices["log"] = (level, _component, message) => void warnings.push(`${level}: ${message}`);
  return { name: "50-undo", run: create({ undo, log } as unknown as ChainServices) };
}

async function builtIn(): Promise<readonly Tool[]> {
  const workspace = await Workspace.open(root, { observer: recorder });
  const shell = { workspaceRoot: root, environment: { PATH: "/usr/bin:/bin" }, outputDirectory: join(base, "output") };
  return [createWriteTool(workspace), createEditTool(workspace), createBashTool({ ...shell, background })];
}

/** One turn with these calls; the results as text. */
async function turn(tools: readonly Tool[], undo: ChangeRecorder | undefined, ...events: readonly ModelEvent[]) {
  const model = scriptedModel([calls(...events), says("done")]);
  const engine = testEngine({ model, tools, toolLinks: [link(undo)] });
  engine.bus.subscribe((event) => {
    if (event.kind === "TurnStarted") recorder.startTurn(event.payload.turn);
  });
  await engine.turn("go");
  return engine.events.flatMap((event) => (event.kind === "ToolResult" ? [plainText(event.payload.content)] : []));
}

describe("the undo link", () => {
  verifies(
    ["T10"],
    "records what the file tools change, and the changes of a command before they are applied",
    async () => {
      const content = (text: string) => ({ kind: "file" as const, content: Buffer.from(text), mode: 0o644 });
      const [write, edit] = await builtIn();
      const holding: ChangeRecorder = { begin: (each) => recorder.begin(each), holdsBack: async () => true };
      const held = tool(
        "bash",
        async () => {
          const [a, c] = [join(root, "a.txt"), join(root, "c.txt")];
          await recorder.beforeAll([
            () => ({ absolute: a, before: content(readFileSync(a, "utf8")), after: undefined }),
            () => ({ absolute: c, before: undefined, after: content("ONE\n") }),
          ]);
          renameSync(a, c);
          return ok("moved");
        },
        { set: "command", mutating: true },
      );
      await turn(
        [write, edit, held, tool("read", async () => ok("nothing"))].filter((each) => each !== undefined),
        holding,
        call("read"),
        call("write", { path: "sub/b.txt", content: "two\n" }),
        call("edit", { path: "a.txt", edits: [{ old: "one", new: "ONE" }] }),
        call("bash", { command: "mv a.txt c.txt" }),
      );
      const plan = await planUndo(journal, { workspaceRoot: root });
      expect(plan.items.map(({ path, action, tools }) => [path, action, tools])).toEqual([
        ["a.txt", "recreate", ["edit", "bash"]],
        ["c.txt", "delete", ["bash"]],
        ["sub", "delete", ["write"]],
        ["sub/b.txt", "delete", ["write"]],
      ]);
      expect(plan.notes.join()).toContain("Undo covers only what bash changed");
      await applyUndo(journal, plan);
      expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("one\n");
      expect(warnings).toEqual([]);
    },
  );

  it("says that a command which writes directly, or goes on, is not covered", async () => {
    const tools = await builtIn();
    await turn(
      tools,
      recorder,
      call("write", { path: "b.txt", content: "two\n" }),
      call("bash", { command: "echo 1 > x" }),
      call("bash", { command: "true", run_in_background: true }),
    );
    const { notes } = await planUndo(journal, { workspaceRoot: root });
    expect(notes.join("\n")).toContain(GAPS.unknown);
    expect(notes.join("\n")).toContain(GAPS.goesOn);
  });

  it("records the end of a tool that throws, and does not ask a recorder about tools that change nothing", async () => {
    const fails = tool("fails", async () => Promise.reject(new Error("broken")), { set: "command", mutating: true });
    await turn([fails, ...(await builtIn())], recorder, call("fails"), call("write", { path: "b", content: "two\n" }));
    const [item] = (await planUndo(journal, { workspaceRoot: root })).items;
    expect(item?.tools).toEqual(["write"]);
    const never: ChangeRecorder = { begin: () => Promise.reject(new Error("asked")) };
    await turn([tool("read", async () => ok("x"))], never, call("read"));
    expect(warnings).toEqual([]);
  });

  it("runs a command that cannot be recorded, and warns; a file tool refuses", async () => {
    writeFileSync(join(base, "undo"), "in the way");
    const results = await turn(
      await builtIn(),
      recorder,
      call("bash", { command: "echo ran" }),
      call("write", { path: "b.txt", content: "two\n" }),
    );
    expect(results[0]).toContain("ran");
    expect(results[1]).toContain("b.txt was not changed, because its content could not be backed up for undo");
    expect(warnings).toEqual(["warn: Oxbow cannot record a call, so undo cannot revert it"]);
  });

  it("does nothing without a recorder", async () => {
    const results = await turn(
      [tool("change", async () => ok("changed"), { mutating: true })],
      undefined,
      call("change"),
    );
    expect(results).toEqual(["changed"]);
  });
});
