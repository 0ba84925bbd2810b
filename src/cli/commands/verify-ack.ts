/** `oxbow verify-ack`: checks that everything this folder would load and run is approved. */

import { resolve } from "node:path";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { type Flag, helpLines, parseFlags } from "../../commands/flags.js";
import { openApprovals } from "../../runtime/content/approvals.js";
import { homeFolder } from "../../runtime/content/home-folder.js";
import { importsOf } from "../../runtime/content/instruction-imports.js";
import { loadSettings } from "../../runtime/settings/settings.js";
import { EXIT } from "../exit-codes.js";

export const FLAGS: readonly Flag[] = [
  { name: "cwd", value: "DIR", help: "the folder (default: the current one)" },
  { name: "help", short: "h", help: "show this help" },
];

export async function run(args: readonly string[], variables: Variables): Promise<number> {
  const flags = parseFlags(FLAGS, args, "verify-ack");
  if (flags.has("help")) {
    process.stdout.write(
      `Usage: oxbow verify-ack [flags]\n\nChecks that everything is approved. Exit code 5 if not, with the names of the files.\n\n${helpLines(FLAGS)}\n`,
    );
    return EXIT.answered;
  }
  const { roots, settings } = await loadSettings(flags, variables);
  const folder = resolve(flags.text("cwd") ?? process.cwd());
  const [{ verifyAckCommand }, { TrustError }] = await Promise.all([
    import("../../security/trust/verify-ack-command.js"),
    import("../../security/trust/trust-error.js"),
  ]);
  const portableFile = variables.OXBOW_APPROVED_LOCK;
  try {
    const { text, exitCode } = await verifyAckCommand({
      folder,
      home: { config: roots.config, user: homeFolder(variables) },
      lock: openApprovals(folder, { roots, variables }),
      sources: settings.context_sources.value,
      importsOf,
      paths: flags.words,
      ...(portableFile && { portableFile: resolve(portableFile) }),
    });
    process.stdout.write(text);
    return exitCode;
  } catch (error) {
    if (error instanceof TrustError) throw new UsageError(error.message);
    throw error;
  }
}
