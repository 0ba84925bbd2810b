/** The state of a server, and those who wait for the next one or want to know of it. */
import type { Clock } from "../../base/clock.js";

export type ServerState = "stopped" | "starting" | "ready" | "restarting" | "down";

/** A session that uses it. */
export interface ServerWatcher {
  /** The tools, prompts or the state changed. */
  changed?(): void;
  down?(about: { readonly name: string; readonly reason: string; readonly attempts: number }): void;
  /** One line for the user. */
  report?(message: string): void;
}

/** The server cannot be used; the message says why and what helps. */
export class ServerUnavailable extends Error {
  override readonly name = "ServerUnavailable";
}

/** The server does not offer the tool as a session knows it; the message ends the sentence "Not run: …". */
export class NotOffered extends Error {
  override readonly name = "NotOffered";
}

/** A new start would not help. */
export class Final extends Error {}

export class ServerWatchers {
  readonly #watchers = new Set<ServerWatcher>();
  #waiting: (() => void)[] = [];
  /** Counts up with every change of tools or prompts. */
  version = 0;

  add(watcher: ServerWatcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Resolves with the next change or start. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  changed(): void {
    this.version++;
    this.wake();
    for (const watcher of this.#watchers) watcher.changed?.();
  }

  down(about: { readonly name: string; readonly reason: string; readonly attempts: number }): void {
    for (const watcher of this.#watchers) watcher.down?.(about);
  }

  report(message: string): void {
    for (const watcher of this.#watchers) watcher.report?.(message);
  }
}

export interface PatienceOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly ms: number;
  /** Of the server. */
  readonly name: string;
}

/** `over` rejects with a ServerUnavailable after the time, or when the signal fires. */
export function patienceOf({ clock, signal, ms, name }: PatienceOptions): {
  readonly over: Promise<never>;
  end(): void;
} {
  let give = (_why: string) => {};
  const over = new Promise<never>((_, reject) => {
    give = (why) => reject(new ServerUnavailable(`MCP server '${name}' ${why}.`));
  });
  over.catch(() => {});
  const cancel = clock.after(ms, () => give("is not ready yet"));
  const stop = () => give("is not ready, and the turn was cancelled");
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  return {
    over,
    end: () => {
      cancel();
      signal.removeEventListener("abort", stop);
    },
  };
}
