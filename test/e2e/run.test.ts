import { execFileSync } from "node:child_process";
import { appendFile, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { isId } from "../../src/protocol/ids.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { approve } from "../support/approve.js";
import {
  envelopes,
  oxbow,
  providerEnvironment,
  sampleKey,
  temporaryFolder,
  WIRES,
  type Wire,
  withoutSandboxNotice,
} from "../support/program.js";
import { isThorough } from "../support/thorough.js";
import { verifies } from "../verifies.js";

const mocks: MockModel[] = [];
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
});

async function mockModel(script: string, options: { key?: string } = {}): Promise<MockModel> {
  const mock = await startMockModel({ script, ...options });
  mocks.push(mock);
  return mock;
}

async function runAgainst(script: string, args: readonly string[], options: { wire?: Wire; cwd?: string } = {}) {
  const mock = await mockModel(script);
  const env = providerEnvironment(options.wire ?? "anthropic", mock.url);
  const result = await oxbow(args, { env, ...(options.cwd !== undefined && { cwd: options.cwd }) });
  return { mock, ...result };
}

const GREP_TURN = `
reply
  text: Let me look.
  tool grep {"pattern": "needle"}
reply
  expect last-tool-result contains "hay.txt"
  text: Found it in hay.txt.
`;

describe("a headless run", () => {
  for (const wire of WIRES) {
    verifies(["U1", "M2", "L1"], `answers through real tools on the ${wire} wire`, async () => {
      const cwd = await temporaryFolder();
      await writeFile(join(cwd, "hay.txt"), "straw\nneedle\n");
      const { code, stdout, stderr, mock } = await runAgainst(GREP_TURN, ["find the needle"], { wire, cwd });
      expect(stderr).toBe("Let me look.\n");
      expect(stdout).toBe("Found it in hay.txt.\n");
      expect(code).toBe(0);
      expect(mock.failures).toEqual([]);
      expect(
        mock.requests.filter((request) =>
          request.path.match(/messages|completions|responses|GenerateContent|api\/chat/),
        ),
      ).toHaveLength(2);
    });
  }

  verifies(
    ["U1", "L11", "C1"],
    "--stream-events prints one envelope a line; the outcome, then the end of the session come last",
    async () => {
      const cwd = await temporaryFolder();
      await writeFile(join(cwd, "hay.txt"), "needle\n");
      const { code, stdout } = await runAgainst(GREP_TURN, ["run", "find", "--stream-events"], { cwd });
      expect(code).toBe(0);
      const events = envelopes(stdout);
      expect(stdout.trimEnd().split("\n")).toHaveLength(events.length);
      expect(events.map((event) => event.id)).toEqual(events.map((_, index) => index + 1));
      expect(events[0]).toMatchObject({ kind: "TurnStarted", payload: { input: [{ type: "text", text: "find" }] } });
      expect(events.at(-1)).toMatchObject({ kind: "SessionEnded", payload: { reason: "binary-shutdown" } });
      expect(events.at(-2)).toMatchObject({ kind: "TurnEnded", payload: { outcome: "answered", iterations: 2 } });
      for (const event of events) {
        expect(isId("sess", event.session)).toBe(true);
        expect(isId("cli", event.originator)).toBe(true);
        expect(Date.parse(event.ts)).toBeGreaterThan(0);
      }
      const call = events.find((event) => event.kind === "ToolCallStarted");
      expect(call?.payload).toMatchObject({ tool: "grep", args: { pattern: "needle" } });
      expect(events.find((event) => event.kind === "ToolResult")?.payload).toMatchObject({
        status: "ok",
        tool: "grep",
      });
    },
  );

  verifies(["U1"], "--json-events prints the answer, then the records", async () => {
    const { stdout } = await runAgainst("reply\n  text: forty-two\n", ["run", "ask", "--json-events"]);
    expect(stdout.startsWith("forty-two\n{")).toBe(true);
    expect(envelopes(stdout).at(-1)?.kind).toBe("TurnEnded");
  });

  verifies(["U1"], "--output-format json prints one object", async () => {
    const { stdout } = await runAgainst("reply\n  text: forty-two\n  usage input=7 output=3\n", [
      "run",
      "ask",
      "--output-format",
      "json",
    ]);
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: "answered",
      text: "forty-two",
      iterations: 1,
      usage: { input: 7, output: 3 },
    });
  });

  verifies(["U1"], "takes the prompt from standard input, alone and beside words", async () => {
    const mock = await mockModel("reply\n  text: one\nreply\n  text: two\n");
    const env = providerEnvironment("anthropic", mock.url);
    expect((await oxbow(["run"], { env, input: "from the pipe\n" })).stdout).toBe("one\n");
    expect((await oxbow(["run", "explain"], { env, input: "log line\n" })).stdout).toBe("two\n");
    expect(JSON.stringify(mock.requests[0]?.body)).toContain("from the pipe");
    expect(JSON.stringify(mock.requests[1]?.body)).toContain("explain\\n\\nlog line");
  });

  verifies(["U1", "T2"], "--tool-set and --system-prompt decide what the model is offered", async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, "mine.md"), "Speak like a pirate.");
    const args = ["run", "hi", "--tool-set", "read", "--system-prompt", `@${join(cwd, "mine.md")}`];
    const { mock } = await runAgainst("reply\n  text: arr\n", args);
    const body = mock.requests[0]?.body as { tools: { name: string }[]; system: unknown };
    expect(body.tools.map((tool) => tool.name)).toEqual(expect.arrayContaining(["read", "ls", "glob", "grep"]));
    expect(body.tools.map((tool) => tool.name)).not.toContain("bash");
    expect(JSON.stringify(body.system)).toContain("Speak like a pirate.");
  });

  verifies(
    ["T2", "E1", "E4"],
    "a tool set of one's own names built-in tools, programs and tools of plugins",
    async () => {
      const home = await temporaryFolder();
      const [config, cwd] = [join(home, "config"), await temporaryFolder()];
      const schema = '{"name":"NAME","description":"d","input_schema":{"type":"object","properties":{}}}';
      for (const name of ["my_tool", "other_tool"]) {
        await mkdir(join(config, "tools"), { recursive: true });
        const program = `#!/bin/sh\n[ "$1" = --schema ] && echo '${schema.replace("NAME", name)}' || echo ran ${name}\n`;
        await writeFile(join(config, "tools", name), program, { mode: 0o755 });
      }
      await mkdir(join(config, "plugins"));
      const tool = (name: string) =>
        `oxbow.addTool({ name: "${name}", description: "d", inputSchema: { type: "object" }, mutating: false, run: () => "x" });`;
      await writeFile(
        join(config, "plugins", "dice.mjs"),
        `export default function register(oxbow) { ${tool("dice")} ${tool("cards")} }\n`,
      );
      await writeFile(join(config, "config.toml"), '[tool_sets]\nmine = ["read", "grep", "my_tool", "dice", "gerp"]\n');
      await approve(cwd, { home });
      const mock = await mockModel("reply\n  tool my_tool {}\nreply\n  tool other_tool {}\nreply\n  text: done\n");
      const env = { ...providerEnvironment("anthropic", mock.url), OXBOW_HOME: home };
      const flags = ["--tool-set", "mine", "--permission-mode", "allow", "--stream-events"];
      const { stdout, stderr, code } = await oxbow(["run", "go", ...flags], { env, cwd });
      expect([code, stderr]).toEqual([0, expect.stringContaining("--tool-set: nothing here offers gerp.")]);
      const body = mock.requests[0]?.body as { tools: { name: string }[] };
      expect(body.tools.map(({ name }) => name).sort()).toEqual(["dice", "grep", "my_tool", "read"]);
      const results = envelopes(stdout).flatMap(({ kind, payload }) => (kind === "ToolResult" ? [payload] : []));
      expect(results).toMatchObject([
        { tool: "my_tool", status: "ok" },
        { tool: "other_tool", status: "error" },
      ]);
      const listed = await oxbow(["tools", "--tool-set", "mine"], { env, cwd });
      expect(listed.stdout).toMatch(/^read .*\n(.*\n)*.*my_tool/);
      expect(listed.stdout).not.toContain("other_tool");
      expect(listed.stdout).toMatch(/^dice .*dice\.mjs/m);
      expect(listed.stdout).not.toContain("cards");
      expect(listed.stdout).toContain("nothing here offers: gerp");
    },
  );

  verifies(["T7"], "a command sees no provider key", async () => {
    const script = 'reply\n  tool bash {"command": "env"}\nreply\n  text: done\n';
    const { code, stdout } = await runAgainst(script, ["run", "go", "--permission-mode", "allow", "--stream-events"]);
    expect(code).toBe(0);
    expect(stdout).toContain("PATH=");
    expect(stdout).not.toContain(sampleKey());
  });

  verifies(
    ["O2"],
    "writes its own log as JSON lines, and raw traffic only when asked, readable by the owner, without the key",
    async () => {
      const mock = await mockModel("reply\n  tool ls {}\nreply\n  text: hi\nreply\n  text: hi\n", { key: sampleKey() });
      const env = providerEnvironment("anthropic", mock.url);
      const wrong = await oxbow(["run", "hi", "--log-level", "info,enigne=debug"], { env });
      expect([wrong.code, wrong.stderr]).toEqual([
        2,
        expect.stringContaining('there is no component "enigne" in the log'),
      ]);
      const plain = await oxbow(["run", "hi", "--log-level", "debug"], { env });
      const logs = await readdir(join(plain.home, "state", "log"));
      const lines = (await readFile(join(plain.home, "state", "log", logs[0] ?? ""), "utf8")).trim().split("\n");
      expect(logs[0]).toMatch(/^oxbow-\d{8}\.log$/);
      const components = lines.map((line) => JSON.parse(line).component);
      expect(components).toEqual(expect.arrayContaining(["engine", "provider.anthropic", "tools"]));
      await expect(readdir(join(plain.home, "state", "debug"))).rejects.toThrow();

      const raw = await oxbow(["debug", "--raw", "hi"], { env });
      expect(raw.code).toBe(0);
      const [file = ""] = await readdir(join(raw.home, "state", "debug"));
      expect(file).toMatch(/^sess_\w+\.jsonl$/);
      const path = join(raw.home, "state", "debug", file);
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect(await readFile(path, "utf8")).not.toMatch(/messages|anthropic/);
      // A line that a crash cut off damages no other.
      await appendFile(path, "c3R1bXA=\n");
      const session = file.replace(".jsonl", "");
      const shown = await oxbow(["debug", "show", session.slice(-8)], { env: { OXBOW_HOME: raw.home } });
      const records = shown.stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(records.map(({ type }) => type)).toEqual(expect.arrayContaining(["request", "response", "body", "end"]));
      expect(records[0].body).toContain('"messages"');
      expect(shown.stdout).not.toContain(sampleKey());
      expect(shown.stderr).toContain("A line cannot be read");
      expect((await oxbow(["debug", "show"], { env: { OXBOW_HOME: raw.home } })).stdout).toContain(session);
      expect((await oxbow(["session", "delete", session, "--yes"], { env: { OXBOW_HOME: raw.home } })).code).toBe(0);
      expect(await readdir(join(raw.home, "state", "debug"))).toEqual([]);
    },
  );
});

