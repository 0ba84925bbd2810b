/**
 * The end of a token while a connection is open.
 *
 * 1. Five minutes before the token expires the connection gets a TokenExpiring.
 * 2. When it expires the connection ends. During a turn it ends with the turn, at most 60 seconds later.
 * 3. A revoked token ends the connection at once. Another process may have revoked it, so this is also checked now and then.
 */
import type { Clock } from "../../base/clock.js";
import { type Failure, failure } from "../../protocol/errors.js";
import type { TokenClaims } from "./claims.js";
import type { Tokens } from "./tokens.js";

const WARN_MS = 5 * 60_000;
const DRAIN_MS = 60_000;
const CHECK_MS = 15_000;

export interface TokenWatchOptions {
  readonly claims: TokenClaims;
  readonly tokens: Tokens;
  readonly clock: Clock;
  readonly warn: (payload: { readonly jti: string; readonly expires_at: string }) => void;
  readonly end: (cause: Failure) => void;
  /** A turn runs that the connection follows. */
  readonly isBusy: () => boolean;
}

export class TokenWatch {
  readonly #options: TokenWatchOptions;
  readonly #stopListening: () => void;
  #stopTimer = () => {};
  #isWarned = false;

  constructor(options: TokenWatchOptions) {
    this.#options = options;
    const { tokens, claims } = options;
    this.#stopListening = tokens.onRevoke((jti) => {
      if (jti === claims.jti) this.#end(tokens.problemOf(claims) ?? failure("TokenRevoked", { jti, ts: "now" }));
    });
    this.check();
  }

  stop(): void {
    this.#stopTimer();
    this.#stopListening();
  }

  /** Also called when a turn has ended. */
  check(): void {
    const { claims, tokens, clock, warn, isBusy } = this.#options;
    this.#stopTimer();
    const left = claims.exp * 1000 - clock.wall();
    const problem = problemOf(tokens, claims);
    if (problem !== undefined && !(problem.reason === "TokenExpired" && isBusy() && left > -DRAIN_MS)) {
      this.#end(problem);
      return;
    }
    if (left <= WARN_MS && !this.#isWarned) {
      this.#isWarned = true;
      warn({ jti: claims.jti, expires_at: new Date(claims.exp * 1000).toISOString() });
    }
    const next = [left - WARN_MS, left, left + DRAIN_MS].find((ms) => ms > 0) ?? 0;
    this.#stopTimer = clock.after(Math.min(next, CHECK_MS), () => this.check());
  }

  #end(cause: Failure): void {
    this.stop();
    this.#options.end(cause);
  }
}

/** A list of revoked tokens that cannot be read ends the connection. */
function problemOf(tokens: Tokens, claims: TokenClaims): Failure | undefined {
  try {
    return tokens.problemOf(claims);
  } catch (error) {
    return failure("Internal", { detail: error instanceof Error ? error.message : String(error) });
  }
}
