/** `/compact` and `/summarize`. */
import { roundTokens } from "../../base/budget-text.js";
import type { Run } from "../../control/run.js";
import { type Command, type CommandResult, refuse } from "../../feature/command.js";
import { OFFLINE } from "../../providers/selection/model-parts.js";
import type { RunCompaction } from "../parts/compaction.js";
import { BTW, COMPACT, SUMMARIZE } from "./specs.js";

interface CompactionPort {
  readonly run: Run;
  readonly compaction: RunCompaction;
}

const NOTHING_YET = "There is nothing to summarise yet.";

export function compactionCommands(port: CompactionPort): readonly Command[] {
  return [
    { ...BTW, run: (args, { signal }) => beside(args.text("QUESTION") ?? "", signal, port) },
    { ...COMPACT, run: (args) => noSummary(port.run) ?? compact(args.text("WHAT TO KEEP"), port) },
    {
      ...SUMMARIZE,
      run: (args) => {
        const refusal = noSummary(port.run);
        if (refusal !== undefined) return refusal;
        const focus = args.text("WHAT MATTERS");
        return args.hasFlag("show") ? showSummary(focus, port) : replaceBySummary(focus, port);
      },
    },
  ];
}

async function beside(asked: string, signal: AbortSignal, { run, compaction }: CompactionPort): Promise<CommandResult> {
  const answer = await compaction.askBeside(run, asked, signal);
  if ("failure" in answer) return answer;
  if ("cancelled" in answer) return cancelled();
  const text = answer.text.trim();
  if (text === "") return refuse("The model wanted to call a tool instead of answering. Ask it in the conversation.");
  return { text, value: { answer: text } };
}

/** The offline model follows rules: its answer is no summary, and would replace the conversation. */
function noSummary({ model }: Run): CommandResult | undefined {
  if (model.provider !== OFFLINE) return undefined;
  return refuse("The offline model cannot summarise. Choose another model: /model");
}

async function compact(focus: string | undefined, { run, compaction }: CompactionPort): Promise<CommandResult> {
  const result = await compaction.compactNow(run, { focus });
  if ("failure" in result) return result;
  if ("cancelled" in result) return cancelled();
  if ("refused" in result) return refuse(`Not shortened: ${result.refused}`);
  if ("nothing" in result) {
    return { text: "The conversation is too short to summarise. Nothing changes.", value: { shortened: false } };
  }
  const { before, after } = result.tokens;
  return {
    text: `Conversation shortened: ${roundTokens(before)} → ${roundTokens(after)} tokens.`,
    value: { shortened: true, tokens: { before, after } },
  };
}

async function replaceBySummary(
  focus: string | undefined,
  { run, compaction }: CompactionPort,
): Promise<CommandResult> {
  const result = await compaction.compactNow(run, { focus, replaces: "all" });
  if ("failure" in result) return result;
  if ("cancelled" in result) return cancelled();
  if ("refused" in result) return refuse(`Not summarised: ${result.refused}`);
  if ("nothing" in result) return { text: NOTHING_YET, value: { replaced: false } };
  const { tokens, summary } = result;
  const size = `${roundTokens(tokens.before)} → ${roundTokens(tokens.after)} tokens`;
  return {
    text: `${summary}\n\nThis summary replaces the conversation: ${size}. The log keeps every message.`,
    value: { replaced: true, summary, tokens },
  };
}

async function showSummary(focus: string | undefined, { run, compaction }: CompactionPort): Promise<CommandResult> {
  const result = await compaction.summarizeNow(run, { ...(focus !== undefined && { focus }) });
  if ("failure" in result) return result;
  if ("cancelled" in result) return cancelled();
  const summary = "text" in result ? result.text.trim() : undefined;
  return { text: summary ?? NOTHING_YET, value: { summary: summary ?? null } };
}

function cancelled(): CommandResult {
  return refuse("Cancelled: the conversation is unchanged.");
}
