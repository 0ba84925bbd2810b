import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { skipWithout, whyNot } from "../support/needs.js";
import { textsInMemory } from "../support/process-memory.js";
import { oxbowProcess, temporaryFolder } from "../support/program.js";
import { until } from "../support/waiting.js";
import { verifies } from "../verifies.js";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Looks like a key and is none. */
function sampleSecret(word: string): string {
  return ["sk", "ant", word, "9876543210abcdef"].join("-");
}

/** Not in /tmp: the sandbox has a folder of its own there, and would hide this one for another reason. */
async function ownHome(): Promise<string> {
  const home = await mkdtemp("/var/tmp/oxbow-test-");
  closing.push(() => rm(home, { recursive: true, force: true }));
  await mkdir(join(home, "config"), { mode: 0o700 });
  // Helpers of tests do not stay.
  await writeFile(join(home, "config", "config.toml"), 'credential_idle = "1s"\n');
  return home;
}

async function mockModel(script: string, key: string): Promise<MockModel> {
  const mock = await startMockModel({ script, key });
  closing.push(() => mock.close());
  return mock;
}

async function helperNote(
  home: string,
): Promise<{ readonly pid: number; readonly token: string; readonly socket: string }> {
  return JSON.parse(await readFile(join(home, "state", "credential-helper", "helper-1.json"), "utf8"));
}

/** Everything Oxbow has written, but not the file that holds the token on purpose. */
async function writtenBytes(home: string): Promise<Buffer> {
  const names = await readdir(home, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile() && !entry.name.startsWith("helper-"));
  return Buffer.concat(await Promise.all(files.map((entry) => readFile(join(entry.parentPath, entry.name)))));
}

describe("a secrets file of the project", () => {
  verifies(["M11"], "answers for a run; the model's commands see neither it nor its keys", async () => {
    const key = sampleSecret("file");
    const mock = await mockModel(
      'reply\n  tool bash {"command": "cat .oxbow-secrets/env; env | grep -c ANTHROPIC_API_KEY"}\n  tool read {"path": ".oxbow-secrets/env"}\nreply\n  text: Done.\nloop\n',
      key,
    );
    const cwd = await temporaryFolder();
    await mkdir(join(cwd, ".oxbow-secrets"), { mode: 0o700 });
    await writeFile(join(cwd, ".oxbow-secrets", "env"), `ANTHROPIC_API_KEY=${key}\n`, { mode: 0o600 });
    const env = { OXBOW_HOME: await ownHome(), ANTHROPIC_BASE_URL: mock.url };
    const { code, stdout, stderr } = await oxbowProcess(["run", "hi"], { cwd, env });
    expect([code, stdout, stderr]).toEqual([4, "Done.\n", expect.stringContaining("needs permission")]);
    expect(JSON.stringify(mock.requests.map(({ body }) => body))).not.toContain(key);
    const doctor = await oxbowProcess(["doctor"], { cwd, env });
    expect(doctor.stdout).toMatch(/secrets file +\S+env: ANTHROPIC_API_KEY/);
    expect(doctor.stdout).not.toContain(key);
    await chmod(join(cwd, ".oxbow-secrets", "env"), 0o644);
    const refused = await oxbowProcess(["run", "--provider", "anthropic", "hi"], { cwd, env });
    expect(refused.stderr).toContain("is not read: other users can read it. Run: chmod 600");
    expect(refused.code).not.toBe(0);
  });
});

