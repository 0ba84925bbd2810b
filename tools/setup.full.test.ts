import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { hostname, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { withSmallDisk } from "../test/support/undo-at-end.js";
import { until } from "../test/support/waiting.js";
import { nodeComplaint } from "./entry.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const NOBODY = 65534;
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) {
    chmodSync(folder, 0o755);
    rmSync(folder, { recursive: true, force: true });
  }
});

const PROGRAM = `
const lazy = await import("./lazy.js");
console.log(JSON.stringify({ args: process.argv.slice(2), script: process.argv[1], cwd: process.cwd(), value: lazy.value }));
process.exitCode = 7;
`;

/**
 * Replaces npm: counts its calls, empties node_modules as `npm ci` does, waits on request (and does not end at the first signal), and
 * installs links to the dependencies of this checkout; with NPM_ENDED only its record, which is what two of them at once can leave.
 */
const NPM = `#!/bin/sh
echo $$ > "$NPM_CALLS-pid"
echo "$@" >> "$NPM_CALLS"
echo "npm says something"
rm -rf node_modules
if [ -n "$NPM_FAILS_WITH" ]; then echo "npm error code $NPM_FAILS_WITH" >&2; exit 1; fi
if [ -n "$NPM_WARNS_OF" ]; then echo "npm warn tar TAR_ENTRY_ERROR $NPM_WARNS_OF: no space left on device, write" >&2; exit 0; fi
trap "" TERM
while [ -e "$NPM_WAITS_WHILE" ]; do sleep 0.02; done
if [ -n "$NPM_ENDED" ]; then rm -rf node_modules; fi
mkdir -p node_modules
ln -s "${join(ROOT, "node_modules", ".package-lock.json")}" node_modules/
if [ -n "$NPM_ENDED" ]; then echo ended >> "$NPM_ENDED"; exit 0; fi
for entry in "${join(ROOT, "node_modules")}"/*; do ln -s "$entry" node_modules/; done
`;

interface Clone {
  readonly root: string;
  readonly npmCalls: () => string[];
  readonly run: (script: string, options?: RunOptions) => Promise<Ending>;
  readonly launch: (script: string, options?: RunOptions) => ChildProcess;
}

interface RunOptions {
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly env?: Record<string, string | undefined>;
  readonly uid?: number;
}

