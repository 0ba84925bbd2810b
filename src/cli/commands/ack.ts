/** `oxbow ack`: the user reviews and approves what this folder would load and run. */

import { resolve } from "node:path";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { type Flag, helpLines, parseFlags } from "../../commands/flags.js";
import { approver, openApprovals } from "../../runtime/content/approvals.js";
import { homeFolder } from "../../runtime/content/home-folder.js";
import { importsOf } from "../../runtime/content/instruction-imports.js";
import { loadSettings } from "../../runtime/settings/settings.js";
import { EXIT } from "../exit-codes.js";
import { processTerminal, trustLook } from "../terminal-io.js";

export const FLAGS: readonly Flag[] = [
  {
    name: "all",
    short: "a",
    help: "approve everything in your own configuration folder with one answer; never files of a project",
  },
  {
    name: "emit-lockfile",
    value: "FILE",
    help: "write the approvals to a lock file for other machines (OXBOW_APPROVED_LOCK)",
  },
  { name: "cwd", value: "DIR", help: "the folder (default: the current one)" },
  { name: "help", short: "h", help: "show this help" },
];

export async function run(args: readonly string[], variables: Variables): Promise<number> {
  const flags = parseFlags(FLAGS, args, "ack");
  if (flags.has("help")) {
    process.stdout.write(`Usage: oxbow ack [PATH…] [flags]\n\n${helpLines(FLAGS)}\n`);
    return EXIT.answered;
  }
  const { roots, settings } = await loadSettings(flags, variables);
  const folder = resolve(flags.text("cwd") ?? process.cwd());
  const terminal = processTerminal(variables);
  const [{ ackCommand }, { TrustError }] = await Promise.all([
    import("../../security/trust/ack-command.js"),
    import("../../security/trust/trust-error.js"),
  ]);
  const emitTo = flags.text("emit-lockfile");
  try {
    const { text, exitCode } = await ackCommand({
      folder,
      home: { config: roots.config, user: homeFolder(variables) },
      lock: openApprovals(folder, { roots, variables }),
      by: approver(variables),
      now: () => new Date(),
      ...trustLook(terminal),
      sources: settings.context_sources.value,
      importsOf,
      paths: flags.words,
      which: flags.has("all") ? "user-owned" : "one-by-one",
      ...(emitTo !== undefined && { emitTo: resolve(emitTo) }),
    });
    process.stdout.write(text);
    return exitCode;
  } catch (error) {
    if (error instanceof TrustError) throw new UsageError(error.message);
    throw error;
  }
}
