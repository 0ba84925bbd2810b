import type { ChildProcess } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { skipWithout } from "../support/needs.js";
import { BIN, oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { RealTerminal } from "../support/real-terminal.js";
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

describe("the plain line client on a pipe", () => {
  verifies(["U1"], "takes lines, commands and !commands in order, and ends with the input", async () => {
    const mock = await mockModel("reply\n  text: one\nreply\n  text: two\n");
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, "here.txt"), "");
    const input = "first\n/status\n!!ls\n!echo shared '</untrusted>'\nsecond\n/clear\n/nonsense\n/help\n/exit\nnever\n";
    const { code, stdout, stderr } = await oxbow(["--plain"], {
      env: providerEnvironment("anthropic", mock.url),
      input,
      cwd,
    });
    // A script learns that one of its commands failed.
    expect(code).toBe(2);
    expect(stdout).toMatch(/^one\nmodel +anthropic:[\s\S]*here\.txt\nshared <\/untrusted>\ntwo\n/);
    expect(stdout).toContain("/model [NAME]");
    expect(stderr).toContain("There is no command /nonsense");
    expect(mock.requests).toHaveLength(2);
    expect(mock.requests[1]?.messages).toBe(3);
    const last = JSON.stringify(mock.requests[1]?.body);
    expect(last).toMatch(
      /second.*<untrusted-(\w+) kind=\\"shell-output\\" source=\\"!echo shared [^>]*>\\nshared ‹not a tag›.*<\/untrusted-\1>/,
    );
    expect(JSON.stringify(mock.requests[1]?.body)).not.toContain("here.txt");
  });

  verifies(["U1"], "ends with what failed first: a command, a turn, a command of the shell; else with 0", async () => {
    const scripts: readonly (readonly [string, number])[] = [
      ["/status\n!true\nhello\n", 0],
      ["/modle x\nhello\n", 2],
      ["!exit 3\n/help\n", 1],
      ["hello\nagain\n/nonsense\n", 1],
      ["/queue\n/exit\n", 0],
    ];
    for (const [input, expected] of scripts) {
      const mock = await mockModel('reply\n  text: one\nreply times=any\n  error 400 bad-request "no"\n');
      const env = providerEnvironment("anthropic", mock.url);
      const { code, stderr } = await oxbow(["--plain", "--retry-wait", "0"], { env, input });
      expect([code, stderr], input).toEqual([expected, expect.any(String)]);
    }
  });

  verifies(["U1", "P2"], "/mode shows and sets the mode, and refuses one that it does not have", async () => {
    const mock = await mockModel("reply\n  text: one\n");
    const input = "/mode\n/mode plan\n/mode ask\n/mode allow\n/status\n";
    const { stdout, stderr } = await oxbow(["--plain"], { env: providerEnvironment("anthropic", mock.url), input });
    expect(stdout).toMatch(/Mode auto: .*\n.*Mode plan: .*\n.*Mode ask: /s);
    expect(stdout).toMatch(/permissions +ask/);
    expect(stderr).toContain('There is no mode "allow"');
  });

  verifies(["U1", "M7"], "/model switches in the middle of the conversation, also to another provider", async () => {
    const mock = await mockModel("reply\n  text: one\nreply\n  text: two\n");
    const env = { ...providerEnvironment("anthropic", mock.url), ...providerEnvironment("openai", mock.url) };
    const input = "first\n/model openai:other\n/effort high\nsecond\n/model nonsense:x\n/effort most\n/effort auto\n";
    const { stdout, stderr } = await oxbow(["--plain"], { env, input });
    expect(stdout).toContain("Model: openai:other, from the next turn on.");
    expect(mock.requests[0]?.body).not.toHaveProperty("thinking");
    expect(mock.requests[1]?.body).toMatchObject({ reasoning_effort: "high" });
    expect(stderr).toContain('There is no effort "most"');
    expect(stdout).toContain("Effort: auto (the model decides), from the next turn on.");
    expect(mock.requests.map((request) => request.wire)).toEqual(["anthropic", "openai"]);
    expect(JSON.stringify(mock.requests[1]?.body)).toContain("one");
    expect(mock.failures).toEqual([]);
  });
});

