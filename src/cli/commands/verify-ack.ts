/** `oxbow verify-ack`: checks that everything this folder would load and run is approved. */
import { resolve } from "node:path";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { CommandResult } from "../../feature/command.js";
import type { ParsedFlags } from "../../feature/flags.js";
import { VERIFY_ACK } from "../../runtime/commands/program.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "verify-ack",
  specs: [VERIFY_ACK],
  about: "Checks that everything is approved. Exit code 5 if not, with the names of the files.",
  open: async (flags, variables) => ({
    commands: [{ ...VERIFY_ACK, run: (args) => verify(args.list("PATH"), flags, variables) }],
  }),
};

export const run = shellRunner(shell);

async function verify(paths: readonly string[], flags: ParsedFlags, variables: Variables): Promise<CommandResult> {
  const [{ verifyAckCommand }, { TrustError }, { openReview }] = await Promise.all([
    import("../../security/trust/verify-ack-command.js"),
    import("../../security/trust/trust-error.js"),
    import("../open-review.js"),
  ]);
  const portableFile = variables.OXBOW_APPROVED_LOCK;
  try {
    const { text, exitCode } = await verifyAckCommand({
      ...(await openReview(flags, variables)),
      paths,
      ...(portableFile && { portableFile: resolve(portableFile) }),
    });
    return { text: text.trimEnd(), value: { approved: exitCode === 0, message: text.trimEnd() }, exitCode };
  } catch (error) {
    if (error instanceof TrustError) throw new UsageError(error.message);
    throw error;
  }
}
