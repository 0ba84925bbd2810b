/**
 * The search in what the model no longer sees. The tool is there after a compaction, when the prompt begins anew anyway, or when the user
 * allows it all sessions of the folder (`recall = "folder"`). Until then nothing loads.
 */
import type { Tool } from "../../engine/ports.js";
import type { Message } from "../../protocol/content.js";
import { RECALL_TOOL } from "../../sessions/recall-tool-definition.js";
import type { CreateBuiltIn } from "./built-in.js";
import type { LiveRecall } from "./live-recall.js";

export const recall: CreateBuiltIn = async (opening) => {
  const { engine, resumed, parent } = opening;
  const { recall: reach, tool_sets } = engine.loaded.settings;
  let live: Promise<LiveRecall> | undefined;
  const open = () => {
    live ??= import("./live-recall.js").then(({ LiveRecall }) => new LiveRecall(opening));
    return live;
  };
  const commands = async () => {
    const { recallCommands } = await import("./live-recall.js");
    return recallCommands(open, { clock: engine.clock });
  };
  if (reach.value === "off" || !tool_sets.value.offers(RECALL_TOOL.name, "read")) return { name: "recall", commands };
  let isOffered = reach.value === "folder" && parent === undefined;
  isOffered ||= resumed !== undefined && (await beginsWithSummary(resumed.rebuilt.messages));
  const tool: Tool = { ...RECALL_TOOL, run: async (args, context) => (await open()).run(args, context.signal) };
  return {
    name: "recall",
    tools: () => (isOffered ? [tool] : []),
    compactions: [
      {
        after: async () => {
          isOffered = true;
        },
      },
    ],
    commands,
  };
};

async function beginsWithSummary([first]: readonly Message[]): Promise<boolean> {
  if (first?.role !== "user") return false;
  return (await import("../../context/compaction/summary-message.js")).readSummary(first) !== undefined;
}
