/** The recipes of the documentation, and the bot, against a real engine. */

import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { parseScript } from "../../src/testkit/index.js";
import { skipWithout } from "../support/needs.js";
import { blocksOf } from "../support/page-examples.js";
import { type Served, serve } from "../support/served-engine.js";
import { verifies } from "../verifies.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const { PATH = "" } = process.env;

let engine: Served;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-test-"));
});

afterEach(async () => {
  // A test that is skipped has started none.
  await (engine as Served | undefined)?.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(script: string, flags: readonly string[] = []): Promise<void> {
  engine = await serve({ script: parseScript(script), flags });
  // Where the engine of a user is who has set no variable.
  await mkdir(join(folder, ".local", "state"), { recursive: true });
  await symlink(join(engine.home, "state"), join(folder, ".local", "state", "oxbow"));
}

function run(
  command: readonly [string, ...string[]],
  { answer, onError }: { readonly answer?: string; readonly onError?: (text: string) => boolean } = {},
) {
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve, reject) => {
    const [program, ...args] = command;
    const env = { PATH, HOME: folder };
    const child = spawn(program, args, { cwd: folder, env, stdio: ["pipe", "pipe", "pipe"] });
    const output = { stdout: "", stderr: "" };
    child.stdout.on("data", (bytes: Buffer) => (output.stdout += bytes.toString()));
    child.stderr.on("data", (bytes: Buffer) => {
      output.stderr += bytes.toString();
      if (onError?.(output.stderr)) child.stdin.write(answer ?? "");
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...output }));
  });
}

describe("docs/service.md", () => {
  verifies(["C5", "U5"], "has recipes that work as they stand, in their order", async ({ skip }) => {
    skipWithout({ skip }, "curl", "jq", "bash");
    await start(`reply
  text: Hello from the model.
reply
  tool write {"path": "made.txt", "content": "x"}
reply
  text: Done.
loop
`);
    const blocks = (await blocksOf(ROOT, "docs/service.md")).filter(({ language }) => language === "shell");
    const file = join(folder, "recipes.sh");
    await writeFile(file, ["set -euo pipefail", ...blocks.map(({ text }) => text)].join("\n"));
    const { code, stdout, stderr } = await run(["bash", file]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const shown of ["Hello from the model.", "event: ", "workspace", "my-script human", "event: SessionEnded"]) {
      expect(stdout).toContain(shown);
    }
    expect(await readFile(join(folder, "made.txt"), "utf8")).toBe("x");
  });

  verifies(["U5"], "has examples of the SDK that work as they stand", async () => {
    await start("reply\n  text: Hello there.\nloop\n");
    const blocks = (await blocksOf(ROOT, "docs/service.md")).filter(({ language }) => language === "js");
    const built = join(ROOT, "dist", "sdk-node.js");
    const ended = await Promise.all(
      blocks.map(async ({ text }, index) => {
        const file = join(folder, `example-${index}.mjs`);
        await writeFile(file, text.replace("oxbow/sdk/node", built));
        return run([process.execPath, file]);
      }),
    );
    expect(ended.map(({ code, stderr }) => ({ code, stderr }))).toEqual(ended.map(() => ({ code: 0, stderr: "" })));
    expect(ended.every(({ stdout }) => stdout.includes("Hello there."))).toBe(true);
  });
});

describe("oxbow/sdk", () => {
  verifies(["U5"], "is one small file that needs nothing of Node", async () => {
    await start("reply\n  text: Hello there.\nloop\n");
    const code = await readFile(join(ROOT, "dist", "sdk.js"), "utf8");
    expect(code.length).toBeLessThan(80_000);
    // As in a browser: only what the standards of the web have.
    const web = {
      fetch,
      URL,
      URLSearchParams,
      AbortController,
      TextDecoder,
      setTimeout,
      clearTimeout,
      performance,
      Date,
    };
    const sandbox = createContext({ ...web, queueMicrotask, place: { url: engine.url, token: engine.token } });
    const script = code.replace(/^export \{[\s\S]*?\};?\s*$/m, "");
    const result = runInContext(
      `(async () => {
        ${script}
        const oxbow = await connect(place);
        const session = await oxbow.createSession();
        const answered = await session.prompt("Hi");
        await oxbow.close();
        return answered.text;
      })()`,
      sandbox,
    );
    expect(await result).toBe("Hello there.");
  });
});

describe("examples/bot", () => {
  verifies(["U5"], "works through its tasks and asks a person", async () => {
    await start(
      'reply\n  tool write {"path": "made.txt", "content": "x"}\nreply\n  text: Made it.\nreply\n  text: Looked.\nloop\n',
      ["--permission-mode", "ask"],
    );
    const bot = join(ROOT, "examples", "bot", "bot.mjs");
    const { code, stdout, stderr } = await run([process.execPath, bot, "make a file", "look at it"], {
      answer: "y\n",
      onError: (text) => text.endsWith("against it) "),
    });
    expect(stderr).toContain("write made.txt");
    expect(stdout).toContain("✓ make a file\nMade it.");
    expect(stdout).toContain("2 of 2 tasks");
    expect(code).toBe(0);
  });
});