describe("stored keys", () => {
  verifies(
    ["M12"],
    "are let go with the engine of the home: its helper ends when 'oxbow stop' ends the engine",
    async () => {
      const home = await ownHome();
      await writeFile(join(home, "config", "config.toml"), 'credential_idle = "10m"\n');
      const secret = sampleSecret("stored");
      const mock = await mockModel("reply\n  text: Done.\nloop\n", secret);
      const env = { OXBOW_HOME: home, ANTHROPIC_BASE_URL: mock.url };
      expect((await oxbowProcess(["auth", "set", "anthropic", "--stdin"], { env, input: secret })).code).toBe(0);
      const used = async () => {
        await until(async () => (await oxbowProcess(["status"], { env })).stdout.includes("unix:"));
        expect((await oxbowProcess(["run", "hi"], { env })).stdout).toBe("Done.\n");
        expect((await helperNote(home)).pid).toBeGreaterThan(0);
        await oxbowProcess(["stop"], { env });
      };
      let settle: (result: Promise<void>) => void = () => {};
      const stopped = new Promise<void>((resolve) => (settle = resolve));
      const engine = oxbowProcess(["engine"], {
        env,
        input: "",
        onStart: () => settle(used()),
      });
      await stopped;
      await engine;
      await until(async () => (await helperNote(home).catch(() => undefined)) === undefined);
    },
  );

  verifies(
    ["M11", "M13"],
    "are set, listed and removed without being shown, by several processes at once",
    async () => {
      const home = await ownHome();
      const env = { OXBOW_HOME: home };
      const providers = ["anthropic", "openai", "gemini"];
      const set = await Promise.all(
        providers.map((name) =>
          oxbowProcess(["auth", "set", name, "--stdin"], { env, input: `${sampleSecret(name)}\n` }),
        ),
      );
      expect(set.map(({ code }) => code)).toEqual([0, 0, 0]);
      const listed = await oxbowProcess(["creds", "list"], { env });
      for (const name of providers)
        expect(listed.stdout).toMatch(new RegExp(`^${name} +default +key +stored +https://`, "m"));
      const json = await oxbowProcess(["auth", "list", "--json"], {
        env: { ...env, GEMINI_API_KEY: sampleSecret("env") },
      });
      expect(JSON.parse(json.stdout)).toHaveLength(4);
      expect(json.stdout).toContain("environment (GEMINI_API_KEY)");
      const removed = await oxbowProcess(["creds", "delete", "openai"], { env });
      expect(removed.code).toBe(0);
      expect((await oxbowProcess(["auth", "remove", "openai"], { env })).stderr).toContain(
        "No key is stored for openai",
      );
      const all = [...set, listed, json, removed].map(({ stdout, stderr }) => stdout + stderr).join("");
      for (const word of [...providers, "env"]) expect(all).not.toContain(sampleSecret(word));
      expect((await stat(join(home, "config", "creds.enc"))).mode & 0o777).toBe(0o600);
      expect((await writtenBytes(home)).includes("9876543210abcdef")).toBe(false);
    },
  );

  verifies(
    ["M11"],
    "are refused as words, when they are none, from a model, and under another machine key",
    async () => {
      const home = await ownHome();
      const env = { OXBOW_HOME: home, OXBOW_MACHINE_KEY: "ab".repeat(32) };
      const attempt = (args: string[], more: { input?: string; env?: Record<string, string> } = {}) =>
        oxbowProcess(args, { ...more, env: { ...env, ...more.env } });
      const secret = sampleSecret("word");
      const results = await Promise.all([
        attempt(["creds", "add", "anthropic", "default", secret]),
        attempt(["auth", "set", "anthropic"]),
        attempt(["auth", "set", "anthropic", "--stdin"], { input: `${secret}\nsecond line\n` }),
        attempt(["auth", "set", "anthropc", "--stdin"], { input: secret }),
        attempt(["auth", "set", "anthropic", "--stdin"], { input: secret, env: { OXBOW_AGENT: "1" } }),
        attempt(["auth", "set", "anthropic", "--stdin"], { input: secret, env: { OXBOW_MACHINE_KEY: "short" } }),
      ]);
      expect(results.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2, 2]);
      expect(results.map(({ stderr }) => stderr).join("")).not.toContain(secret);
      expect(results[3]?.stderr).toContain("Did you mean anthropic?");
      expect(await readdir(join(home, "config"))).toEqual(["config.toml"]);
      expect((await attempt(["auth", "set", "anthropic", "--stdin"], { input: secret })).code).toBe(0);
      const before = await readFile(join(home, "config", "creds.enc"));
      const other = await attempt(["auth", "remove", "anthropic"], { env: { OXBOW_MACHINE_KEY: "cd".repeat(32) } });
      expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("Nothing was changed") });
      expect(await readFile(join(home, "config", "creds.enc"))).toEqual(before);
    },
  );
});

