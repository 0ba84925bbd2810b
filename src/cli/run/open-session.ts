import { UsageError } from "../../base/usage-error.js";
import type { Terminal } from "../../clients/headless/terminal.js";
import type { ParsedFlags } from "../../commands/flags.js";
import type { CommandPayloads, OrphanVerdict } from "../../protocol/commands.js";
import type { SessionId } from "../../protocol/ids.js";
import { LeaseWait, waitLimit } from "../../runtime/sessions/lease-wait.js";
import { nodeClock } from "../../system/node-clock.js";
import { exitCodeOfFailure } from "../exit-codes.js";
import { printMessage } from "../print-message.js";
import type { Prepared } from "./prepare.js";

/** A new session, or the stored one with its open calls closed; an exit code if that was refused. */
export async function openSession(
  { client, root, resume }: Prepared,
  { flags, terminal }: { readonly flags: ParsedFlags; readonly terminal: Terminal },
): Promise<{ readonly session: SessionId } | { readonly exit: number }> {
  const verdict = orphanVerdict(flags);
  const note = flags.text("orphan-note");
  let request: CommandPayloads["CreateSession"] = resume === undefined ? {} : { resume: resume.id, cwd: root };
  if (verdict !== undefined) request = { ...request, orphans: { verdict, ...(note !== undefined && { note }) } };
  const notify = (message: string) => printMessage(message);
  const wait = new LeaseWait({ limitMs: waitLimit(flags), clock: nodeClock, notify });
  for (;;) {
    const reply = await client.send("CreateSession", request);
    if (reply.ok && reply.session !== undefined) return { session: reply.session };
    if (reply.ok) throw new Error("Oxbow could not open the session");
    const { failure } = reply;
    if (await wait.again(failure)) continue;
    if (failure.reason !== "OrphanedCalls" || terminal.askLine === undefined) {
      notify(failure.message);
      return { exit: exitCodeOfFailure(failure) };
    }
    const { askAboutOrphans } = await import("../../clients/headless/orphan-prompt.js");
    request = { ...request, orphans: await askAboutOrphans(terminal, failure) };
  }
}

function orphanVerdict(flags: ParsedFlags): OrphanVerdict | undefined {
  const asked = flags.text("orphan");
  if (asked === undefined || asked === "failed" || asked === "succeeded" || asked === "abort") return asked;
  throw new UsageError(`--orphan: expected failed, succeeded or abort, got "${asked}".`);
}
