import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Tool, ToolSet } from "../../engine/ports.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventBody, ToolKind } from "../../protocol/events.js";
import type { CallId } from "../../protocol/ids.js";
import type { JsonObject } from "../../protocol/json.js";
import { protection } from "../../tools/files/protected-paths.js";
import { parsePatch } from "../../tools/patch/parse.js";
import { Workspace } from "../../tools/workspace.js";
import { collectFacts, type FactPorts, type TouchedPath } from "./collect-facts.js";
import { loadCommandReader } from "./command-reader.js";
import { PermissionEngine } from "./engine.js";
import { replayDecisions, replayText } from "./replay-decisions.js";
import { pathsOf, policyWith, rulesOf } from "./test-support/sample-policy.js";

let outer: string;
let root: string;
let ports: FactPorts;

const tool = (name: string, set: ToolSet, mutating: boolean, kind?: ToolKind): Tool => ({
  name,
  ...(kind !== undefined && { kind }),
  set,
  mutating,
  description: "",
  inputSchema: {},
  concurrencySafe: false,
  run: async () => ({ status: "ok", content: [] }),
});
const TOOLS = [
  tool("read", "read", false, "read"),
  tool("ls", "read", false, "list"),
  tool("grep", "read", false, "search"),
  ...["edit", "write", "apply_patch"].map((name) => tool(name, "edit", true)),
  tool("bash", "command", true),
];
const named = (name: string) => TOOLS.find((each) => each.name === name) ?? tool(name, "web", false);

function patchPaths(patch: string): readonly TouchedPath[] {
  return parsePatch(patch).flatMap((change): TouchedPath[] => {
    if (change.kind === "delete") return [{ path: change.path, access: "delete" }];
    const written: TouchedPath[] = [{ path: change.path, access: "write" }];
    return change.kind === "update" && change.moveTo !== undefined
      ? [...written, { path: change.path, access: "delete" }, { path: change.moveTo, access: "write" }]
      : written;
  });
}

beforeEach(async () => {
  outer = await realpath(await mkdtemp(join(tmpdir(), "oxbow-engine-")));
  root = join(outer, "project");
  await mkdir(join(root, "src"), { recursive: true });
  await mkdir(join(root, "secret"));
  await writeFile(join(root, "src", "a.ts"), "a");
  await writeFile(join(root, "secret", "b"), "b");
  await writeFile(join(root, ".env"), "c");
  await writeFile(join(outer, "d"), "d");
  await symlink(join(outer, "d"), join(root, "out"));
  await symlink("secret/b", join(root, "inner"));
  await symlink("secret", join(root, "alias"));
  const workspace = await Workspace.open(root);
  ports = {
    workspace: root,
    resolve: (path, access) => workspace.resolve(path, access),
    patchPaths,
    protection,
    commandReader: () => loadCommandReader({ workspace: root }),
    isBuiltIn: ({ name }) => TOOLS.some((each) => each.name === name),
  };
});
afterEach(() => rm(outer, { recursive: true }));

const engineWith = (policy: Parameters<typeof policyWith>[0] = {}) =>
  new PermissionEngine({ ports, policy: () => policyWith({ workspace: root, ...policy }), sandboxed: () => true });

const AROUND = { originator: "human", sandboxed: false, planMode: false } as const;
const paths = async (name: string, args: JsonObject) => {
  const facts = await collectFacts({ tool: named(name), args }, AROUND, ports);
  return facts.paths.map(({ display, access, place, sensitive }) => [display, access, place, sensitive !== undefined]);
};

