/** Limits the time for one answer of a model: local hardware can be too slow to wait for. */
import type { Clock } from "../../base/clock.js";
import { formatDuration } from "../../base/duration.js";
import type { Model, ModelEvent, ModelRequest, ModelStream, RequestContext } from "../../engine/ports.js";
import { failure } from "../../protocol/errors.js";

export interface TimeLimit {
  readonly ms: number;
  readonly clock: Clock;
}

export function withTimeLimit(model: Model, limit: TimeLimit): Model {
  return { ...model, stream: (request, context) => limited(model, request, { context, limit }) };
}

async function* limited(
  model: Model,
  request: ModelRequest,
  { context, limit }: { readonly context: RequestContext; readonly limit: TimeLimit },
): ModelStream & AsyncGenerator<readonly ModelEvent[]> {
  const over = new AbortController();
  const stop = limit.clock.after(limit.ms, () => over.abort());
  try {
    yield* model.stream(request, { ...context, signal: AbortSignal.any([context.signal, over.signal]) });
  } catch (error) {
    if (!over.signal.aborted) throw error;
  } finally {
    stop();
  }
  if (!over.signal.aborted || context.signal.aborted) return;
  const detail = `its answer took longer than ${formatDuration(limit.ms)}, the limit of ollama_timeout (--ollama-timeout).`;
  yield [{ type: "failure", failure: failure("ProviderFailed", { name: model.provider, detail }) }];
}
