/**
 * A tree of cancellations: cancelling a node cancels everything below it and nothing above.
 *
 * 1. A parent keeps no reference to a disposed node, so a long session does not grow.
 * 2. All nodes below get the first reason.
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

/** The actions that wait for a signal, and the signal's single listener for all of them. */
interface Waiting {
  readonly actions: Set<() => void>;
  readonly listener: () => void;
}

const waiting = new WeakMap<AbortSignal, Waiting>();

/**
 * Runs `action` when the signal fires, or at once if it has; the returned function cancels that. The signal has one listener for any
 * number of actions: Node warns of a leak above ten listeners, and a message of the model may have more calls than that.
 */
export function onAbort(signal: AbortSignal, action: () => void): () => void {
  if (signal.aborted) {
    action();
    return () => {};
  }
  const { actions, listener } = waiting.get(signal) ?? listen(signal);
  // Each has its own entry, even if one function waits twice.
  const entry = () => action();
  actions.add(entry);
  return () => {
    if (!actions.delete(entry) || actions.size > 0) return;
    signal.removeEventListener("abort", listener);
    waiting.delete(signal);
  };
}

function listen(signal: AbortSignal): Waiting {
  const actions = new Set<() => void>();
  const listener = () => {
    for (const action of [...actions]) if (actions.delete(action)) action();
  };
  const entry = { actions, listener };
  waiting.set(signal, entry);
  signal.addEventListener("abort", listener, { once: true });
  return entry;
}
