/** Shows what a person types into the terminal client: the built program in tmux. */

import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { needs } from "../support/needs.js";
import { BIN, providerEnvironment, temporaryFolder } from "../support/program.js";
import { RealTerminal } from "../support/real-terminal.js";
import { until } from "../support/waiting.js";
import { verifies } from "../verifies.js";

const mocks: MockModel[] = [];
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
});

const START = `${process.execPath} ${BIN} --permission-mode ask --sandbox off; echo EXIT $?`;

async function open(): Promise<{ readonly terminal: RealTerminal; readonly home: string; readonly mock: MockModel }> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "src"));
  await writeFile(join(folder, "src", "main file.ts"), "");
  const editor = join(folder, "editor.sh");
  await writeFile(editor, '#!/bin/sh\nprintf " and edited" >> "$1"\n', { mode: 0o755 });
  const mock = await startMockModel({ script: script([reply().text("Understood."), reply().text("Again.")]) });
  mocks.push(mock);
  const provider = providerEnvironment("anthropic", mock.url) as Record<string, string>;
  const home = await temporaryFolder();
  const variables = { OXBOW_HOME: home, LANG: "C.UTF-8", EDITOR: editor, VISUAL: "", ...provider };
  const terminal = new RealTerminal(`cd ${folder} && PS1='$ ' exec bash --norc`, { columns: 80, rows: 24, variables });
  await terminal.until(/^\$/m);
  terminal.type(START, "Enter");
  await terminal.until("Ask for something");
  return { terminal, home, mock };
}

/** The client, which bash started. */
function client(terminal: RealTerminal): number {
  return Number(execFileSync("pgrep", ["-P", terminal.tell("#{pane_pid}"), "-f", "bin.js"], { encoding: "utf8" }));
}

needs("tmux", "pgrep").describe("the input of the terminal client", () => {
  verifies(
    ["U2", "U6"],
    "completes, edits in $EDITOR, keeps the draft through a kill, and finds what was sent",
    async () => {
      const { terminal, home, mock } = await open();
      terminal.type("/rou", "Tab");
      await terminal.until(/> \/route:\n> \/route:add NAME MODEL…/);
      terminal.type("C-u");
      terminal.type("read @main");
      await terminal.until("> src/main file.ts");
      terminal.type("Tab");
      await terminal.until('> read @"src/main file.ts"');
      terminal.type("C-g");
      await terminal.until('> read @"src/main file.ts"  and edited');
      terminal.type("Enter");
      await terminal.until("Understood.");
      expect(JSON.stringify(mock.requests[0]?.body)).toContain('read @\\"src/main file.ts\\"  and edited');
      terminal.type("half a thought");
      await terminal.until("> half a thought");
      await draftIsWritten(join(home, "state", "input", "drafts"), "half a thought");
      process.kill(client(terminal), "SIGKILL");
      await terminal.until("EXIT 137");
      terminal.type("C-c");
      terminal.run("send-keys", "-R");
      terminal.type("clear; stty sane", "Enter");
      terminal.type(START, "Enter");
      await terminal.until("> half a thought");
      terminal.type("C-u", "C-r");
      await terminal.until("history:");
      terminal.type("edit");
      await terminal.until(/history: edit\n> \w+ +read @"src/);
      terminal.type("Enter");
      await terminal.until('> read @"src/main file.ts"  and edited');
      terminal.type("C-c", "C-c", "C-c");
      await terminal.until("EXIT 0");
    },
  );
});

function draftIsWritten(folder: string, text: string): Promise<void> {
  return until(async () => {
    const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".json"));
    const drafts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8").catch(() => "")));
    return drafts.some((draft) => draft.includes(text));
  });
}
