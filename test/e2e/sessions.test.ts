import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/json.js";
import type { SessionRecord } from "../../src/sessions/store.js";
import { type MockModel, type RecordedRequest, startMockModel } from "../../src/testkit/index.js";
import { withoutCacheHints } from "../support/cache-hints.js";
import {
  envelopes,
  oxbow,
  type ProgramResult,
  providerEnvironment,
  temporaryFolder,
  WIRES,
  type Wire,
} from "../support/program.js";
import { verifies } from "../verifies.js";

const mocks: MockModel[] = [];
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
});

async function mockModel(script: string): Promise<MockModel> {
  const mock = await startMockModel({ script });
  mocks.push(mock);
  return mock;
}

/** One machine: a home, a folder to work in, and the program in it. */
async function machine() {
  const home = await temporaryFolder();
  const cwd = await temporaryFolder();
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<ProgramResult> =>
    oxbow(args, { cwd, env: { OXBOW_HOME: home, ...env } });
  const sessions = async (...args: string[]): Promise<SessionRecord[]> =>
    JSON.parse((await run(["session", "list", "--json", ...args])).stdout) as SessionRecord[];
  return { home, cwd, run, sessions };
}

function messagesOf(request: RecordedRequest | undefined): JsonObject[] {
  const body = request?.body as JsonValue;
  if (!isJsonObject(body)) return [];
  const said = body.messages ?? body.input ?? body.contents;
  return Array.isArray(said) ? (withoutCacheHints(said as JsonValue) as JsonObject[]) : [];
}

const TWO_RUNS = `
reply
  thinking signature=sig-1: I should look.
  text: Let me look.
  tool bash {"command": "echo a-rare-word"}
reply
  text: It said a-rare-word.
reply
  text: As I said.
`;

