/** Runs `!command` of a person in this process: in the folder of the session, with the whole environment of this terminal. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import type { OwnCommandEnd, OwnShell } from "../base/own-shell.js";
import type { Variables } from "../base/variables.js";
import type { Setting } from "../feature/setting.js";
import { createMark, wrapUntrusted } from "../security/untrusted/untrusted.js";
import { findShell } from "../system/find-program.js";
import { nodeClock } from "../system/node-clock.js";
import { runProcess } from "../system/process-group.js";
import { exitNotes } from "../tools/shell/exit-text.js";
import { OutputWindow } from "../tools/shell/output-window.js";

/** No time limit but one that the person has set: they see the command, and Ctrl-C ends it. */
export function ownShell(variables: Variables, { value, origin }: Setting<number | undefined>): OwnShell {
  const limit = origin === "default" || value === undefined ? {} : { timeoutMs: value };
  return async ({ command, folder, signal, onOutput }) => {
    const window = new OutputWindow();
    const decoder = new StringDecoder("utf8");
    const startedAt = nodeClock.now();
    try {
      const end = await runProcess({
        argv: [findShell(variables.PATH, { outside: folder }), "-c", "--", command],
        cwd: folder,
        env: environment(variables, folder),
        signal,
        ...limit,
        onOutput: (chunk) => {
          window.write(chunk);
          onOutput(decoder.write(chunk));
        },
      });
      const notes = exitNotes(end, { durationMs: nodeClock.now() - startedAt });
      return ended(command, {
        window,
        notes,
        exitCode: end.exitCode,
        isOk: end.reason === "exit" && end.exitCode === 0,
      });
    } catch (error) {
      const notes = [error instanceof Error ? error.message : String(error)];
      return ended(command, { window, notes, exitCode: undefined, isOk: false });
    }
  };
}

const STATUS_MS = 2000;
const MOST_OUTPUT = 4096;

/** Runs the command of a status line; undefined if it fails, or does not end in time. */
export async function firstOutput(
  variables: Variables,
  command: string,
  input: string,
  folder: string,
): Promise<string | undefined> {
  const cwd = existsSync(folder) ? folder : process.cwd();
  let output = "";
  const end = await runProcess({
    argv: [findShell(variables.PATH, { outside: cwd }), "-c", "--", command],
    ...{ cwd, env: environment(variables, cwd), input, timeoutMs: STATUS_MS, leavesNothing: true },
    onOutput: (chunk) => {
      if (output.length < MOST_OUTPUT) output += chunk.toString("utf8");
    },
    onErrorOutput: () => {},
  });
  return end.reason === "exit" && end.exitCode === 0 ? output.slice(0, MOST_OUTPUT) : undefined;
}

/** Nothing is withheld. The mark of a model's command does not hold for what a person typed. */
function environment({ OXBOW_AGENT: _, ...variables }: Variables, folder: string): Record<string, string> {
  const all = Object.entries({ ...variables, PWD: folder });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function ended(
  command: string,
  { window, ...end }: Omit<OwnCommandEnd, "output" | "forModel"> & { readonly window: OutputWindow },
): OwnCommandEnd {
  const output = window.text(() => "the terminal showed them").text.replace(/\n+$/, "");
  const text = [output, ...end.notes].filter((line) => line !== "").join("\n") || "(no output)";
  const block = { source: `!${command}`, kind: "shell-output", text };
  return { ...end, output, forModel: wrapUntrusted(block, createMark(randomBytes)) };
}
