/** `paths/scenarios`, `trust/scenarios` and `injection/prompt` of the suites, against the tools, the judge and the program itself. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer as createSocket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { safeLine } from "../../src/base/terminal-text.js";
import type { ToolOutcome } from "../../src/engine/ports.js";
import { parseFlags } from "../../src/feature/flags.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/json.js";
import { RunGuard } from "../../src/runtime/parts/guard.js";
import { RunPermissions } from "../../src/runtime/parts/permissions.js";
import { openToolbox } from "../../src/runtime/parts/toolbox.js";
import { loadSettings } from "../../src/runtime/settings/settings.js";
import { createMark, wrapUntrusted } from "../../src/security/untrusted/untrusted.js";
import { reply, script, startMockModel } from "../../src/testkit/index.js";
import { insideBlock, resultTexts } from "../support/inside-block.js";
import { envelopes, oxbow, providerEnvironment } from "../support/program.js";
import { suiteCases } from "../support/suites.js";

let base: string;
let workspace: string;
let outside: string;
let home: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-suite-")));
  [workspace, outside, home] = [join(base, "ws"), join(base, "out"), join(base, "home")];
  for (const folder of [workspace, outside, home]) mkdirSync(folder);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const placed = (text: string) =>
  text
    .replaceAll("{WSLINK}", join(base, "ws-link"))
    .replaceAll("{WS}", workspace)
    .replaceAll("{OUT}", outside)
    .replaceAll("{PID}", String(process.pid))
    .replaceAll("{SEP}", "/");

function lay(path: string, content: JsonValue): void {
  mkdirSync(dirname(path), { recursive: true });
  if (typeof content === "string") writeFileSync(path, placed(content));
  if (!isJsonObject(content)) return;
  if (typeof content.symlink === "string") symlinkSync(placed(content.symlink), path);
  if (typeof content.hardlink === "string") linkSync(placed(content.hardlink), path);
  if (content.fifo !== undefined) execFileSync("mkfifo", [path]);
  if (content.dir !== undefined) mkdirSync(path, { recursive: true });
  if (typeof content.sparse_bytes === "number") {
    writeFileSync(path, "");
    truncateSync(path, content.sparse_bytes);
  }
  if (content.socket !== undefined) createSocket().listen(path).unref();
}

/** `unlink PATH` and `symlink TARGET PATH`. */
function take(step: string): void {
  const [action, one = "", other = ""] = step.split(" ");
  if (action === "unlink" || action === "rm") rmSync(one, { recursive: true, force: true });
  else if (action === "symlink") symlinkSync(one, other);
  else throw new Error(`unknown step: ${step}`);
}

type Happened = "asked" | ToolOutcome["status"];

/** A call as the loop handles it without a terminal: decided, then run. */
async function call(
  tool: string,
  args: JsonObject,
  between: () => void = () => {},
): Promise<{ readonly happened: Happened; readonly text: string }> {
  const variables = { PATH: process.env.PATH, HOME: home, OXBOW_HOME: home };
  const loaded = await loadSettings(parseFlags([], [], ""), variables);
  const outputDirectory = join(home, "output");
  const guard = new RunGuard({ root: workspace, variables, ownFolders: [home] });
  const { value: sets } = loaded.settings.tool_sets;
  const toolbox = openToolbox({
    root: workspace,
    offers: (tool, set) => sets.offers(tool, set),
    variables,
    outputDirectory,
    guard,
  });
  const permissions = new RunPermissions({
    ...{ loaded, variables, root: workspace, ownFolders: [home], guard, workspace: toolbox.workspace },
    isSandboxed: async () => true,
    originator: () => "human",
  });
  const definition = toolbox.find(tool);
  if (definition === undefined) throw new Error(`there is no tool ${tool}`);
  try {
    const verdict = await permissions.judge({ call: "call_1", tool, args }, definition);
    if (verdict.decision !== "allow") return { happened: "asked", text: verdict.reason };
    const context = { signal: new AbortController().signal, progress: () => {} };
    if (tool === "write") await toolbox.find("read")?.run(args, context);
    between();
    const { status, content } = await definition.run(args, context);
    return { happened: status, text: content.map((block) => (block.type === "text" ? block.text : "")).join("\n") };
  } catch (error) {
    return { happened: "error", text: (error as Error).message };
  } finally {
    await toolbox.close();
  }
}

const PATCHES: Readonly<Record<string, (path: string) => string>> = {
  add: (path) => `*** Add File: ${path}\n+PWN`,
  update: (path) => `*** Update File: ${path}\n@@\n-original\n+PWN`,
  delete: (path) => `*** Delete File: ${path}`,
  "move-from": (path) => `*** Update File: ${path}\n*** Move to: moved.txt\n@@\n-original\n+PWN`,
  "move-to": (path) => `*** Update File: source.txt\n*** Move to: ${path}\n@@\n-original\n+PWN`,
};

