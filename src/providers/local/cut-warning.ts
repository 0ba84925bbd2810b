/** Warns once when a local Chat Completions server dropped a part of the prompt. */
import type { Model, ModelEvent } from "../../engine/ports.js";
import { hasImages } from "../../protocol/content.js";
import { CutDetector } from "../cut-detector.js";
import { requestBytes } from "../request-size.js";
import { estimateTextTokens } from "../tokens/estimate-request.js";

export function withCutWarning(model: Model): Model {
  const cuts = new CutDetector();
  let hasWarned = false;
  return {
    ...model,
    async *stream(request, context) {
      for await (const batch of model.stream(request, context)) {
        const usage = batch.findLast((event) => event.type === "usage");
        if (usage?.type !== "usage") {
          yield batch;
          continue;
        }
        const { input, cache_read, output } = usage.usage;
        const counted = input + cache_read;
        const estimated = estimateTextTokens(request, model.family);
        const cut = cuts.wasCut({ estimated, hasImages: hasImages(request.messages), counted, answered: output });
        yield cut && !hasWarned ? [warning(model, { counted, bytes: requestBytes(request) }), ...batch] : batch;
        hasWarned ||= cut;
      }
    },
  };
}

function warning(model: Model, { counted, bytes }: { readonly counted: number; readonly bytes: number }): ModelEvent {
  const message = `${model.model} did not read the whole conversation: the server counted ${counted} tokens for ${Math.ceil(bytes / 1000)} KB of text. Give it a larger context (llama.cpp: -c N, vLLM: --max-model-len N, LM Studio: the model's context length), shorten the conversation (/compact), or start a new one (/clear).`;
  return { type: "notice", level: "warning", message };
}
