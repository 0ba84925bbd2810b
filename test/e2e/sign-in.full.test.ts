/** Signing in as a person does it: the built program, a browser that is a program of its own, and a server that checks everything. */
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { AuthorizationServer, browse, type ServerOptions } from "../support/authorization-server.js";
import { oxbowProcess, type ProgramOptions, type ProgramResult, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const ANSWERS = `${"reply\n  text: Hello.\n".repeat(8)}`;

async function setUp(options: ServerOptions = {}) {
  const mock: MockModel = await startMockModel({ script: ANSWERS });
  closing.push(() => mock.close());
  const server = await AuthorizationServer.open({ upstream: mock.url, ...options });
  closing.push(() => server.close());
  const home = await temporaryFolder();
  const env = { OXBOW_HOME: home, OXBOW_TEST_SIGN_IN: server.url };
  const run = (args: readonly string[], more: ProgramOptions = {}) =>
    oxbowProcess(args, { ...more, env: { ...env, ...more.env } });
  closing.push(() => run(["auth", "lock"]));
  return { mock, server, home, run };
}

/** A browser: opens an address, follows redirects, and ends. */
async function browserProgram(): Promise<string> {
  const path = join(await temporaryFolder(), "browser");
  const code = `const go = (url) => require("http").get(url, { headers: { "sec-fetch-mode": "navigate" } }, (answer) =>
    answer.headers.location ? go(answer.headers.location) : answer.resume());
  go(process.argv[1]);`;
  await writeFile(path, `#!/bin/sh\nexec '${process.execPath}' -e '${code}' "$1"\n`);
  await chmod(path, 0o755);
  return path;
}

/** Everything that was printed or lies in a folder, to look for what must not be in it. */
async function traces(folder: string, results: readonly ProgramResult[]): Promise<string> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), "latin1")),
  );
  return [...results.flatMap(({ stdout, stderr }) => [stdout, stderr]), ...texts].join("\n");
}

const TOKEN = /(code|access|refresh|account|device)-\d{4}-sample/;

describe("oxbow auth set", () => {
  verifies(["M13"], "claude: in the browser, then models answer; tokens are renewed, once, and kept", async () => {
    const { server, home, run, mock } = await setUp({ accessSeconds: 60 });
    const browser = await browserProgram();
    const signedIn = await run(["auth", "set", "claude", "--yes"], { env: { BROWSER: browser } });
    expect(signedIn.stderr).toContain("for its own programs only");
    expect(signedIn.stderr).toContain(`${server.url}/claude/authorize?`);
    expect(signedIn.stdout).toBe(
      `Signed in with Claude, for ${server.url}/claude/api only. Use it: oxbow --provider claude "PROMPT"\n`,
    );
    expect(signedIn.code).toBe(0);

    // About to end: both runs want it renewed, one of them does it.
    server.accessSeconds = 3600;
    const answers = await Promise.all([1, 2].map(() => run(["run", "--provider", "claude", "hello"])));
    for (const { stdout, stderr, code } of answers)
      expect({ stdout, stderr, code }).toEqual({ stdout: "Hello.\n", stderr: "", code: 0 });
    const grants = server.asked("/token").map(({ body }) => (JSON.parse(body) as Record<string, string>).grant_type);
    expect(grants).toEqual(["authorization_code", "refresh_token"]);
    const [asked] = server.asked("/messages");
    expect(asked?.headers).toMatchObject({ "anthropic-beta": "oauth-2025-04-20" });
    expect(asked?.headers["x-api-key"]).toBeUndefined();
    expect(mock.failures).toEqual([]);

    // Refused before its time, as when this machine's clock is slow: renewed, and the run goes on.
    server.advance(2 * 3_600_000);
    await run(["auth", "lock"]);
    const late = await run(["run", "--provider", "claude", "hello"]);
    expect(late).toMatchObject({ stdout: "Hello.\n", stderr: "", code: 0 });
    expect(server.asked("/token")).toHaveLength(3);

    // Taken back: one line that says what to do.
    server.revokeAll();
    await run(["auth", "lock"]);
    const ended = await run(["run", "--provider", "claude", "hello"]);
    expect(ended.stderr).toBe("oxbow: The sign-in for claude has expired. Sign in again: oxbow auth set claude\n");
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(await traces(home, [signedIn, ...answers, late, ended])).not.toMatch(TOKEN);
  });

  verifies(["M13"], "copilot: by a code that is entered elsewhere", async () => {
    const { server, run } = await setUp();
    server.deviceIntervalSeconds = 0.01;
    let entered = false;
    const signedIn = await run(["auth", "set", "copilot", "--no-browser"], {
      onOutput: ({ stderr }) => {
        const code = /│ +(\S+) +│/.exec(stderr)?.[1];
        if (code !== undefined && !entered) server.decide(code, "agreed");
        entered ||= code !== undefined;
      },
    });
    expect(signedIn.stdout).toContain(`Signed in with GitHub Copilot, for ${server.url}/copilot/api/moved only.`);
    const { stdout, stderr } = await run(["run", "--provider", "copilot", "hello"]);
    expect({ stdout, stderr }).toEqual({ stdout: "Hello.\n", stderr: "" });
    expect(server.asked("/chat/completions")[0]?.headers["copilot-integration-id"]).toBe("vscode-chat");
  });

  verifies(["M13"], "chatgpt: without a browser, by what a person pastes", async () => {
    const { server, run } = await setUp({ accountId: "acc-9" });
    let pasted = false;
    const signedIn = await run(["auth", "set", "chatgpt", "--no-browser"], {
      onStart: (child) => {
        child.stdin?.on("error", () => {});
      },
      input: "nothing of use\n",
      onOutput: ({ stderr }) => {
        const url = /^ {2}(http\S+)$/m.exec(stderr)?.[1];
        // Standard input has ended by then: the redirect still counts.
        if (url !== undefined && !pasted) void browse(url);
        pasted ||= url !== undefined;
      },
    });
    expect(signedIn.stderr).toContain("Oxbow finds no code in this line.");
    expect(signedIn.code).toBe(0);
    const { stdout, stderr } = await run(["run", "--provider", "chatgpt", "hello"]);
    expect({ stdout, stderr }).toEqual({ stdout: "Hello.\n", stderr: "" });
    expect(server.asked("/responses")[0]?.headers).toMatchObject({
      "chatgpt-account-id": "acc-9",
      originator: "oxbow",
    });
  });

  verifies(["M13"], "ends with Ctrl-C, and asks for consent where the terms want it", async () => {
    const { run } = await setUp();
    const stopped = await run(["auth", "set", "claude", "--yes"], {
      env: { BROWSER: "/bin/true" },
      onOutput: ({ stderr }, child) => void (/authorize\?\S+\n\n$/.test(stderr) && child.kill("SIGINT")),
    });
    expect(stopped).toMatchObject({ code: 130, stdout: "" });
    expect(stopped.stderr).toMatch(/Cancelled\. Nothing was saved\.\n$/);
    const unasked = await run(["auth", "set", "claude"]);
    expect(unasked).toMatchObject({ code: 1, stdout: "" });
    expect(unasked.stderr).toContain("run it on a terminal, or add --yes");
    const { stderr, code } = await run(["run", "--provider", "claude", "hello"]);
    expect(stderr).toBe(
      "oxbow: No model: claude needs a sign-in: run 'oxbow auth set claude', or choose another provider ('oxbow models').\n",
    );
    expect(code).toBe(6);
  });
});