describe("a run with a stored key", () => {
  verifies(
    ["M12", "T7"],
    "has the key nowhere: not in its memory, environment, log or debug file, nor in what it starts",
    async ({ skip }) => {
      skipWithout({ skip }, "linux");
      const home = await ownHome();
      const cwd = await temporaryFolder();
      const secret = sampleSecret("stored");
      const elsewhere = sampleSecret("environment");
      const calls = ["env; tr '\\0' '\\n' < /proc/$PPID/environ", "node probe.mjs"];
      const script = `${calls.map((command) => `reply\n  tool bash ${JSON.stringify({ command })}\n`).join("")}reply\n  text: almost\n  hang\n`;
      const mock = await mockModel(script, secret);
      const env = { OXBOW_HOME: home, ANTHROPIC_BASE_URL: mock.url };
      expect((await oxbowProcess(["auth", "set", "anthropic", "--stdin"], { env, input: secret })).code).toBe(0);
      const folder = join(home, "state", "credential-helper");
      await writeFile(
        join(cwd, "probe.mjs"),
        `import { readdirSync } from "node:fs";
try { console.log("seen:", readdirSync(${JSON.stringify(folder)}).join()); } catch (error) { console.log("hidden:", error.code); }`,
      );
      let checked: Promise<void> | undefined;
      const prompt = ["needle", "in", "the", "haystack"].join("-");
      const args = ["debug", "--raw", prompt, "--permission-mode", "allow", "--log-level", "trace"];
      const result = await oxbowProcess(args, {
        cwd,
        env: { ...env, OPENAI_API_KEY: elsewhere },
        onStart: (child) => {
          checked = mock.waitForRequest(3).then(async () => {
            const { token, pid } = await helperNote(home);
            const fileKey = (await readFile(join(home, "data", "creds.key"), "utf8")).trim();
            const engine = child.pid ?? 0;
            // The prompt shows that the search finds what is there.
            expect(textsInMemory(engine, [prompt, secret, fileKey])).toEqual([prompt]);
            for (const each of [engine, pid]) {
              expect(await readFile(`/proc/${each}/environ`, "latin1")).not.toContain(secret);
              expect(await readFile(`/proc/${each}/cmdline`, "latin1")).not.toContain(secret);
            }
            const results = JSON.stringify(mock.requests.at(-1)?.body);
            expect(results).toContain("OXBOW_AGENT=1");
            for (const text of [secret, token, fileKey]) expect(results).not.toContain(text);
            // A key that the engine has in its environment is redacted, wherever a command finds it.
            expect(results).not.toContain(elsewhere);
            // Without a sandbox a command reads the files of its own user.
            expect(results.includes("seen:")).toBe(whyNot("sandbox") !== undefined);
          });
          void checked.finally(() => child.kill("SIGINT")).catch(() => {});
        },
      });
      await checked;
      expect(mock.failures).toEqual([]);
      expect(result.stdout + result.stderr).not.toContain(secret);
      const written = await writtenBytes(home);
      expect(written.includes(secret)).toBe(false);
      const [, session = ""] = /^(sess_\w+) /.exec((await oxbowProcess(["debug", "show"], { env })).stdout) ?? [];
      const traffic = await oxbowProcess(["debug", "show", session], { env });
      expect(traffic.stdout).toContain(prompt);
      expect(traffic.stdout).not.toContain(secret);
    },
  );

  verifies(
    ["M12", "P8"],
    "keeps sandboxed commands away from the helper, which others reach without being let in",
    async ({ skip }) => {
      skipWithout({ skip }, "sandbox");
      const home = await ownHome();
      const cwd = await temporaryFolder();
      const secret = sampleSecret("stored");
      const folder = join(home, "state", "credential-helper");
      await writeFile(
        join(cwd, "probe.mjs"),
        `import { readdirSync } from "node:fs";
import { connect } from "node:net";
let names = [];
try { names = readdirSync(${JSON.stringify(folder)}); } catch (error) { console.log("folder:", error.code); }
const name = names.find((each) => each.endsWith(".sock"));
const socket = connect(${JSON.stringify(folder)} + "/" + name);
socket.on("error", (error) => console.log("socket:", error.code));
socket.on("connect", () => socket.write("POST /v1/messages HTTP/1.1\\r\\nx-oxbow-credential: anthropic/default\\r\\n\\r\\n"));
socket.on("data", (piece) => console.log("answer:", String(piece).split("\\r\\n")[0]));`,
      );
      const probe = async (flags: string[]) => {
        const mock = await mockModel('reply\n  tool bash {"command": "node probe.mjs"}\nreply\n  text: done\n', secret);
        const env = { OXBOW_HOME: home, ANTHROPIC_BASE_URL: mock.url };
        expect((await oxbowProcess(["auth", "set", "anthropic", "--stdin"], { env, input: secret })).code).toBe(0);
        expect((await oxbowProcess(["run", "go", "--permission-mode", "allow", ...flags], { cwd, env })).code).toBe(0);
        return JSON.stringify(mock.requests.at(-1)?.body);
      };
      expect(await probe(["--sandbox", "off"])).toContain("answer: HTTP/1.1 401");
      const inside = await probe(["--sandbox", "auto"]);
      expect(inside).toMatch(/folder: E(ACCES|NOENT|PERM)/);
      expect(inside).toMatch(/socket: E(ACCES|NOENT|PERM|CONNREFUSED|AFNOSUPPORT)/);
      expect(inside).not.toContain("answer:");
    },
  );

  verifies(["M12"], "continues when the helper dies once, and reports when it dies again", async ({ skip }) => {
    skipWithout({ skip }, "linux");
    const home = await ownHome();
    let deaths = 1;
    let requests = 0;
    const server = createServer(async (_, response) => {
      requests++;
      if (deaths-- > 0) process.kill((await helperNote(home)).pid, "SIGKILL");
      else response.writeHead(200, { "content-type": "text/event-stream" }).end(CHAT_ANSWER);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const env = { OXBOW_HOME: home, OPENAI_BASE_URL: url };
    const secret = sampleSecret("stored");
    expect((await oxbowProcess(["auth", "set", "openai", "--stdin"], { env, input: secret })).code).toBe(0);
    const once = await oxbowProcess(["run", "go", "--model", "openai:m", "--store", "none"], { env });
    expect(once).toMatchObject({ code: 0, stdout: "still here\n" });
    expect(requests).toBe(2);
    deaths = 2;
    const twice = await oxbowProcess(["run", "go", "--model", "openai:m", "--store", "none"], { env });
    expect(twice).toMatchObject({ code: 1, stderr: expect.stringContaining("The credential helper crashed twice") });
    expect(requests).toBe(4);
    const doctor = await oxbowProcess(["doctor"], { env });
    expect(doctor.stdout).toMatch(/key +openai: stored, sent by the helper process to http:\/\/127/);
  });
});

const CHAT_ANSWER = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "still here" }, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`;