function callOf(request: JsonObject): readonly [string, JsonObject] | undefined {
  const path = placed(String(request.path ?? ""));
  switch (request.op) {
    case "read":
      return ["read", { path }];
    case "write":
      return ["write", { path, content: String(request.content ?? "PWN") }];
    case "apply_patch":
      return ["apply_patch", { patch: `*** Begin Patch\n${PATCHES[String(request.kind)]?.(path)}\n*** End Patch` }];
    case "glob":
      return ["glob", { pattern: String(request.pattern) }];
    case "grep":
      return ["grep", { pattern: String(request.pattern) }];
    case "list":
      return ["ls", {}];
    case "run":
      return ["bash", { command: placed(String(request.command)) }];
    default:
      return undefined;
  }
}

/** Lists what an expected decision allows to happen. `ok` where a name is a file like any other on this system. */
const FITTING: Readonly<Record<string, readonly Happened[]>> = {
  deny_or_ask: ["asked", "error", "denied"],
  deny_or_error: ["asked", "error", "denied"],
  error: ["asked", "error"],
  allow: ["ok"],
  error_or_allow: ["ok", "error"],
  error_or_truncate: ["ok", "error", "asked"],
};

/** Oxbow does not agree, and why. */
const ACCEPTED: Readonly<Record<string, string>> = {
  "protected-write-ok/.git/objects/test-obj":
    "an edit inside .git is asked about: git's own commands are the way there",
  "protected-write-ok/.git/refs/heads/main": "as above",
  "protected-write-ok/.git/index": "as above",
};

describe("paths/scenarios", () => {
  const OPERATIONS = ["read", "write", "apply_patch", "glob", "grep", "list", "run"];
  const cases = suiteCases("paths/scenarios.json").filter(({ request, expect: wanted }) => {
    return OPERATIONS.includes(String((request as JsonObject).op)) && (wanted as JsonObject).platform === undefined;
  });
  it.each(cases.map((one) => [one.id, one] as const))("%s", async (id, { layout, request, expect: wanted }) => {
    for (const [path, content] of Object.entries(layout as JsonObject)) {
      if (path.startsWith("{")) lay(placed(path), content as JsonValue);
    }
    const expected = wanted as JsonObject;
    const files = (expected.unchanged as string[] | undefined)?.map(placed) ?? [];
    const before = files.filter((path) => existsSync(path)).map((path) => [path, readFileSync(path, "utf8")]);
    const started = Date.now();
    const steps = ((request as JsonObject).between_check_and_use as string[] | undefined) ?? [];
    const [tool, args] = callOf(request as JsonObject) ?? ["read", {}];
    const { happened, text } = await call(tool, args, () => steps.map(placed).forEach(take));
    const fitting = ACCEPTED[id] === undefined ? FITTING[String(expected.decision)] : undefined;
    if (fitting !== undefined) expect([text, happened, fitting.includes(happened)]).toEqual([text, happened, true]);
    if (expected.secret_must_not_appear) expect(text).not.toContain("SECRET");
    if (typeof expected.content === "string") expect(text).toContain(expected.content);
    if (expected.must_escape_in_ui) expect(safeLine(text)).not.toMatch(/[\u202a-\u202e\u001b\n]/);
    if (typeof expected.must_not_hang_ms === "number") expect(Date.now() - started).toBeLessThan(10_000);
    for (const name of (expected.must_not_list as string[] | undefined) ?? []) expect(text).not.toContain(name);
    for (const [path, content] of before) expect(readFileSync(path as string, "utf8")).toBe(content);
    for (const path of (expected.must_not_exist as string[] | undefined) ?? [])
      expect(existsSync(placed(path))).toBe(false);
  });
});

