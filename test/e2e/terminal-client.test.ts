/** The terminal client as a person meets it: the built program in tmux, with a model that speaks the wire. */

import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { needs } from "../support/needs.js";
import { BIN, providerEnvironment, temporaryFolder } from "../support/program.js";
import { RealTerminal } from "../support/real-terminal.js";
import { eventually } from "../support/waiting.js";
import { verifies } from "../verifies.js";

let home: string;
let folder: string;
const mocks: MockModel[] = [];
beforeEach(async () => {
  home = await temporaryFolder();
  folder = await temporaryFolder();
});
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
});

type Reply = ReturnType<typeof reply>;

async function environment(replies: readonly Reply[]): Promise<Record<string, string>> {
  const mock = await startMockModel({ script: script([...replies]) });
  mocks.push(mock);
  const provider = providerEnvironment("anthropic", mock.url) as Record<string, string>;
  return { OXBOW_HOME: home, LANG: "C.UTF-8", ...provider };
}

/** A shell in which the client was started, with its first screen. */
async function start(
  given: readonly Reply[] | Record<string, string>,
  flags = "--permission-mode ask --sandbox off",
): Promise<RealTerminal> {
  const variables = Array.isArray(given) ? await environment(given) : (given as Record<string, string>);
  const terminal = new RealTerminal(`cd ${folder} && PS1='$ ' exec bash --norc`, { columns: 80, rows: 24, variables });
  await terminal.until(/^\$/m);
  terminal.type(`${process.execPath} ${BIN} ${flags}; echo EXIT $?`, "Enter");
  await terminal.until("Ask for something");
  return terminal;
}

/** Ends the client, whatever it does, and waits for that: nothing writes to its folders any more. */
async function leave(terminal: RealTerminal): Promise<void> {
  terminal.type("C-c", "C-c", "C-c");
  await terminal.until(/EXIT \d/);
}

const LONG = Array.from({ length: 60 }, (_, line) => `Line ${line + 1} of the answer.\n\n`).join("");