interface Ending {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A clone of this project with a small program instead of the real one, and an npm that needs no network. */
function makeClone(): Clone {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-clone-")));
  folders.push(root);
  chmodSync(root, 0o755);
  cpSync(join(ROOT, "tools"), join(root, "tools"), { recursive: true, filter: (path) => !path.endsWith(".test.ts") });
  for (const name of ["package-lock.json", "tsconfig.json", "oxbow"]) cpSync(join(ROOT, name), join(root, name));
  writeManifest(root, {});
  mkdirSync(join(root, "src", "main"), { recursive: true });
  writeFileSync(join(root, "src", "main", "bin.ts"), PROGRAM);
  writeFileSync(join(root, "src", "main", "lazy.ts"), "export const value: number = 1;\n");
  const programs = join(root, "programs");
  mkdirSync(programs);
  writeFileSync(join(programs, "npm"), NPM, { mode: 0o755 });
  symlinkSync(process.execPath, join(programs, "node"));
  const calls = join(root, "npm-calls");
  const launch = (script: string, { args = [], cwd = root, env = {}, uid }: RunOptions = {}) => {
    const isNode = script.endsWith(".mjs");
    return spawn(isNode ? process.execPath : script, isNode ? [script, ...args] : [...args], {
      cwd,
      ...(uid === undefined ? {} : { uid, gid: uid }),
      env: { PATH: [programs, "/usr/bin", "/bin"].join(delimiter), NPM_CALLS: calls, ...env },
    });
  };
  return {
    root,
    npmCalls: () => (existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : []),
    launch,
    run: (script, options) => ending(launch(join(root, script), options)),
  };
}

function manifestOf(root: string) {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
}

function writeManifest(root: string, changes: object): void {
  const { dependencies, optionalDependencies, ...rest } = manifestOf(ROOT);
  writeFileSync(join(root, "package.json"), JSON.stringify({ ...rest, ...changes }));
}

async function ending(child: ChildProcess): Promise<Ending> {
  let [stdout, stderr] = ["", ""];
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const [code] = await once(child, "close");
  return { code, stdout, stderr };
}

/** Gives a clone's files to another user than the one who runs it. */
function makeReadOnly(root: string): { uid?: number } {
  if (process.getuid?.() === 0) return { uid: NOBODY };
  for (const folder of [root, join(root, "dist")].filter((path) => existsSync(path))) chmodSync(folder, 0o555);
  return {};
}

describe("a bare clone", () => {
  it("installs, builds and runs; after that it only runs", async () => {
    const clone = makeClone();
    const first = await clone.run("tools/start.mjs", { args: ["a b", "--flag"] });
    expect(JSON.parse(first.stdout)).toEqual({
      args: ["a b", "--flag"],
      script: join(clone.root, "dist", "bin.js"),
      cwd: clone.root,
      value: 1,
    });
    expect(first.code).toBe(7);
    expect(first.stderr).toContain("installing");
    expect(first.stderr).toContain("npm says something");
    expect(clone.npmCalls()).toEqual([expect.stringMatching(/^ci --ignore-scripts --include=dev /)]);
    const built = statSync(join(clone.root, "dist", "bin.js")).mtimeMs;

    const second = await clone.run("tools/start.mjs");
    expect(second).toMatchObject({ code: 7, stderr: "" });
    expect(clone.npmCalls()).toHaveLength(1);
    expect(statSync(join(clone.root, "dist", "bin.js")).mtimeMs).toBe(built);
    expect(readdirSync(join(clone.root, "dist")).filter((name) => /lock|tmp/.test(name))).toEqual([]);
  });

  it("is set up once when two programs start together", async () => {
    const clone = makeClone();
    const [env, finishInstall] = holdInstall(clone.root);
    let waiting = 0;
    const endings = [1, 2, 3].map(() => {
      const child = clone.launch(join(clone.root, "tools/start.mjs"), { env });
      child.stderr?.on("data", (text: Buffer) => {
        if (text.includes("waiting for another set-up")) waiting += 1;
      });
      return ending(child);
    });
    await until(() => waiting === 2);
    finishInstall();
    expect((await Promise.all(endings)).map(({ code }) => code)).toEqual([7, 7, 7]);
    expect(clone.npmCalls()).toHaveLength(1);
  });

  it("takes over from a set-up that was killed", async () => {
    const clone = makeClone();
    const [env, finishInstall] = holdInstall(clone.root);
    const killed = clone.launch(join(clone.root, "tools/start.mjs"), { env });
    await until(() => clone.npmCalls().length === 1);
    killed.kill("SIGKILL");
    await once(killed, "exit");
    finishInstall();
    const lock = join(clone.root, "dist", ".lock");
    expect(JSON.parse(readFileSync(lock, "utf8"))).toMatchObject({ pid: killed.pid, host: hostname() });
    expect(await clone.run("tools/start.mjs")).toMatchObject({ code: 7 });
    expect(existsSync(lock)).toBe(false);
  });

  it("leaves no lock when it is interrupted", async () => {
    const clone = makeClone();
    const [env] = holdInstall(clone.root);
    const child = clone.launch(join(clone.root, "tools/start.mjs"), { env });
    await until(() => clone.npmCalls().length === 1);
    child.kill("SIGTERM");
    expect((await once(child, "exit"))[0]).toBe(143);
    expect(existsSync(join(clone.root, "dist", ".lock"))).toBe(false);
  });

  it("ends npm when it is interrupted", async () => {
    const clone = makeClone();
    const [env] = holdInstall(clone.root);
    const child = clone.launch(join(clone.root, "tools/start.mjs"), { env });
    await until(() => clone.npmCalls().length === 1);
    const npm = Number(readFileSync(join(clone.root, "npm-calls-pid"), "utf8"));
    child.kill("SIGINT");
    expect((await once(child, "exit"))[0]).toBe(130);
    await until(() => !isAlive(npm));
  });

  it("is not disturbed by an npm that outlived a killed set-up", async () => {
    const clone = makeClone();
    const [env, finishInstall] = holdInstall(clone.root);
    const ended = join(clone.root, "npm-ended");
    const killed = clone.launch(join(clone.root, "tools/start.mjs"), { env: { ...env, NPM_ENDED: ended } });
    await until(() => clone.npmCalls().length === 1);
    killed.kill("SIGKILL");
    await once(killed, "exit");
    expect(await clone.run("tools/start.mjs")).toMatchObject({ code: 7 });
    const before = namesIn(join(clone.root, "node_modules"));
    finishInstall();
    await until(() => existsSync(ended));
    expect(namesIn(join(clone.root, "node_modules"))).toEqual(before);
    expect(await clone.run("tools/start.mjs")).toMatchObject({ code: 7, stderr: "" });
  });
});

describe("npm install --global", () => {
  it("builds the clone that it is given, so that the command is there", () => {
    const { root } = makeClone();
    symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
    writeManifest(root, { scripts: { prepare: manifestOf(ROOT).scripts.prepare } });
    // Declarations of one source: this clone has no other.
    const compilerOptions = { declaration: true, emitDeclarationOnly: true, outDir: "dist/types" };
    writeFileSync(join(root, "one.ts"), "export const one = 1;\n");
    writeFileSync(join(root, "tsconfig.build.json"), JSON.stringify({ compilerOptions, files: ["one.ts"] }));
    const prefix = join(root, "prefix");
    const quiet = ["--offline", "--no-audit", "--no-fund", "--loglevel=error"];
    const npm = spawnSync("npm", ["install", "--global", ".", "--prefix", prefix, ...quiet], { cwd: root });
    expect([npm.status, String(npm.stderr)]).toEqual([0, ""]);
    const command = spawnSync(join(prefix, "bin", "oxbow"), ["a"], { cwd: root, encoding: "utf8" });
    expect(JSON.parse(command.stdout)).toMatchObject({ args: ["a"], value: 1 });
  });

  it("does not make the install of a clone's own packages global", async () => {
    const clone = makeClone();
    const env = { npm_config_global: "true", npm_config_location: "global" };
    expect((await clone.run("tools/setup.mjs", { env })).code).toBe(0);
    expect(clone.npmCalls().join()).toMatch(/--global=false --location=project/);
  });
});

describe("a clone that is set up", () => {
  it("is built again when a source changed, and keeps the chunks of a program that is running", async () => {
    const clone = makeClone();
    await clone.run("tools/start.mjs");
    const before = readdirSync(join(clone.root, "dist"));
    writeFileSync(join(clone.root, "src", "main", "lazy.ts"), "export const value: number = 22;\n");
    const changed = await clone.run("tools/start.mjs");
    expect(JSON.parse(changed.stdout)).toMatchObject({ value: 22 });
    expect(readdirSync(join(clone.root, "dist"))).toEqual(expect.arrayContaining(before));
    expect(clone.npmCalls()).toHaveLength(1);
  });

  it("drops chunks of earlier builds after a day", async () => {
    const clone = makeClone();
    await clone.run("tools/start.mjs");
    const old = join(clone.root, "dist", "lazy-OLD.js");
    writeFileSync(old, "");
    utimesSync(old, new Date(), new Date(Date.now() - 25 * 60 * 60 * 1000));
    writeFileSync(join(clone.root, "src", "main", "lazy.ts"), "export const value: number = 3;\n");
    await clone.run("tools/start.mjs");
    expect(existsSync(old)).toBe(false);
  });

  it("is not built again for a test", async () => {
    const clone = makeClone();
    await clone.run("tools/start.mjs");
    const built = statSync(join(clone.root, "dist", "bin.js")).mtimeMs;
    writeFileSync(join(clone.root, "src", "main", "lazy.test.ts"), "");
    await clone.run("tools/start.mjs");
    expect(statSync(join(clone.root, "dist", "bin.js")).mtimeMs).toBe(built);
  });

  it("runs without node_modules, since all is in the bundle", async () => {
    const clone = makeClone();
    await clone.run("tools/start.mjs");
    rmSync(join(clone.root, "node_modules"), { recursive: true });
    expect(await clone.run("tools/start.mjs")).toMatchObject({ code: 7, stderr: "" });
    expect(clone.npmCalls()).toHaveLength(1);
  });

  it("installs again to run when it has run-time dependencies and node_modules is missing", async () => {
    const clone = makeClone();
    writeManifest(clone.root, { dependencies: { esbuild: "*" } });
    await clone.run("tools/start.mjs");
    rmSync(join(clone.root, "node_modules"), { recursive: true });
    expect(await clone.run("tools/start.mjs")).toMatchObject({ code: 7 });
    expect(clone.npmCalls()).toHaveLength(2);
  });

  it("installs again for work on it when node_modules is missing or differs from the lock file", async () => {
    const clone = makeClone();
    expect(await clone.run("tools/setup.mjs")).toMatchObject({ code: 0, stdout: "" });
    rmSync(join(clone.root, "node_modules"), { recursive: true });
    expect(await clone.run("tools/setup.mjs")).toMatchObject({ code: 0, stdout: "" });
    expect(clone.npmCalls()).toHaveLength(2);
    rmSync(join(clone.root, "node_modules"), { recursive: true });
    mkdirSync(join(clone.root, "node_modules"));
    const record = JSON.parse(readFileSync(join(ROOT, "node_modules", ".package-lock.json"), "utf8"));
    record.packages["node_modules/esbuild"].version = "0.0.1";
    writeFileSync(join(clone.root, "node_modules", ".package-lock.json"), JSON.stringify(record));
    await clone.run("tools/setup.mjs");
    expect(clone.npmCalls()).toHaveLength(3);
  });

  it.each([
    ["npm's record is cut off", (modules: string) => cutOff(join(modules, ".package-lock.json"))],
    ["a package is missing", (modules: string) => rmSync(join(modules, "rolldown"))],
    ["a package is half there", (modules: string) => halve(join(modules, "rolldown"))],
  ])("installs again by itself when %s", async (_, damage) => {
    const clone = makeClone();
    await clone.run("tools/start.mjs");
    damage(join(clone.root, "node_modules"));
    writeFileSync(join(clone.root, "src", "main", "lazy.ts"), "export const value: number = 4;\n");
    const { code, stdout, stderr } = await clone.run("tools/start.mjs");
    expect({ code, stderr }).toEqual({ code: 7, stderr: expect.not.stringMatching(/^\s+at /m) });
    expect(JSON.parse(stdout)).toMatchObject({ value: 4 });
    expect(clone.npmCalls()).toHaveLength(2);
  });

  it("keeps its packages when a new install fails", async () => {
    const clone = makeClone();
    await clone.run("tools/setup.mjs");
    const before = namesIn(join(clone.root, "node_modules"));
    cutOff(join(clone.root, "node_modules", ".package-lock.json"));
    const env = { NPM_FAILS_WITH: "EAI_AGAIN" };
    expect(await clone.run("tools/setup.mjs", { env })).toMatchObject({ code: 1 });
    expect(namesIn(join(clone.root, "node_modules"))).toEqual(before);
  });

  it("works in the folder of the caller", async () => {
    const clone = makeClone();
    const elsewhere = join(clone.root, "src", "main");
    const link = join(clone.root, "programs", "linked");
    symlinkSync("../oxbow", link);
    for (const [script, options] of [
      ["oxbow", { cwd: elsewhere }],
      ["programs/linked", { cwd: elsewhere }],
      ["tools/start.mjs", { env: npmStart(clone.root, elsewhere) }],
    ] as const) {
      const { stdout } = await clone.run(script, { ...options, args: ["x"] });
      expect(JSON.parse(stdout), script).toMatchObject({ cwd: elsewhere, args: ["x"] });
    }
    const other = await clone.run("tools/start.mjs", { env: npmStart(join(clone.root, "other"), elsewhere) });
    expect(JSON.parse(other.stdout), "another user's start script").toMatchObject({ cwd: clone.root });
  });
});

describe("a failed set-up is reported in a line", () => {
  it.each([
    ["EAI_AGAIN", "npm could not reach its registry"],
    ["FETCH_ERROR", "npm could not reach its registry"],
    ["ENOSPC", "the disk is full"],
    ["EUSAGE", "package-lock.json does not match"],
    ["EOTHER", "the lines above are npm's own"],
  ])("npm fails with %s", async (code, message) => {
    const clone = makeClone();
    const { stderr, ...rest } = await clone.run("tools/start.mjs", { env: { NPM_FAILS_WITH: code } });
    expect(rest).toEqual({ code: 1, stdout: "" });
    expect(stderr.trimEnd().split("\n").at(-1)).toContain(`oxbow: \`npm ci\` failed (exit 1): ${message}`);
    expect(existsSync(join(clone.root, "dist", ".lock"))).toBe(false);
  });

  it("npm leaves files out because the disk is full, and ends well", async () => {
    const clone = makeClone();
    const { code, stderr } = await clone.run("tools/start.mjs", { env: { NPM_WARNS_OF: "ENOSPC" } });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n").at(-1)).toContain("oxbow: `npm ci` left files out: the disk is full");
    expect(await clone.run("tools/start.mjs")).toMatchObject({ code: 7 });
  });

  it("the registry accepts connections and never answers", async () => {
    const clone = makeClone();
    rmSync(join(clone.root, "programs", "npm"));
    const held: Socket[] = [];
    const registry = createServer((socket) => held.push(socket)).listen(0, "127.0.0.1");
    await once(registry, "listening");
    const { port } = registry.address() as AddressInfo;
    const { code, stderr } = await clone.run("tools/start.mjs", {
      env: {
        PATH: process.env.PATH,
        HOME: clone.root,
        npm_config_registry: `http://127.0.0.1:${port}/`,
        npm_config_cache: join(clone.root, "npm-cache"),
        npm_config_fetch_timeout: "50",
        npm_config_fetch_retries: "0",
      },
    });
    for (const socket of held) socket.destroy();
    registry.close();
    expect(held.length).toBeGreaterThan(0);
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n").at(-1)).toContain("npm could not reach its registry");
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it("the disk is full", async (context) => {
    const clone = makeClone();
    const dist = join(clone.root, "dist");
    await withSmallDisk(context, { folder: dist, size: "16k" }, async () => {
      writeFileSync(join(dist, "filler"), Buffer.alloc(12 * 1024));
      const { code, stderr } = await clone.run("tools/start.mjs");
      expect(code).toBe(1);
      expect(stderr.trimEnd().split("\n").at(-1)).toMatch(/^oxbow: the disk of .* is full\./);
      expect(stderr).not.toMatch(/^\s+at /m);
    });
  });

  it("there is no npm", async () => {
    const clone = makeClone();
    const { code, stderr } = await clone.run("tools/start.mjs", { env: { PATH: join(clone.root, "src") } });
    expect(code).toBe(1);
    expect(stderr).toContain("npm was not found on PATH");
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it("a source does not build", async () => {
    const clone = makeClone();
    writeFileSync(join(clone.root, "src", "main", "lazy.ts"), "export const = 1;\n");
    const { code, stdout, stderr } = await clone.run("tools/start.mjs");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("src/main/lazy.ts:1:14");
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it("the folder is read-only: an older build still runs, a bare clone says what to do", async () => {
    const bare = makeClone();
    const refused = await bare.run("tools/start.mjs", makeReadOnly(bare.root));
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(/^oxbow: .* cannot be written \(EACCES\), and it has to be set up first\./);

    const built = makeClone();
    await built.run("tools/start.mjs");
    writeFileSync(join(built.root, "src", "main", "lazy.ts"), "export const value: number = 99;\n");
    const old = await built.run("tools/start.mjs", makeReadOnly(built.root));
    expect(old).toMatchObject({ code: 7, stderr: expect.stringContaining("older than the sources") });
    expect(JSON.parse(old.stdout)).toMatchObject({ value: 1 });
  });

  it("Node is too old", () => {
    expect(["18.20.4", "20.9.0", "20.18.3"].map(nodeComplaint)).not.toContain(undefined);
    expect(["20.19.0", "22.1.0", "30.0.0"].map(nodeComplaint)).toEqual([undefined, undefined, undefined]);
    expect(nodeComplaint("18.20.4")).toMatch(/Node\.js 20\.19 or newer is needed, and this is 18\.20\.4/);
  });
});

describe("an installed copy", () => {
  it("has no sources and is never set up", async () => {
    const clone = makeClone();
    await clone.run("tools/start.mjs");
    rmSync(join(clone.root, "src"), { recursive: true });
    rmSync(join(clone.root, "dist", ".inputs"));
    rmSync(join(clone.root, "node_modules"), { recursive: true });
    expect(await clone.run("tools/start.mjs")).toMatchObject({ code: 7, stderr: "" });
    expect(clone.npmCalls()).toHaveLength(1);
  });
});

/** Tells what npm sets for `npm start` called in `caller`. */
function npmStart(root: string, caller: string) {
  return { npm_lifecycle_event: "start", npm_package_json: join(root, "package.json"), INIT_CWD: caller };
}

function namesIn(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => !name.startsWith(".oxbow-install-"));
}

function cutOff(file: string): void {
  const text = readFileSync(file, "utf8");
  rmSync(file);
  writeFileSync(file, text.slice(0, 1000));
}

/** Replaces a linked package by its description alone. */
function halve(folder: string): void {
  const manifest = readFileSync(join(folder, "package.json"));
  rmSync(folder);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), manifest);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Settings that make npm wait, and a function that lets it continue. */
function holdInstall(root: string): [env: Record<string, string>, finish: () => void] {
  const path = join(root, "hold");
  writeFileSync(path, "");
  return [{ NPM_WAITS_WHILE: path }, () => rmSync(path)];
}
