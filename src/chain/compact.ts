/** Joins compaction with the engine: side calls, events, the journal and the estimate of a request. */
import {
  type Compacted,
  type CompactionOptions,
  type CompactionPlace,
  type CompactionTools,
  compact as compactConversation,
  type Summarized,
  summarizeConversation as summarize,
} from "../context/compaction/compact.js";
import { TurnFailure } from "../engine/cancel.js";
import type { CallFacts } from "../engine/ports.js";
import { callBeside, type SidePlace } from "../engine/side-call.js";
import { failure } from "../protocol/errors.js";
import { estimateRequestTokens } from "../providers/tokens/estimate-request.js";
import type { RunJournal } from "./services.js";

export type { Compacted, Summarized } from "../context/compaction/compact.js";

export interface CompactionServices
  extends Pick<CompactionTools, "summaryModel" | "limitsOf" | "untrusted" | "pinned" | "asSent" | "frameFor"> {
  /** The place of the last call of the conversation. */
  readonly facts: CallFacts | undefined;
  readonly journal?: Pick<RunJournal, "flush"> | undefined;
}

type Place = CompactionPlace & SidePlace;

export function compact(place: Place, options: CompactionOptions, services: CompactionServices): Promise<Compacted> {
  return compactConversation(place, options, toolsFor(place, services));
}

/** A summary of the whole conversation, which does not change. */
export function summarizeConversation(
  place: Place,
  focus: string | undefined,
  services: CompactionServices,
): Promise<Summarized> {
  return summarize(place, focus, toolsFor(place, services));
}

function toolsFor(place: Place, services: CompactionServices): CompactionTools {
  const { bus, turn } = place;
  const within = turn === undefined ? {} : { turn: turn.id };
  return {
    ...services,
    weigh: (messages, { family }) =>
      estimateRequestTokens({ system: "", messages: services.asSent(messages), tools: [] }, family),
    ask: (model, request, where) => {
      // With the same facts it goes to the same model of a route, and has the same variant of the prompt.
      const facts = where === "continued" ? services.facts : undefined;
      return callBeside({ model, request, purpose: "summary", ...(facts && { facts }) }, place);
    },
    onProgress: (part) => {
      const message = `summarising the conversation${part}`;
      bus.publish("Notice", { ...within, level: "progress", message });
    },
    publish: async (event) => {
      bus.publish("CompactionTriggered", { ...within, ...event });
      try {
        await services.journal?.flush();
      } catch (error) {
        throw new TurnFailure(failure("SessionNotSaved", { detail: (error as Error).message }));
      }
    },
  };
}
