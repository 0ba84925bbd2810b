/**
 * A tree of cancellations (feature L9): cancelling a node cancels everything below it and nothing above.
 *
 * 1. A node that was disposed holds no reference from its parent, so a long session does not grow.
 * 2. The reason given first is the reason everyone below sees.
 */
export class AbortNode {
  readonly #controller = new AbortController();
  readonly #detach: () => void;

  constructor(parent?: AbortSignal) {
    if (parent === undefined) {
      this.#detach = () => {};
      return;
    }
    if (parent.aborted) {
      this.#controller.abort(parent.reason);
      this.#detach = () => {};
      return;
    }
    this.#detach = onAbort(parent, () => this.#controller.abort(parent.reason));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  child(): AbortNode {
    return new AbortNode(this.signal);
  }

  dispose(): void {
    this.#detach();
  }
}

/** What waits for each signal. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Runs `action` when the signal fires, or at once if it has; the returned function takes it back. However many wait, the signal has one
 * listener: the platform takes more than ten for a leak and warns, and a message of the model may have any number of calls.
 */
export function onAbort(signal: AbortSignal, action: () => void): () => void {
  if (signal.aborted) {
    action();
    return () => {};
  }
  const actions = waiting.get(signal) ?? listen(signal);
  // Each has its own entry, also where one function waits twice.
  const entry = () => action();
  actions.add(entry);
  return () => actions.delete(entry);
}

function listen(signal: AbortSignal): Set<() => void> {
  const actions = new Set<() => void>();
  waiting.set(signal, actions);
  const fire = () => {
    for (const action of [...actions]) if (actions.delete(action)) action();
  };
  signal.addEventListener("abort", fire, { once: true });
  return actions;
}
