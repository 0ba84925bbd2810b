/** What `/compact` and `/summarize` answer (feature X7). */
import { roundTokens } from "../../base/budget-text.js";
import type { SlashResult } from "../../commands/registry.js";
import type { Run } from "../../control/run.js";
import { failure } from "../../protocol/errors.js";
import type { RunCompaction } from "../parts/compaction.js";

export async function compactCommand(focus: string, { run, compaction }: Place): Promise<SlashResult> {
  const result = await compaction.compactNow(run, focus === "" ? undefined : focus);
  if ("failure" in result) return result;
  if ("cancelled" in result) return cancelled();
  if ("nothing" in result) return { text: "There is too little to shorten: the conversation stays as it is." };
  const { before, after } = result.tokens;
  return { text: `Conversation shortened: ${roundTokens(before)} → ${roundTokens(after)} tokens.` };
}

export async function summarizeCommand(focus: string, { run, compaction }: Place): Promise<SlashResult> {
  const result = await compaction.summarizeNow(run, focus === "" ? undefined : focus);
  if ("failure" in result) return result;
  if ("cancelled" in result) return cancelled();
  return { text: "text" in result ? result.text.trim() : "There is nothing to summarise yet." };
}

interface Place {
  readonly run: Run;
  readonly compaction: RunCompaction;
}

function cancelled(): SlashResult {
  return { failure: failure("InvalidInput", { detail: "Cancelled: the conversation is as it was." }) };
}
