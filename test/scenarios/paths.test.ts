/**
 * The path scenarios of the suite beside the project, against the tools as the program opens them.
 *
 * 1. Nothing outside the workspace is ever told, made or changed, and no call blocks: this holds for every scenario, and
 *    for every tool that takes a path, not only for the one that a scenario names.
 * 2. A file that deserves a question counts as asked for when the workspace names the reason; asking is the permission gate's.
 */

import { existsSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { ToolOutcome } from "../../src/engine/ports.js";
import type { JsonObject } from "../../src/protocol/json.js";
import { RunGuard } from "../../src/runtime/parts/guard.js";
import { openToolbox } from "../../src/runtime/parts/toolbox.js";
import { PermissionGate } from "../../src/security/permissions/gate.js";
import { readCommand } from "../../src/security/permissions/read-command.js";
import { QUIET_GIT_ENVIRONMENT } from "../../src/security/shell/programs/quiet-git.js";
import { isQuietRepository } from "../../src/security/shell/quiet-repository.js";
import { Workspace } from "../../src/tools/workspace.js";
import { ids } from "../support/engine.js";
import { SUITES } from "../support/suites.js";
import { isThorough, times } from "../support/thorough.js";
import { verifies } from "../verifies.js";
import { type AttackStep, startAttack } from "./attacker.js";
import { type Layout, PathPlace } from "./path-place.js";

interface Scenario {
  readonly id: string;
  readonly layout: Layout;
  readonly request: {
    readonly op: string;
    readonly path?: string;
    readonly pattern?: string;
    readonly content?: string;
    readonly kind?: string;
    readonly command?: string;
    readonly between_check_and_use?: readonly string[];
  };
  readonly expect: {
    readonly decision?: string;
    readonly content?: string;
    readonly must_not_list?: readonly string[];
    readonly must_not_exist?: readonly string[];
    readonly must_escape_in_ui?: boolean;
    readonly max_rss_mb?: number;
  };
}

const SUITE = join(SUITES, "paths/scenarios.json");
/** A blocked call never returns; a busy machine may take seconds. */
const PATIENCE_MS = 10_000;

/** Lists what this part of Oxbow has nothing to do with. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "symlink/instruction-file": "no tool: concerns reading instruction files into the prompt",
  "special/mount-bind":
    "mounting needs rights that a test does not have; a mount is part of the workspace for the user who made it",
  "git/worktree-commondir": "concerns the list of writable places of the command sandbox",
  "archive/zip-slip": "there is no installing from archives",
  "archive/tar-symlink": "there is no installing from archives",
};

/** All of a git folder is asked about, more than the scenario asks for: git's own commands are the way to change it. */
const STRICTER: ReadonlySet<string> = new Set([
  "protected-write-ok/.git/index",
  "protected-write-ok/.git/objects/test-obj",
  "protected-write-ok/.git/refs/heads/main",
]);

/** Not what the scenario's own operation says, or more than one call: see below. */
const SPECIAL: Readonly<Record<string, (stage: Stage, scenario: Scenario) => Promise<void>>> = {
  "race/swap-dir-after-check": swapFolder,
  "race/swap-file-after-check": swapFile,
  "race/symlink-flip-loop": flipFolder,
  "symlink/workspace-is-symlink": workspaceThroughLink,
  "symlink/tmp-predictable": foreseenOutputFile,
  "hardlink/out-file": hardLink,
  "name/leading-dash": leadingDash,
  "git/worktree-gitfile": gitStatus,
  "git/bare-repo-in-subdir": gitStatus,
  "git/submodule-gitdir": submodule,
  "cwd/deleted": deletedWorkspace,
};

let open: Stage[] = [];
afterEach(async () => {
  for (const stage of open.splice(0)) await stage.close();
  open = [];
});

/** A scenario's place with the tools over it. */
class Stage {
  readonly place: PathPlace;
  readonly #before: Readonly<Record<string, string>>;
  readonly #tools = new Map<string, ReturnType<typeof openToolbox>>();

  private constructor(place: PathPlace, before: Readonly<Record<string, string>>) {
    this.place = place;
    this.#before = before;
  }

  static async open(layout: Layout): Promise<Stage> {
    const place = await PathPlace.create(layout);
    const stage = new Stage(place, await place.outside());
    open.push(stage);
    return stage;
  }

  /** One tool call, in time, with nothing from outside in what it says. */
  async call(tool: string, args: JsonObject, root = this.place.workspace): Promise<ToolOutcome> {
    const outcome = await this.run(tool, args, root);
    expect(JSON.stringify(outcome), `${tool} tells what is outside`).not.toContain(this.place.marker);
    return outcome;
  }

  async run(tool: string, args: JsonObject, root = this.place.workspace): Promise<ToolOutcome> {
    let toolbox = this.#tools.get(root);
    if (toolbox === undefined) {
      const outputDirectory = join(this.place.base, "outputs");
      const variables = { PATH: process.env.PATH, HOME: join(this.place.base, "home") };
      toolbox = openToolbox({
        root,
        offers: (_, set) => ["read", "edit", "command"].includes(set),
        variables,
        outputDirectory,
        guard: guardOf(root),
      });
      this.#tools.set(root, toolbox);
    }
    const found = toolbox.find(tool);
    if (found === undefined) throw new Error(`there is no tool ${tool}`);
    return inTime(found.run(args, { signal: new AbortController().signal, progress: () => {} }), tool);
  }

  async expectOutsideUntouched(): Promise<void> {
    expect(await this.place.outside()).toEqual(this.#before);
  }

  async close(): Promise<void> {
    for (const toolbox of this.#tools.values()) await toolbox.close();
    await this.place.close();
  }
}

async function inTime<T>(work: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not answer within ${PATIENCE_MS} ms`)), PATIENCE_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function textOf(outcome: ToolOutcome): string {
  return outcome.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

/* ---- the ordinary course ---- */

interface Answer {
  readonly decision: "ask" | "allow" | "refuse";
  readonly text: string;
}

async function play(stage: Stage, { id, request, expect: expected }: Scenario): Promise<void> {
  const before = process.memoryUsage().rss;
  const path = request.path === undefined ? undefined : stage.place.fill(request.path);
  const answer = await answerTo(stage, request, path);
  expectDecision(STRICTER.has(id) ? "deny_or_ask" : expected.decision, answer);
  if (expected.content !== undefined) expect(answer.text).toContain(expected.content);
  for (const name of expected.must_not_list ?? []) expect(answer.text).not.toContain(name);
  if (expected.must_escape_in_ui === true) {
    // The listing of one name is one line, and nothing in it moves a cursor or turns the writing round.
    expect(answer.text).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
  }
  if (expected.max_rss_mb !== undefined) {
    expect(process.memoryUsage().rss - before).toBeLessThan(expected.max_rss_mb * 1e6);
  }
  if (path !== undefined && answer.decision === "refuse" && isSampled(id)) await tryEveryTool(stage, path);
  await stage.expectOutsideUntouched();
}

/** The search tools start programs, so that all tools take long. */
function isSampled(id: string): boolean {
  return isThorough || id.endsWith("0") || id.includes("/s");
}

function guardOf(root: string): RunGuard {
  return new RunGuard({ root, variables: { PATH: process.env.PATH, HOME: join(root, "..", "home") }, ownFolders: [] });
}

async function answerTo(stage: Stage, request: Scenario["request"], path: string | undefined): Promise<Answer> {
  const access = request.op === "write" ? "write" : "read";
  const workspace = await Workspace.open(stage.place.workspace, { guard: guardOf(stage.place.workspace) });
  const resolved = path === undefined ? undefined : await workspace.resolve(path, access).catch(() => undefined);
  const reason = resolved?.guarded ?? resolved?.sensitive;
  if (reason !== undefined) return { decision: "ask", text: reason };
  // An existing file must have been read before it is written; that must not be the reason for a refusal.
  if (request.op === "write") await stage.call("read", { path: path ?? "" });
  const { tool, args } = toolCall(request, path ?? ".");
  const outcome = await stage.call(tool, args);
  return { decision: outcome.status === "ok" ? "allow" : "refuse", text: textOf(outcome) };
}

function toolCall(
  { op, pattern, content, kind }: Scenario["request"],
  path: string,
): { tool: string; args: JsonObject } {
  switch (op) {
    case "read":
      return { tool: "read", args: { path } };
    case "write":
      return { tool: "write", args: { path, content: content ?? "" } };
    case "list":
      return { tool: "ls", args: {} };
    case "glob":
    case "grep":
      return { tool: op, args: { pattern: pattern ?? "" } };
    case "apply_patch":
      return { tool: op, args: { patch: patchOf(kind ?? "", path) } };
    default:
      throw new Error(`nothing here does "${op}": map it to a tool or list the scenario`);
  }
}

const CHANGE = "@@\n-original\n+changed";

function patchOf(kind: string, path: string): string {
  const bodies: Readonly<Record<string, string>> = {
    add: `*** Add File: ${path}\n+changed`,
    update: `*** Update File: ${path}\n${CHANGE}`,
    delete: `*** Delete File: ${path}`,
    "move-from": `*** Update File: ${path}\n*** Move to: moved.txt\n${CHANGE}`,
    "move-to": `*** Update File: source.txt\n*** Move to: ${path}\n${CHANGE}`,
  };
  const body = bodies[kind];
  if (body === undefined) throw new Error(`there is no patch that does "${kind}"`);
  return `*** Begin Patch\n${body}\n*** End Patch`;
}

function expectDecision(expected: string | undefined, { decision, text }: Answer): void {
  const decisions: Readonly<Record<string, readonly Answer["decision"][]>> = {
    allow: ["allow"],
    deny_or_ask: ["refuse", "ask"],
    deny_or_error: ["refuse"],
    error: ["refuse"],
    error_or_allow: ["refuse", "allow"],
    error_or_truncate: ["refuse", "allow"],
  };
  // The others are remarks on what a path means; that nothing outside is touched holds for them as well.
  const wanted = expected === undefined || expected === "note" ? undefined : decisions[expected];
  if (expected !== undefined && expected !== "note") expect(wanted, `the decision "${expected}"`).toBeDefined();
  if (wanted !== undefined) expect(wanted, text).toContain(decision);
}

/** A path that one tool refuses leads nowhere for the others. */
async function tryEveryTool(stage: Stage, path: string): Promise<void> {
  await stage.call("ls", { path });
  await stage.call("glob", { pattern: "**/*", path });
  await stage.call("glob", { pattern: path });
  await stage.call("grep", { pattern: ".", path });
  await stage.call("grep", { pattern: ".", glob: path });
  // Should a check fail one day, the machine's own files must survive the test.
  if (isAbsolute(path) && !path.startsWith(stage.place.base)) return;
  await stage.call("write", { path, content: "changed" });
  await stage.call("edit", { path, edits: [{ old: "", new: "changed" }] });
  await stage.call("edit", { path, edits: [{ old: "SECRET", new: "changed" }] });
  for (const kind of ["add", "update", "delete", "move-from"])
    await stage.call("apply_patch", { patch: patchOf(kind, path) });
}

/* ---- the others ---- */

async function workspaceThroughLink(stage: Stage, scenario: Scenario): Promise<void> {
  const link = stage.place.fill("{WSLINK}");
  await play(stage, scenario);
  const workspace = await Workspace.open(link);
  expect(workspace.root).toBe(stage.place.workspace);
  expect((await workspace.readText(join(link, "a.txt"))).text).toBe("in");
}

/** Output that is too long goes to a file, never to one with a predictable name. */
async function foreseenOutputFile(stage: Stage): Promise<void> {
  const secret = join(stage.place.base, "out", "secret.txt");
  await writeFile(secret, "SECRET");
  const outcome = await stage.call("bash", { command: "seq 1 100000" });
  expect(outcome.status).toBe("ok");
  expect(readFileSync(secret, "utf8")).toBe("SECRET");
  const file = String(outcome.details?.output_file);
  expect(dirname(file)).toBe(join(stage.place.base, "outputs"));
  expect(readFileSync(file, "utf8")).toContain("\n100000\n");
  expect(existsSync(stage.place.fill("{OUT}/new.txt"))).toBe(false);
}

/** The same file under a name inside: it can be seen, but a change must not reach the other name. */
async function hardLink(stage: Stage, { request }: Scenario): Promise<void> {
  const path = request.path ?? "";
  expect((await stage.run("read", { path })).status).toBe("ok");
  expect((await stage.run("edit", { path, edits: [{ old: "SECRET", new: "changed" }] })).status).toBe("ok");
  await stage.expectOutsideUntouched();
  expect((await stage.run("write", { path, content: request.content ?? "" })).status).toBe("ok");
  await stage.expectOutsideUntouched();
}

async function leadingDash(stage: Stage): Promise<void> {
  for (const args of [{ path: "-rf" }, {}, { glob: "-rf" }]) {
    expect(textOf(await stage.call("grep", { pattern: "x", ...args }))).toContain("-rf");
  }
  expect(textOf(await stage.call("glob", { pattern: "-rf" }))).toBe("-rf");
  expect(textOf(await stage.call("read", { path: "-rf" }))).toContain("x");
}

/** With all that makes a folder a repository in git's eyes, so that its configuration would count. */
async function gitStatus(stage: Stage, { expect: expected }: Scenario): Promise<void> {
  const { workspace } = stage.place;
  const repository =
    [stage.place.fill("{OUT}/evil.git"), join(workspace, "sub")].find((folder) => existsSync(folder)) ?? "";
  for (const folder of ["objects", "refs"]) await mkdir(join(repository, folder), { recursive: true });
  await writeFile(join(repository, "HEAD"), "ref: refs/heads/x\n");
  for (const root of [workspace, join(workspace, "sub")].filter((folder) => existsSync(folder))) {
    for (const command of ["git status", "git diff", "git log"])
      if (runsUnasked(command, root)) await stage.call("bash", { command }, root);
  }
  for (const path of expected.must_not_exist ?? []) expect(existsSync(stage.place.fill(path))).toBe(false);
}

function runsUnasked(command: string, workspace: string): boolean {
  const environment = { PATH: process.env.PATH ?? "", HOME: "/nowhere", ...QUIET_GIT_ENVIRONMENT };
  const isQuiet = () => isQuietRepository(workspace, { environment });
  return readCommand(command, { workspace, isQuietRepository: isQuiet }).verdict === "read-only";
}

async function submodule(stage: Stage, { request }: Scenario): Promise<void> {
  const bash = openToolbox({
    root: stage.place.workspace,
    offers: (_, set) => ["command"].includes(set),
    variables: {},
    outputDirectory: stage.place.base,
  }).find("bash");
  const call = { call: ids.next("call"), tool: "bash", args: { command: request.command ?? "" } };
  expect(bash === undefined ? undefined : new PermissionGate("ask").judge(call, bash).decision).toBe("ask");
}

async function deletedWorkspace(stage: Stage): Promise<void> {
  const { workspace } = stage.place;
  await writeFile(join(workspace, "a.txt"), "in");
  expect((await stage.call("read", { path: "a.txt" })).status).toBe("ok");
  await rm(workspace, { recursive: true });
  for (const [tool, args] of [
    ["read", { path: "a.txt" }],
    ["ls", {}],
    ["glob", { pattern: "*" }],
    ["grep", { pattern: "in" }],
    ["write", { path: "a.txt", content: "new" }],
    ["bash", { command: "pwd" }],
  ] as const) {
    expect((await stage.call(tool, args)).status, tool).toBe("error");
  }
  expect(existsSync(workspace)).toBe(false);
}

/* ---- races: the attacker is at work all the time, and the tool is called until both had their chances ---- */

const CALLS = times(50, 200);
const MAX_CALLS = 5000;

/** `act` tells how the call ended that the attack is about: in the end it must have succeeded and been refused. */
async function whileAttacked(steps: readonly AttackStep[], act: (round: number) => Promise<string>): Promise<void> {
  const attack = startAttack(steps);
  const endings = new Set<string>();
  try {
    let round = 0;
    const isEnough = () => round >= CALLS && attack.rounds >= CALLS && endings.size === 2;
    for (; round < MAX_CALLS && !isEnough(); round++) endings.add(await act(round));
    expect(attack.rounds).toBeGreaterThanOrEqual(CALLS);
    expect([...endings].sort()).toEqual(["error", "ok"]);
  } finally {
    await attack.stop();
  }
}

function stepsOf(stage: Stage, { request }: Scenario): readonly AttackStep[] {
  return (request.between_check_and_use ?? []).map(
    (step) => stage.place.fill(step).split(" ") as unknown as AttackStep,
  );
}

async function swapFolder(stage: Stage, scenario: Scenario): Promise<void> {
  const [approved, original] = ["approved", "original"].map((name) => join(stage.place.workspace, name)) as [
    string,
    string,
  ];
  const path = "approved/file.txt";
  // What a tool made at a moment when the folder was away must not keep the attacker from going on.
  const before: readonly AttackStep[] = [["remove", original]];
  const after: readonly AttackStep[] = [
    ["remove", approved],
    ["rename", original, approved],
  ];
  await whileAttacked([...before, ...stepsOf(stage, scenario), ...after], async (round) => {
    await stage.call("read", { path });
    const { status } = await stage.call("write", { path, content: `round ${round}\n` });
    await stage.call("edit", { path, edits: [{ old: "round", new: "edited" }] });
    await stage.call("apply_patch", { patch: patchOf("add", `approved/new-${round}.txt`) });
    await stage.call("apply_patch", { patch: patchOf("delete", path) });
    await stage.call("ls", { path: "approved" });
    return status;
  });
  await stage.expectOutsideUntouched();
}

async function swapFile(stage: Stage, scenario: Scenario): Promise<void> {
  const file = join(stage.place.workspace, "f");
  const after: readonly AttackStep[] = [
    ["unlink", file],
    ["write", file, "x"],
  ];
  await whileAttacked([...stepsOf(stage, scenario), ...after], async () => {
    await stage.call("grep", { pattern: ".", path: "f" });
    await stage.call("grep", { pattern: "." });
    return (await stage.call("read", { path: "f" })).status;
  });
  await stage.expectOutsideUntouched();
}

async function flipFolder(stage: Stage): Promise<void> {
  const flip = join(stage.place.workspace, "flip");
  const steps: readonly AttackStep[] = [
    ["symlink", stage.place.fill("{OUT}"), flip],
    ["unlink", flip],
    ["mkdir", flip],
    ["remove", flip],
  ];
  await whileAttacked(steps, async (round) => {
    const { status } = await stage.call("write", { path: "flip/new.txt", content: `PWN ${round}` });
    await stage.call("write", { path: `flip/deep/${round}/new.txt`, content: "PWN" });
    await stage.call("read", { path: "flip/secret.txt" });
    return status;
  });
  await stage.expectOutsideUntouched();
}

// The suite lies beside the project where it is built, and is no part of it.
if (!existsSync(SUITE)) {
  it("has no path scenarios here", () => {
    console.log(`skipped: no suite at ${SUITE}`);
    expect(existsSync(SUITE)).toBe(false);
  });
} else {
  const { cases } = JSON.parse(readFileSync(SUITE, "utf8")) as { cases: readonly Scenario[] };
  describe("path scenarios", () => {
    it("that are left out or played specially exist", () => {
      const known = new Set(cases.map(({ id }) => id));
      expect([...Object.keys(ELSEWHERE), ...Object.keys(SPECIAL), ...STRICTER].filter((id) => !known.has(id))).toEqual(
        [],
      );
    });

    for (const scenario of cases.filter(({ id }) => ELSEWHERE[id] === undefined)) {
      verifies(
        ["T3"],
        JSON.stringify(scenario.id),
        async () => {
          const stage = await Stage.open(scenario.layout);
          await (SPECIAL[scenario.id] ?? play)(stage, scenario);
        },
        60_000,
      );
    }
  });
}
