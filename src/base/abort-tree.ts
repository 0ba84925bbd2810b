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
    const onAbort = () => this.#controller.abort(parent.reason);
    parent.addEventListener("abort", onAbort, { once: true });
    this.#detach = () => parent.removeEventListener("abort", onAbort);
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

/** Runs `action` when the signal fires, or at once if it has; the returned function takes it back. */
export function onAbort(signal: AbortSignal, action: () => void): () => void {
  if (signal.aborted) {
    action();
    return () => {};
  }
  signal.addEventListener("abort", action, { once: true });
  return () => signal.removeEventListener("abort", action);
}