describe("exit codes and clear errors", () => {
  verifies(
    ["U1"],
    "every exit without a turn prints a JSON object with the failure, if JSON is asked for",
    async () => {
      const strange = await temporaryFolder();
      await writeFile(join(strange, "AGENTS.md"), "Obey.\n");
      const refused: readonly (readonly [number, string, readonly string[], string?])[] = [
        [2, "InvalidInput", ["run", "hi", "--no-such-flag"]],
        [2, "InvalidInput", ["run", "hi", "--max-iterations", "none"]],
        [2, "InvalidInput", ["run", "hi", "--resume", "sess_nothing"]],
        [2, "InvalidInput", ["run", "/no-such-command"]],
        [2, "InvalidInput", ["run"]],
        [5, "NonInteractiveAckRefused", ["run", "hi"], strange],
        [6, "NoModel", ["run", "hi", "--provider", "anthropic"]],
        [1, "Internal", ["run", "hi", "--attach"]],
      ];
      for (const [code, reason, args, cwd] of refused) {
        const where = args.join(" ");
        const options = {
          cwd: cwd ?? (await temporaryFolder()),
          env: { OXBOW_HOME: await temporaryFolder() },
          input: "",
        };
        const one = await oxbow([...args, "--output-format", "json"], options);
        expect(one.code, where).toBe(code);
        const object = JSON.parse(one.stdout);
        expect(object, where).toMatchObject({ outcome: "failed", text: "", failure: { reason } });
        expect(one.stderr, where).toContain(object.failure.message.split("\n")[0].slice(0, 40));
        const streamed = await oxbow([...args, "--output-format=stream-json"], options);
        expect(streamed.code, where).toBe(code);
        const failures = envelopes(streamed.stdout).filter(({ payload }) => "failure" in payload);
        expect(failures, where).toMatchObject([{ payload: { failure: { reason } } }]);
        expect((await oxbow(args, options)).stdout, where).toBe("");
      }
    },
  );

  const oneLine = (stderr: string) => {
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toMatch(/^oxbow: /);
    expect(stderr).not.toMatch(/\n\s+at |node:internal/);
  };

  verifies(["U1", "O5"], "a wrong key says which one to check (1)", async () => {
    const mock = await mockModel("reply\n  text: hi\n", { key: "another" });
    for (const wire of ["anthropic", "openai"] as const) {
      const { code, stderr } = await oxbow(["run", "hi"], { env: providerEnvironment(wire, mock.url) });
      oneLine(stderr);
      expect(stderr).toContain(`${wire.toUpperCase()}_API_KEY`);
      expect(code).toBe(1);
    }
  });

  verifies(["U1"], "an unknown flag and a bad value are usage errors (2)", async () => {
    for (const [args, expected] of [
      [["run", "hi", "--modle", "x"], "Did you mean --model?"],
      [["run", "hi", "--max-iterations", "many"], "whole number"],
      [["run", "hi", "--permission-mode", "maybe"], "auto, review, ask, allow or deny"],
      [["run", "hi", "--timeout", "soon"], "duration"],
      [["run", "hi", "--tool-set", "everything"], "no tool set"],
      [["run", "hi", "--output-format", "xml"], "stream-json"],
      [["run", "hi", "--model"], "needs a value"],
      [["modles"], "Did you mean 'oxbow models'?"],
      [["run", "hi", "--cwd", "/nonexistent/folder"], "/nonexistent/folder"],
    ] as const) {
      const { code, stderr, stdout } = await oxbow(args);
      oneLine(stderr);
      expect(stderr, args.join(" ")).toContain(expected);
      expect(stdout).toBe("");
      expect(code, args.join(" ")).toBe(2);
    }
  });

  verifies(["U1", "L4"], "limits are outcomes (3)", async () => {
    const endless = "reply\n  tool ls {}\nloop\n";
    const limited = await runAgainst(endless, ["run", "go", "--max-iterations", "3"]);
    expect(limited.code).toBe(3);
    expect(limited.stderr).toContain("--max-iterations");
    const timed = await runAgainst("reply\n  hang\n", ["run", "go", "--timeout", "300ms"]);
    expect(timed.code).toBe(3);
    expect(timed.stderr).toContain("--timeout");
  });

  verifies(
    ["U1", "P1"],
    "a permission that no user could give is reported (4), and the answer still comes",
    async () => {
      const script =
        'reply\n  tool bash {"command": "touch made"}\nreply\n  expect last-tool-result contains "cannot answer here"\n  text: I could not.\n';
      const cwd = await temporaryFolder();
      const { code, stdout, stderr } = await runAgainst(script, ["run", "go", "--permission-mode", "ask"], { cwd });
      expect(stdout).toBe("I could not.\n");
      oneLine(withoutSandboxNotice(stderr));
      expect(stderr).toContain("--permission-mode allow");
      expect(code).toBe(4);
      expect(await readdir(cwd)).toEqual([]);
    },
  );

  verifies(
    ["P16"],
    "a guarded path is never said to be allowed by a mode, and the rule that is named allows it",
    async () => {
      const script = `reply
  tool write {"path": ".envrc", "content": "x"}
reply
  text: Done.
`;
      const cwd = await temporaryFolder();
      const { code, stderr } = await runAgainst(script, ["run", "go"], { cwd });
      expect(code).toBe(4);
      expect(stderr).not.toContain("--permission-mode allow");
      const [, rules = ""] = /permissions\.rules = (\[.*\]) into config\.toml/.exec(stderr) ?? [];
      const profile = join(await temporaryFolder(), "profile.toml");
      await writeFile(profile, `permissions.rules = ${rules}\n`);
      expect((await runAgainst(script, ["run", "go", "--profile", profile], { cwd })).code).toBe(0);
      expect(await readdir(cwd)).toEqual([".envrc"]);
    },
  );

  verifies(["U1", "M5"], "no model (6)", async () => {
    const { code, stderr } = await oxbow(["run", "hi", "--provider", "anthropic"]);
    oneLine(stderr);
    expect(stderr).toContain("ANTHROPIC_API_KEY");
    expect(code).toBe(6);
    const events = envelopes((await oxbow(["run", "hi", "--provider", "anthropic", "--stream-events"])).stdout);
    expect(events.at(-2)).toMatchObject({
      kind: "TurnEnded",
      payload: { outcome: "failed", failure: { reason: "NoModel" } },
    });
    expect((await oxbow(["run", "hi", "--provider", "nonsense"])).code).toBe(6);
  });

  verifies(
    ["U1", "M2"],
    "a server that drops, answers HTML, is not there, fails or refuses: one line each (1)",
    async () => {
      const failures = [
        ["reply\n  text: half an answer\n  drop\n", "closed the connection"],
        ["reply\n  html\n", "base URL"],
        ['reply\n  error 500 server "boom"\n', "boom"],
      ] as const;
      for (const [at, wire] of WIRES.entries()) {
        const here = failures.filter((_, index) => isThorough || at === 0 || at % failures.length === index);
        const words = [
          "run",
          "hi",
          "--retry-wait",
          "0",
          ...(wire === "ollama" ? ["--model", "ollama:mock-model"] : []),
        ];
        const results = await Promise.all(here.map(([script]) => runAgainst(script, words, { wire })));
        results.forEach(({ code, stderr }, index) => {
          const [script, expected] = here[index] ?? [];
          oneLine(stderr);
          expect(stderr, `${wire} ${script}`).toContain(expected);
          expect(code).toBe(1);
        });
      }
      const { code, stderr } = await oxbow(["run", "hi"], { env: { OPENAI_BASE_URL: "http://127.0.0.1:9/v1" } });
      oneLine(stderr);
      expect(stderr).toContain("http://127.0.0.1:9/v1");
      expect(code).toBe(1);
    },
    // Up to sixteen programs, on a machine that may be busy.
    120_000,
  );

  verifies(["U1", "L9"], "Ctrl-C cancels cleanly (130) and keeps what had arrived", async () => {
    // What comes after the text shows that the text has arrived.
    const mock = await mockModel("reply\n  text: so far\n  thinking: I wonder\n  hang\n");
    let pressed = false;
    const { code, stdout, stderr } = await oxbow(["run", "go", "-v"], {
      env: providerEnvironment("anthropic", mock.url),
      onOutput: (all, child) => {
        if (pressed || !all.stderr.includes("I wonder")) return;
        pressed = child.kill("SIGINT");
      },
    });
    expect(stdout).toBe("so far\n");
    expect(stderr).toContain("oxbow: cancelled.\n");
    expect(code).toBe(130);
  });

  verifies(
    ["M6"],
    "the offline model understands a request that comes with notices: the branch, plan mode",
    async () => {
      const cwd = await temporaryFolder();
      execFileSync("git", ["init", "--quiet"], { cwd });
      await writeFile(join(cwd, "notes.txt"), "water the plants\n");
      for (const flags of [[], ["--plan"]]) {
        const { stdout } = await oxbow(["run", "show notes.txt", "--model", "offline", ...flags], { cwd });
        expect(stdout).toContain("water the plants");
      }
    },
  );

  verifies(["U1"], "a reader that goes away ends the run quietly", async () => {
    const mock = await mockModel("reply\n  text repeat=200000: words and words \n  hang\n");
    const { stderr, signal } = await oxbow(["run", "go", "--stream-events"], {
      env: providerEnvironment("anthropic", mock.url),
      onOutput: (all, child) => {
        if (all.stdout.length > 0) child.stdout?.destroy();
      },
    });
    expect(stderr).toBe("");
    expect(signal).toBeNull();
  });
});