describe("/clear", () => {
  verifies(["L16", "M7", "M14", "S8"], "begins an empty conversation and keeps everything that was set", async () => {
    const mock = await mockModel(`
reply
  text: one
  usage input=900 output=100
reply
  tool write {"path": "made.txt", "content": "x"}
reply
  text: two
`);
    const cwd = await temporaryFolder();
    const home = await temporaryFolder();
    const env = {
      OXBOW_HOME: home,
      ...providerEnvironment("anthropic", mock.url),
      ...providerEnvironment("openai", mock.url),
    };
    const set = "/plan on\n/model openai:other\n/effort high\n/budget 100k tokens\n/record start notes.md\n";
    const input = `${set}primo\n/clear\nsecond\n/plan status\n/effort\n/budget\n/status\n/cost\n`;
    const { stdout } = await oxbow(["--plain", "--permission-mode", "allow"], { env, input, cwd });
    const [, second] = mock.requests;
    expect(second).toMatchObject({ wire: "openai", body: { reasoning_effort: "high", model: "other" } });
    expect(JSON.stringify(second?.body)).not.toContain("primo");
    expect(JSON.stringify(second?.body)).toContain("Plan mode is on");
    expect(await readdir(cwd)).toEqual(["notes.md"]);
    expect(stdout.match(/Plan mode is on/g)).toHaveLength(2);
    expect(stdout).toContain("Effort: high. Change it");
    // What both conversations spent; the cost is that of the new one.
    expect(stdout).toMatch(/this run: 100,000 tokens, \d,\d\d\d tokens spent/);
    expect(stdout).toMatch(/This session: .* · 2 calls/);
    expect(stdout).toContain("recording to");
    const notes = await readFile(join(cwd, "notes.md"), "utf8");
    expect(notes).toContain("primo");
    expect(notes).toContain("second");
    const sessions = JSON.parse((await oxbow(["session", "list", "--json"], { cwd, env })).stdout);
    expect(sessions.map(({ title }: { title: string }) => title)).toEqual(["second", "primo"]);
  });

  verifies(["L16", "S6"], "ends the old session, which another process may resume at once", async () => {
    const mock = await mockModel("reply\n  text: one\nreply\n  hang\nreply\n  text: three\n");
    const cwd = await temporaryFolder();
    const env = { OXBOW_HOME: await temporaryFolder(), ...providerEnvironment("anthropic", mock.url) };
    const children: ChildProcess[] = [];
    const input = "primo\n/clear\nsecond\n";
    const first = oxbow(["--plain"], { env, cwd, input, onStart: (child) => void children.push(child) });
    await mock.waitForRequest(2);
    const list = async () => JSON.parse((await oxbow(["session", "list", "--json"], { cwd, env })).stdout);
    const old = (await list()).find(({ title }: { title: string }) => title === "primo");
    const { stdout: log } = await oxbow(["session", "export", old.id, "--format", "jsonl"], { cwd, env });
    expect(log.trim().split("\n").at(-1)).toContain('"SessionEnded"');
    expect(await oxbow([old.id, "go on"], { cwd, env })).toMatchObject({ code: 0, stdout: "three\n" });
    // The program that cleared still has its new one.
    expect(children[0]?.exitCode).toBeNull();
    children[0]?.kill("SIGTERM");
    expect(await first).toMatchObject({ code: 130 });
  });
});

const open = (command: string, variables: Readonly<Record<string, string>>) =>
  new RealTerminal(command, { columns: 100, rows: 40, variables });