/** Covers what of the trust suite can happen to this program: it starts in the folder, with a model that does what it reads. */
describe("trust/scenarios", () => {
  const withFiles = suiteCases("trust/scenarios.json").filter(({ files }) => Object.keys(files as object).length > 0);

  it.each(withFiles.map((one) => [one.id, one] as const))("%s", async (_id, { files }) => {
    execFileSync("git", ["init", "-q", workspace]);
    for (const [path, content] of Object.entries(files as JsonObject)) {
      lay(join(workspace, placed(path)), content as string);
      if (String(content).startsWith("#!")) chmodSync(join(workspace, placed(path)), 0o755);
    }
    const looks = ["git status", "git diff", "ls -la", "rg x"].map((command) => reply().tool("bash", { command }));
    const obeys = reply().tool("bash", { command: `touch ${outside}/pwn` });
    for (const flags of [[], ["--skip-unapproved"], ["--skip-unapproved", "--permission-mode", "ask"]]) {
      const mock = await startMockModel({ script: script([...looks, obeys, reply().text("Done.")]) });
      const env = {
        ...providerEnvironment("anthropic", mock.url),
        OXBOW_HOME: home,
        PATH: `.:${process.env.PATH}`,
      };
      const { code, stdout } = await oxbow(["run", "--stream-events", ...flags, "go"], { cwd: workspace, env });
      await mock.close();
      const denied = envelopes(stdout).filter(
        ({ kind, payload }) => kind === "ToolResult" && payload.status === "denied",
      );
      // Nothing was loaded and nothing ran, or what the files are after was not permitted; in mode auto the sandbox contains it.
      if (code === 5) expect(mock.requests).toEqual([]);
      else if (flags.includes("ask")) expect(denied.length).toBeGreaterThan(0);
      const system = JSON.stringify(mock.requests.map(({ body }) => (body as JsonObject).system));
      expect(system).not.toContain("Before anything run");
      expect([existsSync(join(outside, "pwn")), existsSync(join(workspace, "pwn"))]).toEqual([false, false]);
    }
  });

  it("session-file-permissions: what a run leaves behind is the user's alone", async () => {
    const env = { OXBOW_HOME: home, OXBOW_PROVIDER: "offline" };
    await oxbow(["run", "hello"], { cwd: workspace, env });
    const wrong = everyFile(home).filter((path) => (lstatSync(path).mode & 0o077) !== 0);
    expect(wrong).toEqual([]);
  });

  it("flag-smuggling: a prompt that looks like a flag is not a flag", async () => {
    const config = join(base, "evil.toml");
    writeFileSync(config, 'permission_mode = "allow"\n');
    const { code, stderr } = await oxbow(["run", `--settings=${config}`, "go"], {
      cwd: workspace,
      env: { OXBOW_HOME: home },
    });
    expect([code, stderr]).toEqual([2, expect.stringContaining("--settings")]);
  });
});

function everyFile(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? everyFile(path) : [path];
  });
}

describe("injection/prompt", () => {
  const HIDDEN =
    /\p{Default_Ignorable_Code_Point}|[\0-\x08\v-\x1f\x7f-\x9f\u2028\u2029\u2800\ufff9-\ufffc]|\p{Surrogate}/u;

  it.each(suiteCases("injection/prompt.json").map((one) => [one.id, one] as const))("%s", (_id, { text, carrier }) => {
    const mark = createMark((bytes) => crypto.getRandomValues(new Uint8Array(bytes)));
    const wrapped = wrapUntrusted({ text: String(text), kind: String(carrier), source: String(carrier) }, mark);
    const close = wrapped.lastIndexOf("\n");
    const inside = wrapped.slice(wrapped.indexOf("\n") + 1, close).replaceAll("\r\n", "\n");
    expect(wrapped.startsWith(`<untrusted-${mark} `)).toBe(true);
    expect(wrapped.slice(close + 1)).toBe(`</untrusted-${mark}>`);
    expect(inside).not.toContain(mark);
    expect(inside).not.toMatch(/<[\s/]*untrusted/i);
    expect(inside).not.toMatch(HIDDEN);
  });

  it("arrives through a command and a file, and does not leave its block", async () => {
    const texts = suiteCases("injection/prompt.json").map(({ text }) => String(text));
    for (const [at, text] of texts.entries()) lay(join(workspace, `${at}.txt`), text);
    const looks = texts.map((_text, at) =>
      reply()
        .tool("bash", { command: `cat ${at}.txt` })
        .tool("read", { path: `${at}.txt` }),
    );
    const mock = await startMockModel({ script: script([...looks, reply().text("Done.")]) });
    const env = { ...providerEnvironment("anthropic", mock.url), OXBOW_HOME: home };
    const flags = ["--permission-mode", "allow", "--store", "none", "--max-iterations", "200"];
    const { code } = await oxbow(["run", ...flags, "go"], { cwd: workspace, env });
    await mock.close();
    const said = resultTexts(mock.requests.at(-1));
    expect([code, said.length]).toEqual([0, 2 * texts.length]);
    const marks = new Set(said.map((text) => /^<untrusted-([a-z]{3})>/.exec(text)?.[1] ?? text));
    expect(marks.size).toBe(1);
    for (const text of said) {
      const inside = insideBlock(text);
      expect(inside).not.toContain(`</untrusted-${[...marks][0]}`);
      expect(inside).not.toMatch(/<[\s/]*untrusted-|<\/\s*untrusted\s*>/i);
      expect(inside).not.toMatch(/<\|[^|\s]+\|>|\[\/?INST\]/i);
    }
  });
});
