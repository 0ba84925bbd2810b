/** `oxbow mx`: what a run sent to a model, in tokens. */
import { readFileSync } from "node:fs";
import { groupDigits } from "../../base/group-digits.js";
import { safeLine } from "../../base/terminal-text.js";
import { UsageError } from "../../base/usage-error.js";
import type { CommandArguments, CommandResult } from "../../feature/command.js";
import type { JsonObject } from "../../protocol/json.js";
import { MX } from "../../runtime/commands/program.js";
import type { Measured, RequestReport } from "../../testkit/request-report.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "mx",
  specs: [MX],
  about: `Measures recorded requests: the tokens of the prompt, the tools, the calls and each result, repeated text, and what a cache can serve.
FILE has what 'oxbow mock-model --record' writes, or request bodies as JSON: of Anthropic, OpenAI, Gemini or Ollama, from any program.`,
  more: "Example:  oxbow mx mine.jsonl --against theirs.jsonl",
  open: async () => ({ commands: [{ ...MX, run: report }] }),
};

export const run = shellRunner(shell);

async function report(args: CommandArguments): Promise<CommandResult> {
  const { readRequests, reportRequests } = await import("../../testkit/request-report.js");
  const measure = (path: string): RequestReport => {
    const requests = readRequests(textOf(path));
    if (requests.length > 0) return reportRequests(requests);
    throw new UsageError(`${path} has no request to a model: 'oxbow mock-model --record FILE' writes them`);
  };
  const own = measure(args.text("FILE") ?? "");
  const other = args.flag("against");
  const against = other === undefined ? undefined : measure(other);
  const value = against === undefined ? { own } : { own, against };
  return { text: lines(own, against).join("\n"), value: JSON.parse(JSON.stringify(value)) as JsonObject };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
}

function lines(own: RequestReport, against: RequestReport | undefined): readonly string[] {
  const row = (name: string, value: (report: RequestReport) => number) => {
    const mine = value(own);
    if (against === undefined) return `${name.padEnd(28)}${groupDigits(mine).padStart(10)}`;
    const theirs = value(against);
    const share = theirs === 0 ? "" : `${Math.round((mine / theirs - 1) * 100)} %`;
    return `${name.padEnd(28)}${groupDigits(mine).padStart(10)}${groupDigits(theirs).padStart(12)}${share.padStart(9)}`;
  };
  return [
    row("requests", ({ requests }) => requests),
    row("first request, bytes", ({ firstBytes }) => firstBytes),
    row("first request, tokens", ({ firstTokens }) => firstTokens),
    row("all requests, tokens", ({ tokens }) => tokens),
    row("  same as the one before", ({ repeatedPrefix }) => repeatedPrefix),
    ...(["prompt", "tools", "inputs", "answers", "calls", "results"] as const).map((part) =>
      row(`  ${part}`, ({ parts }) => parts[part]),
    ),
    ...listed("Tools (tokens in the first request)", own.tools),
    ...listed("Results (tokens of each)", own.results),
    ...listed("Repeated lines (tokens of the repetitions)", own.repeated),
  ];
}

function listed(title: string, measured: readonly Measured[]): readonly string[] {
  if (measured.length === 0) return [];
  return [
    "",
    title,
    ...measured.map(({ name, tokens }) => `${groupDigits(tokens).padStart(8)}  ${safeLine(name).slice(0, 100)}`),
  ];
}