describe("the files of a call", () => {
  it("are where the workspace says they are, links followed", async () => {
    expect(await paths("read", { path: "src/../src/a.ts" })).toEqual([["src/a.ts", "read", "workspace", false]]);
    expect(await paths("read", { path: "inner" })).toEqual([["secret/b", "read", "workspace", false]]);
    expect(await paths("read", { path: ".env" })).toEqual([[".env", "read", "workspace", true]]);
    expect(await paths("read", { path: "missing" })).toEqual([["missing", "read", "workspace", false]]);
    expect(await paths("read", { path: "alias/missing" })).toEqual([["secret/missing", "read", "workspace", false]]);
    expect(await paths("ls", {})).toEqual([[".", "read", "workspace", false]]);
    expect(await paths("edit", { path: "src/a.ts" })).toEqual([["src/a.ts", "write", "workspace", false]]);
  });

  it("that lie outside are out of reach, also by a link", async () => {
    expect(await paths("read", { path: "/etc/passwd" })).toEqual([["/etc/passwd", "read", "unreachable", false]]);
    expect(await paths("write", { path: "../d" })).toEqual([["../d", "write", "unreachable", false]]);
    expect(await paths("read", { path: "out" })).toEqual([["out", "read", "unreachable", false]]);
  });

  it("are all those of a patch", async () => {
    const patch =
      "*** Begin Patch\n*** Add File: n\n+x\n*** Delete File: src/a.ts\n*** Update File: secret/b\n*** Move to: src/b\n@@\n-b\n+c\n*** End Patch";
    expect(await paths("apply_patch", { patch })).toEqual([
      ["n", "write", "workspace", false],
      ["src/a.ts", "delete", "workspace", false],
      ["secret/b", "write", "workspace", false],
      ["secret/b", "delete", "workspace", false],
      ["src/b", "write", "workspace", false],
    ]);
  });

  it("are what an extension's arguments name", async () => {
    expect(await paths("mcp__fs__cat", { file_path: "secret/b", note: "src/a.ts", folders: ["x"] })).toEqual([
      ["secret/b", "read", "workspace", false],
      ["x", "read", "workspace", false],
    ]);
  });
});

