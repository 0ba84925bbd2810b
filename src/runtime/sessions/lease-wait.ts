/** Waits for another process to close a session, if the user asked for it (`--wait`). */
import type { Clock } from "../../base/clock.js";
import { formatDuration, parseDuration } from "../../base/duration.js";
import { UsageError } from "../../base/usage-error.js";
import type { ParsedFlags } from "../../feature/flags.js";
import type { Failure } from "../../protocol/errors.js";

const PAUSE_MS = 100;

export interface LeaseWaitOptions {
  /** Undefined: do not wait. */
  readonly limitMs: number | undefined;
  readonly clock: Clock;
  readonly notify: (message: string) => void;
}

export class LeaseWait {
  readonly #options: LeaseWaitOptions;
  #until: number | undefined;

  constructor(options: LeaseWaitOptions) {
    this.#options = options;
  }

  /** True after a pause, if the caller should try again. */
  async again({ reason, message }: Failure): Promise<boolean> {
    const { limitMs, clock, notify } = this.#options;
    if (reason !== "SessionLeased" || limitMs === undefined) return false;
    if (this.#until === undefined) {
      this.#until = clock.now() + limitMs;
      const [who] = message.split(" Wait for it ");
      notify(`${who} Waiting for at most ${formatDuration(limitMs)}; Ctrl-C stops waiting.`);
    }
    const left = this.#until - clock.now();
    if (left <= 0) return false;
    await new Promise<void>((resolve) => clock.after(Math.min(PAUSE_MS, left), resolve));
    return true;
  }
}

export function waitLimit(flags: ParsedFlags): number | undefined {
  const asked = flags.text("wait");
  const limit = asked === undefined ? undefined : parseDuration(asked);
  if (asked !== undefined && limit === undefined) {
    throw new UsageError(`--wait: expected a duration such as 30s or 5m, got "${asked}".`);
  }
  return limit;
}