describe("one prompt on a terminal", () => {
  verifies(["U1", "L9"], "Ctrl-C at a question cancels the run, and nothing runs (130)", async (context) => {
    skipWithout(context, "tmux");
    const mock = await mockModel('reply\n  tool bash {"command": "echo ran > made.txt"}\nreply\n  text: never\n');
    const cwd = await temporaryFolder();
    const env = { OXBOW_HOME: await temporaryFolder(), ...providerEnvironment("anthropic", mock.url) };
    const terminal = open(
      `cd ${cwd} && ${process.execPath} ${BIN} --permission-mode ask "do it"; echo EXIT $?; ls; sleep 1000`,
      env,
    );
    await terminal.until("Answer:");
    terminal.type("C-c");
    const text = await terminal.until("EXIT 130");
    expect(text).toContain("oxbow: cancelled.");
    expect(text).toMatch(/Answer:\n✗ bash: cancelled/);
    expect(await readdir(cwd)).toEqual([]);
    expect(mock.requests).toHaveLength(1);
  });
});

describe("the plain line client on a terminal", () => {
  verifies(
    ["U1", "U2"],
    "a paste of 200 lines is one prompt, answers no question and runs no command",
    async (context) => {
      skipWithout(context, "tmux");
      const mock = await mockModel(
        'reply\n  tool bash {"command": "echo ran > made.txt"}\nreply\n  text: first answer\nreply times=any\n  text: next answer\n',
      );
      const cwd = await temporaryFolder();
      const lines = Array.from({ length: 200 }, (_, line) => `!touch made-${line}`).join("\n");
      const prompt = (request: number) => JSON.stringify(mock.requests[request]?.body).slice(-4300);
      const env = { OXBOW_HOME: await temporaryFolder(), ...providerEnvironment("anthropic", mock.url) };
      const command = `${process.execPath} ${BIN} --plain --permission-mode ask --sandbox off`;
      const terminal = open(`cd ${cwd} && ${command}; echo EXIT $?; sleep 1000`, env);
      await terminal.until(/\/help for commands[^\n]*\n>/);
      terminal.paste(`${lines}\n`);
      await terminal.until("> [pasted 200 lines]");
      expect(mock.requests).toHaveLength(0);
      terminal.type(" what is it?", "Enter");
      await terminal.until("Answer:");
      expect(prompt(0)).toContain(JSON.stringify(`${lines} what is it?`).slice(1, -1));
      terminal.paste("y\ny\ny\n");
      await terminal.until("Answer: y y y");
      expect(mock.requests).toHaveLength(1);
      terminal.type("C-u", "n", "Enter");
      await terminal.until("first answer");
      await terminal.until(/first answer\n.*\n>/);
      terminal.type("one \\", "Enter", "two", "C-j");
      await terminal.until(/one \\\n {2}two/);
      terminal.type("three", "Enter");
      await terminal.until("next answer");
      expect(prompt(2)).toContain("one \\ntwo\\nthree");
      expect(mock.requests).toHaveLength(3);
      expect(await readdir(cwd)).toEqual([]);
    },
    60_000,
  );

  verifies(
    ["L10", "U1"],
    "takes what is typed while a turn runs: for the model, for later, or to stop",
    async (context) => {
      skipWithout(context, "tmux");
      const mock = await mockModel(
        'reply\n  tool bash {"command": "until test -e go; do sleep 0.05; done"}\nreply\n  text: as you wish\nreply\n  text: later it is\n',
      );
      const cwd = await temporaryFolder();
      const env = { OXBOW_HOME: await temporaryFolder(), ...providerEnvironment("anthropic", mock.url) };
      const terminal = open(
        `cd ${cwd} && ${process.execPath} ${BIN} --plain --permission-mode allow --sandbox off; sleep 1000`,
        env,
      );
      await terminal.until("/help for commands");
      terminal.type("do it", "Enter");
      await terminal.until("bash until");
      terminal.type("in bl");
      const [frame = ""] = /. (?=bash[^\n]*\n› in bl\n)/.exec(await terminal.until(/. bash[^\n]*\n› in bl\n/)) ?? [];
      await terminal.until(new RegExp(`[^${frame}\\n] bash[^\\n]*\\n› in bl\\n`));
      terminal.type("ue", "Enter");
      await terminal.until("(the model gets it after its current calls)");
      terminal.type("/queue tidy up", "Enter");
      await terminal.until("(after this turn)");
      terminal.type("half a line");
      await terminal.until("› half a line");
      await writeFile(join(cwd, "go"), "");
      await terminal.until(/as you wish[\s\S]*> tidy up[\s\S]*later it is[\s\S]*\n> half a line/);
      expect(JSON.stringify(mock.requests[1]?.body)).toContain("in blue");
      expect(JSON.stringify(mock.requests[1]?.body)).not.toContain("tidy up");
      expect(mock.failures).toEqual([]);
    },
  );

  verifies(
    ["U1", "L9", "P2"],
    "streams, asks before a command, is cancelled by Ctrl-C and goes on",
    async (context) => {
      skipWithout(context, "tmux");
      const mock = await mockModel(
        'reply\n  text: I will run it.\n  tool bash {"command": "echo ran > made.txt"}\nreply\n  text: It ran.\nreply\n  text: endless\n  hang\nreply\n  text: still here\n',
      );
      const cwd = await temporaryFolder();
      const env = { OXBOW_HOME: await temporaryFolder(), ...providerEnvironment("anthropic", mock.url) };
      const terminal = open(
        `cd ${cwd} && ${process.execPath} ${BIN} --plain --permission-mode ask; echo EXIT $?; sleep 1000`,
        env,
      );
      await terminal.until("/help for commands");
      terminal.type("do it", "Enter");
      await terminal.until("Run echo ran > made.txt?");
      await terminal.until("Answer:");
      terminal.type("y", "Enter");
      await terminal.until("It ran.");
      expect(terminal.screen()).toContain("✓ bash");
      await terminal.until(/ out · [^\n]*\n>/);
      terminal.type("again", "Enter");
      await terminal.until("endless");
      terminal.type("C-c");
      await terminal.until("Cancelled.");
      terminal.type("and now", "Enter");
      await terminal.until("still here");
      await terminal.until(/still here\n.*\n>/);
      terminal.type("half a line", "C-c");
      await terminal.until(/half a line\n>/);
      terminal.type("C-d");
      await terminal.until("EXIT 0");
    },
  );

  verifies(
    ["P1", "P2"],
    "asks for a guarded path each time, with the reason and the content, and takes no yes for more",
    async (context) => {
      skipWithout(context, "tmux");
      const call = (path: string) => `reply\n  tool write {"path": "${path}", "content": "#!/bin/sh\\necho one\\n"}\n`;
      const mock = await mockModel(
        `${call(".git/hooks/pre-commit")}${call(".git/hooks/pre-push")}reply\n  text: It is over.\n`,
      );
      const cwd = await temporaryFolder();
      await mkdir(join(cwd, ".git/hooks"), { recursive: true });
      const env = { OXBOW_HOME: await temporaryFolder(), ...providerEnvironment("anthropic", mock.url) };
      const command = `${process.execPath} ${BIN} --plain --auto-approve --permission-mode allow`;
      const terminal = open(`cd ${cwd} && ${command}; echo EXIT $?; sleep 1000`, env);
      await terminal.until("/help for commands");
      terminal.type("do it", "Enter");
      await terminal.until(/\[y\] yes, this once\n.*\[n\] no[^\n]*\n *Answer:/);
      expect(terminal.screen()).toContain(".git/hooks/pre-commit is guarded");
      expect(terminal.screen()).toContain("│ +echo one");
      terminal.type("t", "Enter");
      await terminal.until(/Please answer y or n\.\n.*\n.*\n *Answer:/);
      terminal.type("y", "Enter");
      await terminal.until("pre-push is guarded");
      await terminal.until(/pre-push is guarded[\s\S]*Answer:/);
      terminal.type("n", "Enter");
      await terminal.until("It is over.");
      expect(await readdir(join(cwd, ".git/hooks"))).toEqual(["pre-commit"]);
    },
  );
});
