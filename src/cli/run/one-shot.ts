import { safeText } from "../../base/terminal-text.js";
import { estimateFrom } from "../../base/turn-stats.js";
import { type OutputFormat, runOneShot } from "../../clients/headless/one-shot.js";
import type { Terminal } from "../../clients/headless/terminal.js";
import type { ParsedFlags } from "../../feature/flags.js";
import type { MediaBlock } from "../../protocol/content.js";
import type { SessionId } from "../../protocol/ids.js";
import { exitCodeOf } from "../exit-codes.js";
import { FailedRun } from "../failed-run.js";
import { outputGuard } from "../output-guard.js";
import { stopOnSignals } from "../stop-signals.js";
import type { Conversation } from "./prepare.js";

/** One prompt to its end. */
export async function oneShot(
  { client, clock, chosen, recentTurns }: Omit<Conversation, "loaded">,
  options: {
    session: SessionId;
    prompt: string;
    media: readonly MediaBlock[];
    format: OutputFormat;
    flags: ParsedFlags;
    terminal: Terminal;
  },
): Promise<number> {
  const { session, prompt, media, format, flags, terminal } = options;
  stopOnSignals(() => void client.send("CancelTurn", {}, session));
  if (terminal.showProgress && chosen.note !== undefined) terminal.err.write(`oxbow: ${safeText(chosen.note)}\n`);
  const result = await runOneShot({
    client,
    session,
    prompt,
    media,
    format,
    recordsAfter: flags.has("json-events"),
    verbose: flags.has("verbose"),
    terminal,
    clock,
    estimateMs: estimateFrom(await recentTurns()),
    isReaderGone: () => outputGuard().failed,
  });
  if ("ended" in result) return exitCodeOf(result.ended);
  throw new FailedRun(result.refused);
}
