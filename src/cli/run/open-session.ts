/** Opens a session: waits while another process has it, and asks about calls that were running when it stopped. */
import { UsageError } from "../../base/usage-error.js";
import type { Terminal } from "../../clients/headless/terminal.js";
import type { ParsedFlags } from "../../feature/flags.js";
import type { EngineClient } from "../../protocol/client.js";
import type { CommandPayloads, OrphanVerdict } from "../../protocol/commands.js";
import { type Failure, failure as failureOf } from "../../protocol/errors.js";
import type { SessionId } from "../../protocol/ids.js";
import { isJsonObject } from "../../protocol/json.js";
import { LeaseWait, waitLimit } from "../../runtime/sessions/lease-wait.js";
import { nodeClock } from "../../system/node-clock.js";
import { printMessage } from "../print-message.js";

export interface OpenedSession {
  readonly session: SessionId;
  /** About the session, for the person. */
  readonly messages: readonly string[];
}

/** A new session, or the stored one with its open calls closed. */
export async function openSession(
  client: EngineClient,
  wanted: CommandPayloads["CreateSession"],
  { flags, terminal }: { readonly flags: ParsedFlags; readonly terminal: Terminal },
): Promise<OpenedSession | { readonly failure: Failure }> {
  const verdict = orphanVerdict(flags);
  const note = flags.text("orphan-note");
  let request = wanted;
  if (verdict !== undefined) request = { ...request, orphans: { verdict, ...(note !== undefined && { note }) } };
  const wait = new LeaseWait({ limitMs: waitLimit(flags), clock: nodeClock, notify: (text) => printMessage(text) });
  for (;;) {
    const reply = await client.send("CreateSession", request);
    if (reply.ok) {
      if (reply.session === undefined) return { failure: failureOf("Internal", { detail: NAMELESS }) };
      return { session: reply.session, messages: messagesIn(reply.value) };
    }
    const { failure } = reply;
    if (await wait.again(failure)) continue;
    if (failure.reason !== "OrphanedCalls" || terminal.askLine === undefined) return { failure };
    const { askAboutOrphans } = await import("../../clients/headless/orphan-prompt.js");
    request = { ...request, orphans: await askAboutOrphans(terminal, failure) };
  }
}

const NAMELESS = "the engine did not name a session";

function messagesIn(value: unknown): readonly string[] {
  const messages = isJsonObject(value) ? value.messages : undefined;
  return Array.isArray(messages) ? messages.filter((each) => typeof each === "string") : [];
}

function orphanVerdict(flags: ParsedFlags): OrphanVerdict | undefined {
  const asked = flags.text("orphan");
  if (asked === undefined || asked === "failed" || asked === "succeeded" || asked === "abort") return asked;
  throw new UsageError(`--orphan: expected failed, succeeded or abort, got "${asked}".`);
}
