import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { oxbow, oxbowProcess, providerEnvironment, sampleKey, temporaryFolder, type Wire } from "../support/program.js";
import { verifies } from "../verifies.js";

const mocks: MockModel[] = [];
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
});

/** Something that looks like a secret, and is none. */
const secret = () => `ghp_${"a1B2c3D4e5F6".repeat(3)}`;

const SCRIPT = `
reply
  text: Let me look, for the gîte.
  tool grep {"pattern": "needle"}
  tool read {"path": "hay.txt"}
reply
  expect last-tool-result contains "straw"
  text: Found it in hay.txt.
`;

/** A folder of its own for each run: nothing of it may matter. */
async function workspace(hay = "straw\nneedle\n"): Promise<string> {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "hay.txt"), hay);
  return cwd;
}

async function recorded(
  wire: Wire,
  environment: (
    wire: Wire,
    url: string,
  ) => Record<string, string> | Promise<Record<string, string>> = providerEnvironment,
) {
  const mock = await startMockModel({ script: SCRIPT, key: sampleKey() });
  mocks.push(mock);
  const tape = join(await temporaryFolder(), "tape.jsonl");
  const prompt = `find the needle, not ${secret()}`;
  const env = await environment(wire, mock.url);
  const result = await oxbowProcess(["run", prompt, "--record", tape], { env, cwd: await workspace() });
  return { tape, prompt, result };
}

/** With the key in its own process, which requests go through. */
async function storedKey(_wire: Wire, url: string) {
  const home = await temporaryFolder();
  await mkdir(join(home, "config"));
  // Helpers of tests do not stay.
  await writeFile(join(home, "config", "config.toml"), 'credential_idle = "1s"\n');
  const env = { OXBOW_HOME: home, ANTHROPIC_BASE_URL: url };
  const stored = await oxbow(["auth", "set", "anthropic", "--stdin"], { env, input: `${sampleKey()}\n` });
  expect(stored, stored.stderr).toMatchObject({ code: 0 });
  return env;
}

describe("cassettes", () => {
  for (const wire of ["anthropic", "ollama"] as const) {
    verifies(
      ["M18"],
      `a run on the ${wire} wire is replayed elsewhere, without a key and without a network`,
      async () => {
        const { tape, prompt, result } = await recorded(wire);
        expect(result).toMatchObject({
          code: 0,
          stderr: "Let me look, for the gîte.\n",
          stdout: "Found it in hay.txt.\n",
        });
        await mocks[0]?.close();
        const text = await readFile(tape, "utf8");
        expect(text).not.toContain(sampleKey());
        expect(text).not.toContain(secret());
        expect(text).not.toMatch(/oxbow-test-/);
        const again = await oxbow(["run", prompt, "--replay", tape], { cwd: await workspace() });
        expect(again).toMatchObject({ code: 0, stderr: result.stderr, stdout: result.stdout });
        const spent = await oxbow(["cost", "--json"], { env: { OXBOW_HOME: again.home } });
        expect(JSON.parse(spent.stdout).total, "a replay costs nothing").toMatchObject({
          calls: 2,
          usd: 0,
          unpriced: 0,
        });
      },
    );
  }

  verifies(
    ["M18"],
    "a request that is not the recorded one ends the run, with a report of what differs, is missing or left over",
    async () => {
      const { tape, prompt, result } = await recorded("anthropic", storedKey);
      expect(result, result.stderr).toMatchObject({ code: 0 });
      const other = await oxbow(["run", prompt, "--replay", tape], { cwd: await workspace("straw\nstraw\nneedle\n") });
      expect(other.code).toBe(1);
      expect(other.stdout).toBe("");
      expect(other.stderr).toContain("Let me look, for the gîte.\n");
      expect(other.stderr).toMatch(
        /call 2 of 2 differs in body\.messages\[2\]\.content\[0\]\.content\[0\]\.text and in 1 more/,
      );
      expect(other.stderr).toContain("\n  -2:needle\n  +3:needle\n");
      expect(other.stderr).toContain("  -2\tneedle\n  +2\tstraw\n  +3\tneedle\n");

      const lines = (await readFile(tape, "utf8")).trimEnd().split("\n");
      const cwd = await workspace();
      await writeFile(tape, [...lines, lines.at(-1), ""].join("\n"));
      const tooLong = await oxbow(["run", prompt, "--replay", tape], { cwd });
      expect(tooLong.code).toBe(1);
      expect(tooLong.stderr).toContain("1 call was recorded and not made:\n  call 3: POST /v1/messages (200)\n");
      await writeFile(tape, `${lines.slice(0, -1).join("\n")}\n`);
      const tooShort = await oxbow(["run", prompt, "--replay", tape], { cwd });
      expect(tooShort.code).toBe(1);
      expect(tooShort.stderr).toContain("it has 1 call, and this run makes one more");
    },
  );

  verifies(
    ["M18"],
    "a program that stands for a provider is replayed where it is not, and its key is not kept",
    async () => {
      const home = await temporaryFolder();
      const folder = join(home, "config", "providers");
      await mkdir(folder, { recursive: true });
      const key = sampleKey();
      const program = `#!/bin/sh
case "$1" in
  --defaults) printf 'model=grey\\ncontext_tokens=90000\\n';;
  --env) echo ACME_API_KEY;;
  --stream)
    case "$(cat)" in
      *tool_result*) echo "Found it, with $ACME_API_KEY."; exit 0;;
      *) printf '{"type":"text","text":"Let me look."}\\n{"type":"tool_call","tool":"grep","args":{"pattern":"needle"}}\\n';;
    esac;;
esac
`;
      await writeFile(join(folder, "acme"), program, { mode: 0o755 });
      const tape = join(await temporaryFolder(), "tape.jsonl");
      const env = { OXBOW_HOME: home, ACME_API_KEY: key };
      const args = ["run", "find the needle", "--provider", "acme", "--record", tape];
      const result = await oxbow(args, { env, cwd: await workspace() });
      expect(result).toMatchObject({ code: 0, stderr: "Let me look.\n", stdout: `Found it, with ${key}.\n` });
      expect(await readFile(tape, "utf8")).not.toContain(key);
      const again = await oxbow(["run", "find the needle", "--replay", tape], { cwd: await workspace() });
      expect(again).toMatchObject({ code: 0, stderr: "Let me look.\n", stdout: "Found it, with {{key}}.\n" });
      const other = await oxbow(["run", "find another", "--replay", tape], { cwd: await workspace() });
      expect(other.code).toBe(1);
      expect(other.stderr).toContain("call 1 of 2 differs in body.messages[0].content[0].text");
    },
  );
});