describe("the engine", () => {
  const call = (name: string, args: JsonObject, id: CallId = "call_1") => ({ call: id, tool: name, args });

  it("decides with everything that is known", async () => {
    const engine = engineWith({ paths: pathsOf({ secret: "none" }) });
    const judge = async (name: string, args: JsonObject) =>
      (await engine.judge(call(name, args), named(name), "human")).decidedBy;
    expect(await judge("read", { path: "src/a.ts" })).toBe("quiet preset");
    expect(await judge("read", { path: ".env" })).toBe("mode ask");
    expect(await judge("read", { path: "inner" })).toBe("path permission secret ----");
    expect(await judge("read", { path: "../d" })).toBe("workspace boundary");
    expect(await judge("edit", { path: "src/a.ts" })).toBe("contained edit");
    expect(await judge("bash", { command: "ls src" })).toBe("quiet preset");
    expect(await judge("bash", { command: "cat secret/b" })).toBe("path permission secret ----");
    expect(engine.decided().map(({ summary }) => summary)[0]).toBe("bash: cat secret/b");
  });

  it("remembers what the user accepted, and only what was offered", async () => {
    const engine = engineWith();
    const first = call("bash", { command: "npm run build -- -v" });
    const verdict = await engine.judge(first, named("bash"), "human");
    expect(verdict.decision).toBe("ask");
    const answered = { tool: "bash", verdict, originator: "human" } as const;
    expect(engine.remember(answered, "allow_once")).toEqual([]);
    expect(engine.remember(answered, "deny")).toEqual([]);
    expect(engine.remember(answered, "allow_pattern").map(({ number }) => number)).toEqual([1]);
    expect((await engine.test({ tool: named("bash"), args: { command: "npm run build" } })).decidedBy).toBe(
      "session rule 1",
    );
    expect((await engine.test({ tool: named("bash"), args: { command: "npm run lint" } })).decision).toBe("ask");
    engine.remember(answered, "allow_tool");
    expect((await engine.test({ tool: named("bash"), args: { command: "npm run lint" } })).decidedBy).toBe(
      "session rule 2",
    );
  });

  it("takes a yes to any command as it was asked: with what the call needs, if the question was about that", async () => {
    const policy = () => policyWith({ workspace: root, mode: "auto" });
    const push = call("bash", { command: "git push origin main" });
    const answeredFor = async (asked: ReturnType<typeof call>, mode?: "ask") => {
      const engine = new PermissionEngine({
        ...{ ports, sandboxed: () => true, contained: () => true },
        policy: () => (mode === undefined ? policy() : { ...policy(), mode }),
      });
      const verdict = await engine.judge(asked, named("bash"), "human");
      expect(verdict.decision).toBe("ask");
      engine.remember({ tool: "bash", verdict, originator: "human" }, "allow_tool");
      return (args: JsonObject) => engine.test({ tool: named("bash"), args });
    };
    const afterPush = await answeredFor(push);
    expect(await afterPush(push.args)).toMatchObject({ decision: "allow", openings: ["network", "git"] });
    expect(await afterPush({ command: "npm install" })).toMatchObject({ decision: "allow", openings: ["network"] });
    const afterBuild = await answeredFor(call("bash", { command: "make" }), "ask");
    expect((await afterBuild({ command: "make all" })).decision).toBe("allow");
    expect((await afterBuild(push.args)).decision).toBe("ask");
  });

  it("asks each time about a command that deletes everything, with and without a sandbox", async () => {
    for (const isContained of [true, false]) {
      const engine = new PermissionEngine({
        ...{ ports, sandboxed: () => isContained, contained: () => isContained },
        policy: () => policyWith({ workspace: root, mode: isContained ? "auto" : "ask" }),
      });
      const build = await engine.judge(call("bash", { command: "rm build/x" }), named("bash"), "human");
      engine.remember({ tool: "bash", verdict: build, originator: "human" }, "allow_tool");
      for (const command of ["rm -rf /", "rm -rf *", "ls | xargs rm", "true && find . -delete"]) {
        const verdict = await engine.judge(call("bash", { command }), named("bash"), "human");
        expect([command, verdict]).toMatchObject([command, { decision: "ask", once: true, offer: [] }]);
        for (const answer of ["allow_tool", "allow_pattern"] as const) {
          expect(engine.remember({ tool: "bash", verdict, originator: "human" }, answer)).toEqual([]);
        }
      }
    }
  });

  it("holds plan mode until a person approves", async () => {
    const engine = engineWith({ mode: "allow" });
    const edit = { tool: named("edit"), args: { path: "src/a.ts" } };
    engine.plan.enter();
    expect((await engine.test(edit)).decidedBy).toBe("plan mode");
    expect((await engine.test({ tool: named("bash"), args: { command: "ls" } })).decision).toBe("allow");
    const turn = { originator: "cli_a", originatorIdentity: "human" } as const;
    engine.plan.exit({ approve: true, client: { id: "cli_a", identity: "human" }, turn });
    expect((await engine.test(edit)).decision).toBe("allow");
  });

  it("of a run that only reads denies edits and commands that change something, as in plan mode", async () => {
    const options = { ports, policy: () => policyWith({ workspace: root, mode: "allow" }), sandboxed: () => true };
    const engine = new PermissionEngine({ ...options, onlyReads: true });
    const decided = async (name: string, args: JsonObject) => (await engine.test({ tool: named(name), args })).decision;
    expect(engine.plan.on).toBe(false);
    expect(await decided("edit", { path: "src/a.ts" })).toBe("deny");
    expect(await decided("bash", { command: "touch src/b" })).toBe("deny");
    expect(await decided("read", { path: "src/a.ts" })).toBe("allow");
    expect(engine.mayStartEarly(call("write", { path: "src/a.ts" }), named("write"), "human")).toBe(false);
  });

  it("lets only calls start early that need no question", () => {
    const engine = engineWith({ rules: rulesOf({ tool: "read", path: "secret/**", decision: "ask" }) });
    const early = (name: string, args: JsonObject) => engine.mayStartEarly(call(name, args), named(name), "human");
    expect(early("read", { path: "src/a.ts" })).toBe(true);
    expect(early("grep", { pattern: "x" })).toBe(true);
    expect(early("read", { path: ".env" })).toBe(false);
    expect(early("read", { path: "secret/b" })).toBe(false);
    expect(early("read", { path: "../d" })).toBe(false);
    expect(early("edit", { path: "src/a.ts" })).toBe(false);
    expect(early("bash", { command: "ls" })).toBe(false);
    expect(early("mcp__a__b", {})).toBe(false);
  });

  it("remembers decisions by call", async () => {
    const engine = engineWith();
    await engine.judge(call("bash", { command: "make" }, "call_1"), named("bash"), "human");
    await engine.judge(call("bash", { command: "ls" }, "call_2"), named("bash"), "human");
    expect(engine.decided("call_1").map(({ verdict }) => verdict.decision)).toEqual(["ask"]);
    expect(engine.decided("call_3")).toEqual([]);
  });
});

