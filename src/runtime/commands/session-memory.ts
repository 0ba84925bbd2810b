/** What `/memory` can do in a session besides: why, on, extract and keep. */
import { safeLine } from "../../base/terminal-text.js";
import { MEMORY_EXTRACT, MEMORY_KEEP, MEMORY_ON, MEMORY_WHY } from "../../commands/catalogue/memory.js";
import { asValue, type Command, type CommandArguments, type CommandResult, refuse } from "../../commands/command.js";
import type { Proposal } from "../../context/memory/extract.js";
import type { LiveMemory } from "../parts/live-memory.js";
import { guarded, labelOf, memoryCommands } from "./memory.js";

const MOST_SHOWN = 20;

export function sessionMemoryCommands(live: LiveMemory): readonly Command[] {
  const { session, engine } = live.place;
  let proposals: readonly Proposal[] = [];
  const on = () => {
    live.isWanted = true;
    return { text: "The model has the memory tool in this session.", value: { on: true } };
  };
  return [
    ...memoryCommands({ memories: live.memories, session, now: () => engine.clock.wall() }),
    { ...MEMORY_WHY, run: () => why(live) },
    { ...MEMORY_ON, run: on },
    {
      ...MEMORY_EXTRACT,
      run: async (_args, context) => {
        const { proposeMemories } = await import("./propose-memories.js");
        const proposed = await proposeMemories(live, context);
        if ("failure" in proposed) return proposed;
        proposals = proposed.proposals;
        return shown(proposals);
      },
    },
    { ...MEMORY_KEEP, run: (args) => guarded(() => keep(args, live, proposals)) },
  ];
}

function why({ last }: LiveMemory): CommandResult {
  if (last === undefined) return { text: "No input has been sent with memories yet.", value: { considered: [] } };
  const { considered, tokens } = last.selection;
  const chosen = considered.filter((each) => each.chosen);
  const rest = considered.filter((each) => !each.chosen);
  const lines = [
    `With "${safeLine(last.input).slice(0, 80)}":`,
    chosen.length === 0 ? "No memory went along." : `${chosen.length} went along, ${tokens} tokens:`,
    ...chosen.map(
      (each) => `  ${labelOf(each.entry)}  ${each.tokens} tokens, score ${each.score.toFixed(2)}. ${each.why}.`,
    ),
    ...(rest.length === 0 ? [] : ["Left out:"]),
    ...rest.slice(0, MOST_SHOWN).map((each) => `  ${labelOf(each.entry)}  ${each.why}.`),
    ...(rest.length > MOST_SHOWN ? [`  and ${rest.length - MOST_SHOWN} more`] : []),
  ];
  const value = considered.map(({ entry, chosen: isChosen, why: reason, words, score, tokens: size }) => ({
    ...{ memory: labelOf(entry), chosen: isChosen, why: reason, words, score, tokens: size },
  }));
  return { text: lines.join("\n"), value: asValue({ input: last.input, tokens, considered: value }) };
}

function shown(proposals: readonly Proposal[]): CommandResult {
  const value = asValue(proposals.map((proposal, at) => ({ number: at + 1, ...proposal })));
  if (proposals.length === 0) return { text: "Nothing in this conversation seems worth remembering.", value };
  const lines = proposals.map(({ type, scope, body }, at) => `${at + 1}. (${type}, ${scope}) ${safeLine(body)}`);
  return {
    text: `${lines.join("\n")}\n\nNothing is saved yet. Save some with: /memory keep 1 2, or /memory keep all`,
    value,
  };
}

async function keep(
  args: CommandArguments,
  { memories, place }: LiveMemory,
  proposals: readonly Proposal[],
): Promise<CommandResult> {
  if (proposals.length === 0) return refuse("There are no proposals. /memory extract makes some.");
  const words = args
    .list("NUMBER")
    .flatMap((word) => word.split(","))
    .filter((word) => word !== "");
  const numbers = words.includes("all") ? proposals.map((_, at) => at + 1) : words.map(Number);
  const wrong = numbers.find((number) => proposals[number - 1] === undefined);
  if (wrong !== undefined) return refuse(`Give numbers from 1 to ${proposals.length}, or all.`);
  const labels: string[] = [];
  for (const number of new Set(numbers)) {
    const { scope, ...memory } = proposals[number - 1] as Proposal;
    labels.push(labelOf(await memories.folder(scope).save(memory, { by: "user", session: place.session })));
  }
  return { text: `Saved: ${labels.join(", ")}.`, value: { saved: labels } };
}