describe("a session", () => {
  for (const wire of WIRES) {
    verifies(
      ["S6", "U1"],
      `goes on where it stopped: the ${wire} model is sent what it would have been sent`,
      async () => {
        const script = TWO_RUNS.replace(/.*signature.*\n/, wire === "anthropic" ? "$&" : "");
        const { run, sessions } = await machine();
        const mock = await mockModel(script);
        const env = providerEnvironment(wire, mock.url);
        expect((await run(["run", "--permission-mode", "allow", "look"], env)).code).toBe(0);
        const again = await run(["run", "--continue", "and?"], env);
        expect(again).toMatchObject({ code: 0, stdout: "As I said.\n", stderr: "" });
        const [, second, third] = mock.requests;
        // All that the second request held, byte for byte, then the answer and the new input.
        const before = messagesOf(second);
        expect(messagesOf(third).slice(0, before.length)).toEqual(before);
        expect(messagesOf(third)).toHaveLength(before.length + 2);
        expect(JSON.stringify(messagesOf(third).at(-2))).toContain("It said a-rare-word.");
        expect(await sessions()).toMatchObject([{ title: "look" }]);
      },
    );
  }

  verifies(["S6", "M7"], "continues with another provider, without the thinking of the first", async () => {
    const { run, sessions } = await machine();
    const mock = await mockModel(TWO_RUNS);
    const anthropic = providerEnvironment("anthropic", mock.url);
    const openai = providerEnvironment("openai", mock.url);
    await run(["run", "--permission-mode", "allow", "look"], anthropic);
    const [record] = await sessions();
    const again = await run([record?.id ?? "", "--provider", "openai", "and?"], { ...anthropic, ...openai });
    expect(again).toMatchObject({ code: 0, stdout: "As I said.\n" });
    const third = mock.requests[2];
    expect(third?.wire).toBe("openai");
    const roles = messagesOf(third).map(({ role }) => role);
    expect(roles).toEqual(["system", "user", "assistant", "tool", "assistant", "user"]);
    expect(JSON.stringify(third?.body)).not.toContain("sig-1");
    expect(await sessions()).toMatchObject([{ id: record?.id, provider: "openai" }]);
    // From then on it is that provider's, without being asked again.
    const last = await run(["run", "-c", "once more"], { ...anthropic, ...openai });
    expect(last.code).toBe(0);
    expect(mock.requests.at(-1)?.wire).toBe("openai");
  });

  verifies(["S1", "S4"], "is not to be read in its file, nor are secrets in it after that", async () => {
    const { home, cwd, run } = await machine();
    const secret = `ghp_${"a1B2c3D4".repeat(5).slice(0, 36)}`;
    const mock = await mockModel(`
reply
  text: A very recognisable answer.
  tool bash {"command": "cat token"}
reply
  text: Done.
`);
    await writeFile(join(cwd, "token"), secret);
    const env = providerEnvironment("anthropic", mock.url);
    await run(["run", "--permission-mode", "allow", `my token is ${secret}, a recognisable prompt`], env);
    const data = join(home, "data");
    let stored = 0;
    for (const entry of await readdir(data, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      // The log of a database that is being closed goes away.
      const bytes = await readFile(join(entry.parentPath, entry.name), "latin1").catch(() => "");
      stored += bytes.length;
      expect(bytes).not.toContain("recognisable");
      expect(bytes).not.toContain(secret);
    }
    expect(stored).toBeGreaterThan(4096);
    const { stdout } = await run(["session", "export", (await firstId(run)) ?? "", "--format", "jsonl"]);
    expect(stdout).toContain("A very recognisable answer.");
    expect(stdout).toContain("«redacted:github»");
    expect(stdout).not.toContain(secret);
  });

  verifies(
    ["S1"],
    "needs its key: with a wrong one nothing runs, nothing changes, and it is said what to do",
    async () => {
      const { home, run } = await machine();
      const mock = await mockModel("reply\n  text: Hello.\nloop\n");
      const env = providerEnvironment("anthropic", mock.url);
      await run(["run", "hi"], env);
      const database = join(home, "data", "sessions.db");
      const before = await readFile(database);
      const wrong = await run(["run", "--continue", "hi again"], { ...env, OXBOW_PASSPHRASE: "not the one" });
      expect(wrong.code).toBe(1);
      expect(wrong.stderr).toMatch(/key/i);
      expect(mock.requests).toHaveLength(1);
      const failing = await run(["run", "a new one"], { ...env, OXBOW_MACHINE_KEY: "ab".repeat(32) });
      expect(failing.code).toBe(1);
      expect(failing.stderr).toContain("cannot save the session");
      expect(await readFile(database)).toEqual(before);
      expect((await run(["run", "--continue", "hi"], env)).code).toBe(0);
    },
  );

  verifies(["S1"], "is not stored with --store none", async () => {
    const { home, run } = await machine();
    const mock = await mockModel("reply\n  text: Hello.\n");
    const result = await run(["run", "--store", "none", "hi"], providerEnvironment("anthropic", mock.url));
    expect(result).toMatchObject({ code: 0, stdout: "Hello.\n" });
    expect(await readdir(home)).not.toContain("data");
  });

  verifies(["S1", "L12"], "times its writing", async () => {
    const { run } = await machine();
    const mock = await mockModel('reply\n  tool bash {"command": "true"}\nreply\n  text: Done.\n');
    const env = providerEnvironment("anthropic", mock.url);
    const { stdout } = await run(
      ["run", "--permission-mode", "allow", "--sandbox", "off", "--stream-events", "go"],
      env,
    );
    const timing = envelopes(stdout).find((event) => event.kind === "TurnTiming");
    expect(timing?.payload.parts["log/write"]).toBeGreaterThan(0);
  });

  verifies(["U1"], "reports what is wrong with a named session", async () => {
    const { run } = await machine();
    const { code, stderr } = await run(["run", "--continue", "hi"]);
    expect(code).toBe(2);
    expect(stderr).toContain("no session to continue");
    const missing = await run([`sess_${"0".repeat(26)}`, "hi"]);
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain("There is no session");
    expect((await run(["run", "--store", "cloud", "hi"])).stderr).toContain(
      "expected sqlite, files, files:DIR or none",
    );
  });

  verifies(["S1", "L14"], "that cannot be stored stops before anything is changed", async () => {
    const { home, cwd, run } = await machine();
    const mock = await mockModel('reply\n  tool bash {"command": "echo x > made"}\nreply\n  text: Done.\n');
    await mkdir(join(home, "data"), { recursive: true });
    await writeFile(join(home, "data", "sessions.db"), "this is no database at all, but something else");
    await chmod(join(home, "data", "sessions.db"), 0o600);
    const result = await run(["run", "--permission-mode", "allow", "go"], providerEnvironment("anthropic", mock.url));
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("cannot save the session");
    expect(await readdir(cwd)).not.toContain("made");
  });
});

describe("a call without a recorded end", () => {
  const SCRIPT = `
reply
  tool bash {"command": "echo begun > begun; sleep 60"}
reply
  text: I see.
reply
  text: Again.
`;

  async function killed(wire: Wire = "anthropic") {
    const place = await machine();
    const mock = await mockModel(SCRIPT);
    const env = providerEnvironment(wire, mock.url);
    const result = await oxbow(["run", "--permission-mode", "allow", "--sandbox", "off", "--stream-events", "go"], {
      cwd: place.cwd,
      env: { OXBOW_HOME: place.home, ...env },
      onStart: (child) => {
        const look = setInterval(async () => {
          if ((await readdir(place.cwd)).includes("begun")) child.kill("SIGKILL");
        }, 20);
        child.on("close", () => clearInterval(look));
      },
    });
    expect(result, result.stderr).toMatchObject({ signal: "SIGKILL" });
    return { ...place, mock, env };
  }

  verifies(["S6", "U1"], "resumes in its own folder, or in the one that --cwd names", async () => {
    const { home, cwd, run, sessions } = await machine();
    const elsewhere = await temporaryFolder();
    await writeFile(join(cwd, "name.txt"), "the first folder");
    await writeFile(join(elsewhere, "name.txt"), "another folder");
    const look = 'reply\n  tool read {"path": "name.txt"}\nreply\n  text: Done.\n';
    const mock = await mockModel(`reply\n  text: Hello.\n${look}${look}`);
    const env = { OXBOW_HOME: home, ...providerEnvironment("anthropic", mock.url) };
    await run(["run", "hello there"], env);
    const [{ id = "", cwd: root = "" } = {}] = await sessions();
    const first = await oxbow(["--resume", id, "look here"], { cwd: elsewhere, env });
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining(`the session works in ${root}.`) });
    expect(JSON.stringify(messagesOf(mock.requests[2]))).toContain("the first folder");
    const second = await oxbow(["--resume", id, "--cwd", elsewhere, "look here"], { cwd, env });
    expect([second.code, second.stderr]).toEqual([0, ""]);
    expect(JSON.stringify(messagesOf(mock.requests[4]))).toContain("another folder");
  });

  verifies(["S3", "U1"], "stops a resume that cannot ask, and says how to answer", async () => {
    const { run, env, mock } = await killed();
    const result = await run(["run", "--continue", "go on"], env);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("echo begun > begun; sleep 60");
    expect(result.stderr).toContain("--orphan failed");
    expect(mock.requests).toHaveLength(1);
  });

  verifies(["S3"], "gets the result that the user gives, for the model and for the ledger", async () => {
    const { run, env, mock } = await killed();
    const args = ["run", "--continue", "--orphan", "succeeded", "--orphan-note", "The file is there.", "go on"];
    expect(await run(args, env)).toMatchObject({ code: 0, stdout: "I see.\n" });
    const told = JSON.stringify(messagesOf(mock.requests[1]));
    expect(told).toContain("says that it succeeded. The file is there.");
    expect(await run(["run", "--continue", "again"], env)).toMatchObject({ code: 0, stdout: "Again.\n" });
  });

  verifies(["S3"], "can end the session", async () => {
    const { run, env, mock, sessions } = await killed();
    const result = await run(["run", "--continue", "--orphan", "abort", "go on"], env);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("You ended session");
    expect(mock.requests).toHaveLength(1);
    expect(await sessions()).toMatchObject([{ ended: "user" }]);
  });
});

async function firstId(run: (args: readonly string[]) => Promise<ProgramResult>): Promise<string | undefined> {
  return (JSON.parse((await run(["session", "list", "--json"])).stdout) as SessionRecord[])[0]?.id;
}