needs("tmux").describe("the terminal client", () => {
  verifies(["U1", "U2"], "shows an answer, prints the way back at the end and leaves a clean terminal", async () => {
    const terminal = await start([reply().text("**Hello** from the model.")]);
    terminal.type("hi there", "Enter");
    await terminal.until("Hello from the model.");
    terminal.type("C-d");
    const end = await terminal.until("EXIT 0");
    expect(end).toMatch(/Resume: oxbow sess_/);
    const [, spent] = /Last turn: .*(\$\d+\.\d+) · \S+ in this session/.exec(end) ?? [];
    expect(end).toContain(`${spent} in this session`);
    expect(terminal.tell("#{cursor_flag} #{alternate_on}")).toBe("1 0");
  });

  verifies(["U2", "P2"], "asks beside the draft, and gives the model the words of a denial", async () => {
    const terminal = await start([reply().tool("bash", { command: "touch made" }), reply().text("I will not.")]);
    terminal.type("make it", "Enter");
    const question = await terminal.until("[n] no, and tell the model why");
    expect(question).toContain("Run touch made?");
    expect(question).toContain("[y] yes");
    terminal.type("n");
    await terminal.until("Why not:");
    terminal.type("use the cache", "Enter");
    await terminal.until("I will not.");
    expect(JSON.stringify(mocks[0]?.requests.at(-1))).toContain("use the cache");
    await leave(terminal);
  });

  verifies(["U2", "P2"], "runs a call after one key", async () => {
    const terminal = await start([reply().tool("bash", { command: "echo made > made" }), reply().text("Made.")]);
    terminal.type("make it", "Enter");
    await terminal.until("[y] yes");
    terminal.type("y");
    await terminal.until("Made.");
    expect(await readFile(join(folder, "made"), "utf8")).toBe("made\n");
    await leave(terminal);
  });

  verifies(["U2", "P2", "P3"], "keeps a rule for this project, says where, and asks no more", async () => {
    const touch = (name: string) => reply().tool("bash", { command: `touch ${name}` });
    const loop = reply().tool("bash", { command: "for f in a b; do touch $f; done" });
    const calls = [touch("one"), reply().text("First."), touch("two"), reply().text("Second."), loop];
    const terminal = await start([...calls, reply().text("Third.")]);
    terminal.type("make it", "Enter");
    expect(await terminal.until("[a] always allow: touch *")).toContain("session for: touch *");
    terminal.type("Down", "Down", "Down", "Down");
    await terminal.until("❯ [a]");
    terminal.type("Enter");
    await terminal.until("[p] in this project");
    terminal.type("1");
    await terminal.until("First.");
    expect(await terminal.until(/Written to/)).toContain("In this project, always: bash: touch *");
    terminal.type("again", "Enter");
    await terminal.until("Second.");
    // What no pattern covers gets a rule for exactly its text.
    terminal.type("and", "Enter");
    await terminal.until("[a] always allow: for f in a b; do touch $f; done");
    terminal.type("a");
    await terminal.until("[u] in all your projects");
    terminal.type("u");
    await terminal.until("Third.");
    await terminal.until(/config\.toml/);
    await leave(terminal);
  });

  verifies(["U2"], "takes a paste of 240 KB as one block that does not send itself", async () => {
    const terminal = await start([reply().text("Read.")]);
    const paste = join(folder, "paste.txt");
    await writeFile(paste, `${"a line of the paste\n".repeat(12_000)}the end`);
    terminal.run("load-buffer", paste);
    terminal.run("paste-buffer", "-p");
    await terminal.until(/\[pasted 12,?001 lines\]/);
    expect(mocks[0]?.requests.length).toBe(0);
    terminal.type(" what is it?", "Enter");
    await terminal.until("Read.");
    expect(mocks[0]?.requests.length).toBe(1);
    expect(JSON.stringify(mocks[0]?.requests[0])).toContain("the end what is it?");
    await leave(terminal);
  });

  verifies(["U2"], "gives a prompt that is too long back, and says what to do", async () => {
    const terminal = await start([]);
    const paste = join(folder, "paste.txt");
    await writeFile(paste, `${"a line of the paste\n".repeat(52_000)}the end`);
    terminal.run("load-buffer", paste);
    terminal.run("paste-buffer", "-p");
    await terminal.until(/\[pasted 52,?001 lines\]/);
    terminal.type("Enter");
    await terminal.until("Save the text in a file");
    await terminal.until(/> \[pasted 52,?001 lines\]/);
    expect(mocks[0]?.requests.length).toBe(0);
    await leave(terminal);
  });

  verifies(["U2"], "steers, queues and removes inputs during a turn", async () => {
    const terminal = await start(
      [
        reply().tool("bash", { command: "while [ ! -e go ]; do sleep 0.05; done" }),
        reply().text("First."),
        reply().text("Second."),
      ],
      "--permission-mode allow --sandbox off",
    );
    terminal.type("work", "Enter");
    await terminal.until("while [ ! -e go ]");
    terminal.type("steer this", "Enter");
    await terminal.until("next step: steer this");
    terminal.type("later this", "M-Enter");
    await terminal.until("after this turn: later this");
    terminal.type("M-Up");
    await terminal.until(/^(?![\s\S]*next step:)[\s\S]*> steer this/);
    terminal.type("C-c");
    await terminal.until("Press Ctrl-C again");
    await writeFile(join(folder, "go"), "");
    await leave(terminal);
  });

  verifies(["U2"], "gives the prompt back when it is interrupted before an answer", async () => {
    const terminal = await start([reply().hang()]);
    terminal.type("think about it", "Enter");
    await terminal.until("esc interrupts");
    terminal.type("Escape");
    await terminal.until(/> think about it/);
    await terminal.until(/[Cc]ancelled/);
    await leave(terminal);
  });

  verifies(["U2"], "keeps the scrollback whole when the window changes in the middle of an answer", async () => {
    const terminal = await start([reply().text(LONG)]);
    terminal.type("tell me", "Enter");
    terminal.resize(60, 20);
    terminal.resize(100, 30);
    await terminal.until("Line 60 of the answer.");
    // The client may be in the middle of a paint.
    await eventually(() => {
      const lines = terminal.lines();
      for (let line = 1; line <= 60; line++) {
        expect(lines.filter((each) => each === `Line ${line} of the answer.`)).toHaveLength(1);
      }
    });
    await leave(terminal);
  });

  verifies(
    ["U2"],
    "keeps paragraphs and code as one line for copies and other widths, unless the person wants words",
    async () => {
      const words = Array.from({ length: 300 }, (_, word) => `word${word}`).join(" ");
      const code = `const list = [${Array.from({ length: 40 }, (_, at) => `item${at}`).join(", ")}];`;
      const answer = `${words}\n\n- ${"an item with a mark ".repeat(8)}\n\n\`\`\`\n${code}\n\`\`\`\n\nThe end.`;
      const variables = await environment([reply().text(answer), reply().text(answer)]);
      const terminal = await start(variables);
      terminal.type("tell me", "Enter");
      await terminal.until("The end.");
      for (const columns of [80, 50, 110]) {
        terminal.resize(columns, 24);
        await eventually(() => {
          const lines = terminal.lines();
          for (const line of [words, code]) expect(lines.filter((each) => each === line)).toHaveLength(1);
          expect(lines.filter((each) => /^- an item/.test(each))).toHaveLength(1);
          expect(lines.filter((each) => each === "The end.")).toHaveLength(1);
        });
      }
      await leave(terminal);
      await mkdir(join(home, "config"), { recursive: true });
      await writeFile(join(home, "config", "config.toml"), 'wrap = "words"\n');
      const other = await start(variables);
      other.type("tell me", "Enter");
      await other.until("The end.");
      expect(other.lines().filter((line) => line.startsWith("word"))).not.toContain(words);
      for (const line of other.lines().filter((each) => each.startsWith("word"))) expect(line).toMatch(/word\d+$/);
      await leave(other);
    },
  );

  verifies(["U2", "S6"], "resumes a session from the picker and shows it again", async () => {
    const variables = await environment([reply().text("The first answer."), reply().text("The second answer.")]);
    const first = await start(variables);
    first.type("remember me", "Enter");
    await first.until("The first answer.");
    first.type("C-d");
    await first.until("EXIT 0");
    const second = await start(variables, "resume --permission-mode ask --sandbox off");
    await second.until(/Resume:/);
    await second.until("remember me");
    second.type("Enter");
    await second.until("The first answer.");
    second.type("go on", "Enter");
    await second.until("The second answer.");
    expect(JSON.stringify(mocks[0]?.requests[1])).toContain("The first answer.");
    await leave(second);
  });

  verifies(["U3", "T10", "P2"], "reviews a change that asks, and undoes only the accepted files", async () => {
    const writes = reply().tool("write", { path: "a.txt", content: "a\n" });
    const terminal = await start([writes.tool("write", { path: "b.txt", content: "b\n" }), reply().text("All done.")]);
    terminal.type("write", "Enter");
    await terminal.until("[v] show the whole change");
    terminal.type("v");
    await terminal.until("enter goes back");
    terminal.type("a");
    await terminal.until("enter allows it once");
    terminal.type("Escape");
    await terminal.until("[t] yes, and not again");
    terminal.type("t");
    await terminal.until("All done.");
    terminal.type("/undo", "Enter");
    await terminal.until(/file 1 of 2\s+\[not decided\] a\.txt/);
    terminal.type("a");
    await terminal.until(/file 2 of 2\s+\[not decided\] b\.txt/);
    terminal.type("d");
    await terminal.until("[declined]");
    terminal.type("Enter");
    await terminal.until("1 not chosen.");
    await expect(readFile(join(folder, "a.txt"))).rejects.toThrow("ENOENT");
    expect(await readFile(join(folder, "b.txt"), "utf8")).toBe("b\n");
    await leave(terminal);
  });

  verifies(["U2"], "suspends to the shell and returns", async () => {
    const terminal = await start([reply().text("Back.")]);
    terminal.type("half a draft");
    await terminal.until("> half a draft");
    terminal.type("C-z");
    await terminal.until(/Stopped/);
    terminal.type("fg", "Enter");
    await terminal.until(/\$ fg[\s\S]*^ask · /m);
    terminal.type("Enter");
    await terminal.until("Back.");
    await leave(terminal);
  });

  verifies(["U2"], "changes the mode in one key and shows all keys with '?'", async () => {
    const terminal = await start([]);
    await terminal.until(/^ask · /m);
    terminal.type("BTab");
    await terminal.until(/^auto · /m);
    terminal.type("?");
    const keys = await terminal.until("Any key closes this.");
    expect(keys).toContain("shift+tab");
    await leave(terminal);
  });

  verifies(["U2", "U1"], "leaves a clean terminal after SIGTERM, and talks line by line with --plain", async () => {
    const terminal = await start([]);
    execFileSync("pkill", ["-TERM", "-P", terminal.tell("#{pane_pid}")]);
    await terminal.until(/EXIT \d/);
    expect(terminal.tell("#{cursor_flag} #{alternate_on}")).toBe("1 0");
    terminal.type(`clear; ${process.execPath} ${BIN} --plain; echo EXIT $?`, "Enter");
    await terminal.until("/help for commands");
    terminal.type("C-d");
    await terminal.until("EXIT 0");
  });
});
