/**
 * The wrappers for local models (calls written as text, cut prompts, broken arguments) process only answers. So Oxbow sends the
 * request first and loads the wrappers while the server works.
 */
import type { Clock } from "../../base/clock.js";
import type { Model, ModelEvent, ModelRequest, ModelStream } from "../../engine/ports.js";

export interface LateCare {
  readonly load: () => Promise<(model: Model) => Model>;
  readonly clock: Clock;
}

/** By then the request has been sent. */
const SENT_MS = 20;

export function lateLocalModel(model: Model, { load, clock }: LateCare): Model {
  const begun = new WeakMap<ModelRequest, ModelStream>();
  const source: Model = {
    ...model,
    stream(request, context) {
      const stream = begun.get(request) ?? model.stream(request, context);
      begun.delete(request);
      return stream;
    },
  };
  let around: Promise<Model> | undefined;
  return {
    ...model,
    async *stream(request, context) {
      const { stream, first } = begin(model.stream(request, context));
      begun.set(request, stream);
      around ??= sent(first, clock)
        .then(load)
        .then((wrap) => wrap(source));
      yield* (await around).stream(request, context);
    },
  };
}

function sent(first: Promise<void>, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(SENT_MS, resolve);
    void first.then(() => {
      cancel();
      resolve();
    });
  });
}

/** The same stream, with its first piece already requested; `first` resolves when it arrives. */
function begin(stream: ModelStream): { readonly stream: ModelStream; readonly first: Promise<void> } {
  const iterator = stream[Symbol.asyncIterator]();
  let waiting: Promise<IteratorResult<readonly ModelEvent[]>> | undefined = iterator.next();
  // The caller that reads it receives the failure.
  const first = waiting.then(
    () => {},
    () => {},
  );
  const rest: AsyncIterator<readonly ModelEvent[]> = {
    next: () => {
      const next = waiting ?? iterator.next();
      waiting = undefined;
      return next;
    },
    return: async (value) => (await iterator.return?.(value)) ?? { done: true, value: undefined },
  };
  return { stream: { [Symbol.asyncIterator]: () => rest }, first };
}
