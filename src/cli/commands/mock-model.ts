import type { ParsedFlags } from "../../feature/flags.js";
import { MOCK_MODEL } from "../../runtime/commands/program.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "mock-model",
  specs: [MOCK_MODEL],
  about: `Runs a scripted model server on one port that speaks the protocols of Anthropic, OpenAI (Chat Completions and Responses),
Gemini and Ollama. It prints its address and the variables to set, then a line for each request on stderr. Ctrl-C ends it.`,
  more: "Exit codes: 0 ended · 1 an expectation of the script failed, or the port is taken · 2 wrong usage or script.",
  printsItself: true,
  open: async (flags) => ({ commands: [], terminalCommands: [{ ...MOCK_MODEL, take: () => serve(flags) }] }),
};

export const run = shellRunner(shell);

async function serve(flags: ParsedFlags): Promise<number> {
  const { runMockModelCommand } = await import("../../testkit/mock-model/cli.js");
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  const { stdout, stderr } = process;
  const flag = (name: string) => flags.text(name);
  const options = { script: flag("script"), port: flag("port"), key: flag("key"), record: flag("record") };
  return runMockModelCommand(options, { stdout, stderr, signal: stop.signal });
}
