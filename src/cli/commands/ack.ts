/** `oxbow ack`: the user reviews and approves what this folder would load and run. */
import { resolve } from "node:path";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { ParsedFlags } from "../../feature/flags.js";
import type { ContentDecision, WaitingContent } from "../../protocol/queries.js";
import { ACK } from "../../runtime/commands/program.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "ack",
  specs: [ACK],
  about: "Shows what this folder would load and run, and asks you to approve it. Only a person can approve.",
  more: "Exit code 5 if something is not approved, 4 for an agent.",
  printsItself: true,
  open: async (flags, variables) => ({
    commands: [],
    terminalCommands: [{ ...ACK, take: (args) => approve(args.list("PATH"), flags, variables) }],
  }),
};

export const run = shellRunner(shell);

async function approve(paths: readonly string[], flags: ParsedFlags, variables: Variables): Promise<number> {
  const [
    { ackCommand },
    { TrustError },
    { openReview },
    { approver },
    { processTerminal, trustLook },
    { terminalFits },
  ] = await Promise.all([
    import("../../security/trust/ack-command.js"),
    import("../../security/trust/trust-error.js"),
    import("../open-review.js"),
    import("../../runtime/content/approvals.js"),
    import("../terminal-io.js"),
    import("../../clients/tui/terminal/abilities.js"),
  ]);
  const emitTo = flags.text("emit-lockfile");
  try {
    const ask = async (review: Awaited<ReturnType<typeof openReview>>) => {
      const result = await ackCommand({
        ...review,
        ...trustLook(processTerminal(variables)),
        by: approver(variables),
        now: () => new Date(),
        ...(!flags.has("plain") && terminalFits(variables, { input: process.stdin, output: process.stdout })
          ? { review: (items) => reviewOnScreen(items, variables) }
          : {}),
        paths,
        which: flags.has("all") ? "user-owned" : "one-by-one",
        ...(emitTo !== undefined && { emitTo: resolve(emitTo) }),
      });
      process.stdout.write(result.text);
      return result.exitCode;
    };
    const review = await openReview(flags, variables);
    const exitCode = await ask(review);
    // A profile that was just approved may list more instruction files.
    const again = await openReview(flags, variables);
    const isSame = again.sources.join("\n") === review.sources.join("\n");
    return isSame ? exitCode : await ask(again);
  } catch (error) {
    if (error instanceof TrustError) throw new UsageError(error.message);
    throw error;
  }
}

/** The review of the terminal client, as a full screen. */
async function reviewOnScreen(
  items: readonly WaitingContent[],
  variables: Variables,
): Promise<readonly ContentDecision[]> {
  const [{ contentReview, decisionsOf }, { runDialog }, { clientFiles }, { loadContentTools }] = await Promise.all([
    import("../../clients/tui/dialogs/content-review.js"),
    import("../tui/run-dialog.js"),
    import("../tui/client-files.js"),
    import("../../clients/tui/content/tools.js"),
  ]);
  const { save } = clientFiles(variables);
  const { dialog, ordered } = contentReview(items, { save, tools: await loadContentTools() });
  return decisionsOf(ordered, await runDialog(dialog, variables));
}
