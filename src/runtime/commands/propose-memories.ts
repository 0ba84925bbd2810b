/** Asks the model for proposals, between two turns. */
import type { CommandContext } from "../../commands/command.js";
import { refuse } from "../../commands/command.js";
import { transcriptOf } from "../../context/compaction/transcript.js";
import { EXTRACT_PROMPT, newestText, type Proposal, readProposals } from "../../context/memory/extract.js";
import { callBeside } from "../../engine/side-call.js";
import type { Failure } from "../../protocol/errors.js";
import { redact } from "../../security/redact/redact.js";
import type { LiveMemory } from "../parts/live-memory.js";

const MOST_CHARS = 40_000;
const RESULT_CHARS = 500;
const OUTPUT_TOKENS = 1_000;

export async function proposeMemories(
  { place }: LiveMemory,
  context: Pick<CommandContext, "progress">,
): Promise<{ readonly proposals: readonly Proposal[] } | { readonly failure: Failure }> {
  const { run } = place.current;
  if (run === undefined || run.conversation.length === 0) return { proposals: [] };
  context.progress("reading the conversation");
  const untrusted = await place.outside.wrapper();
  const written = newestText(
    run.conversation,
    (message) => transcriptOf(message, { resultChars: RESULT_CHARS, untrusted }),
    MOST_CHARS,
  );
  const model = (await place.engine.routes.summary()) ?? run.model;
  const answer = await run.between(async ({ signal, ports }) => {
    const input = `<conversation>\n${written}\n</conversation>\n\nWrite the proposals now.`;
    const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: input }] }];
    const request = { model: model.model, system: EXTRACT_PROMPT, messages, tools: [], maxOutputTokens: OUTPUT_TOKENS };
    return callBeside({ model, request, purpose: "summary" }, { bus: run.bus, ports, signal });
  });
  if ("failure" in answer) return answer;
  if ("cancelled" in answer) return refuse("Cancelled: nothing was saved.");
  return { proposals: readProposals(answer.text).map((proposal) => ({ ...proposal, body: redact(proposal.body) })) };
}