describe("a stored session under today's rules", () => {
  const log = (...bodies: readonly EventBody[]) =>
    bodies.map((body, index) => {
      return {
        ...body,
        id: index + 1,
        session: "sess_a",
        originator: "cli_a",
        ts: "2026-01-01T00:00:00.000Z",
      } as Envelope;
    });
  const started = (call: CallId, name: string, args: JsonObject): EventBody => ({
    kind: "ToolCallStarted",
    payload: { call, tool: name, args },
  });
  const result = (call: CallId, status: "ok" | "denied" | "skipped"): EventBody => ({
    kind: "ToolResult",
    payload: { call, tool: "bash", status, content: [] },
  });

  it("is compared with the decision at that time", async () => {
    const events = log(
      started("call_1", "bash", { command: "git push" }),
      { kind: "PermissionRequested", payload: { call: "call_1", tool: "bash", args: {}, summary: "" } },
      {
        kind: "PermissionResolved",
        payload: { call: "call_1", tool: "bash", decision: "allow_once", decided_by: "cli_a" },
      },
      result("call_1", "ok"),
      started("call_2", "bash", { command: "ls" }),
      result("call_2", "ok"),
      started("call_3", "bash", { command: "make" }),
      result("call_3", "ok"),
      started("call_4", "gone", {}),
      result("call_4", "denied"),
      started("call_5", "bash", { command: "make" }),
      result("call_5", "skipped"),
      started("call_6", "bash", { command: "ls" }),
      { kind: "PermissionRequested", payload: { call: "call_6", tool: "bash", args: {}, summary: "" } },
      {
        kind: "PermissionResolved",
        payload: { call: "call_6", tool: "bash", decision: "allow_once", decided_by: "cli_a" },
      },
    );
    const policy = policyWith({
      workspace: root,
      rules: rulesOf({ tool: "bash", command: "git push *", decision: "deny" }),
    });
    const replayed = await replayDecisions(events, policy, async (name, args) =>
      TOOLS.some((each) => each.name === name) ? collectFacts({ tool: named(name), args }, AROUND, ports) : undefined,
    );
    expect(
      replayed.map(({ call, past, now, changed }) => [call, past.decision, past.asked, now?.decision, changed]),
    ).toEqual([
      ["call_1", "allowed", true, "deny", true],
      ["call_2", "allowed", false, "allow", false],
      ["call_3", "allowed", false, "ask", true],
      ["call_4", "denied", false, undefined, false],
      ["call_5", "unknown", false, "ask", false],
      ["call_6", "allowed", true, "allow", true],
    ]);
    expect(replayText(replayed)).toBe(
      [
        "* bash: git push  asked, allowed (cli_a)  now: deny (rule 1 of config.toml)",
        "  bash: ls        allowed                 now: allow (quiet preset)",
        "* bash: make      allowed                 now: ask (mode ask)",
        "  gone            denied                  now: no such tool",
        "  bash: make      unknown                 now: ask (mode ask)",
        "* bash: ls        asked, allowed (cli_a)  now: allow (quiet preset)",
        "",
        "3 of 6 decisions would differ today.",
      ].join("\n"),
    );
  });

  it("without calls says so", () => {
    expect(replayText([])).toBe("The session has no tool calls.");
  });
});
