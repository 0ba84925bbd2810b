/**
 * Six-digit codes: a person sees the code on a trusted surface and passes it on. A program alone cannot make a token, because it does
 * not see the code.
 *
 * 1. A request belongs to its asker: a code is worth nothing to another one.
 * 2. The first surface that can show the code is used, and the answer names it. The requester never gets the code.
 * 3. A code is valid for 60 seconds, for one request and for three guesses.
 * 4. Few requests are open at once, and few are accepted in a minute: a program cannot flood a person with codes.
 * 5. A person may get a code in hand, for a page that is opened with it. It has the same life, and belongs to pages (`PAGE`).
 */
import { randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../base/clock.js";
import { type Failure, failure } from "../../protocol/errors.js";
import type { TokenQuestion } from "../../protocol/events.js";
import type { WantedClaims } from "./claims.js";

export interface PeopleMessage {
  /** A client that does not get it. */
  readonly except?: string;
  /** Holds what the message says about a token, as data. */
  readonly token?: TokenQuestion;
}

export type ChannelName = "client" | "tty" | "notify";

/** A surface that a person trusts. */
export interface ConfirmationChannel {
  readonly name: ChannelName;
  /** The place where the person finds the code: "in the terminal of 'oxbow serve'". */
  readonly where: string;
  /** False if the message could not be shown. The client that asks for a token does not get its own code. */
  show(message: string, about?: PeopleMessage): Promise<boolean> | boolean;
  /** The request has ended, so the code is not valid any more. */
  close?(message: string, token: TokenQuestion): void;
}

export interface OpenConfirmation {
  readonly request: string;
  readonly channel: ChannelName;
  readonly where: string;
  readonly expires_at: string;
}

interface Waiting {
  readonly code: string;
  readonly asker: string;
  readonly wanted: WantedClaims;
  readonly asks: string;
  /** Absent for a code in hand. */
  readonly channel?: ConfirmationChannel;
  readonly until: number;
  guesses: number;
  /** It stays known until its time is over, so that the requester learns of the refusal. */
  isRefused?: true;
}

export const CODE_LIFETIME_MS = 60_000;
/** The asker of a code in hand: a page of this engine that has no token yet. */
export const PAGE = "page";
const MOST_GUESSES = 3;
const MOST_IN_HAND = 64;
const MOST_OPEN = 3;
const MOST_A_MINUTE = 6;

export const NO_CHANNEL =
  "A person has to confirm a new token, and there is no terminal or client to show the code on. In CI, use a token file ('oxbow token file'). Under a service manager, start the engine with --auth-channel notify.";

export class Confirmations {
  readonly #channels: readonly ConfirmationChannel[];
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();
  #recent: number[] = [];

  constructor(channels: readonly ConfirmationChannel[], clock: Clock) {
    this.#channels = channels;
    this.#clock = clock;
  }

  /** Shows a code to a person. */
  async open(
    wanted: WantedClaims,
    { purpose, asker, requester }: { readonly purpose: string; readonly asker: string; readonly requester?: string },
  ): Promise<OpenConfirmation | { readonly failure: Failure }> {
    const busy = this.#tooMany();
    if (busy !== undefined) return { failure: busy };
    const { code, request } = newRequest();
    const expires_at = new Date(this.#clock.wall() + CODE_LIFETIME_MS).toISOString();
    const message = `${purpose} Code: ${code}. It is valid for 60 seconds. Pass it on only if you asked for this.`;
    const until = this.#clock.now() + CODE_LIFETIME_MS;
    const token = { request, asks: purpose, state: "open", code, expires_at } as const;
    const about = { token, ...(requester !== undefined && { except: requester }) };
    for (const channel of this.#channels) {
      if (!(await channel.show(message, about))) continue;
      this.#waiting.set(request, { code, asker, wanted, asks: purpose, channel, until, guesses: MOST_GUESSES });
      return { request, channel: channel.name, where: channel.where, expires_at };
    }
    return { failure: { ...failure("Forbidden"), message: NO_CHANNEL } };
  }

  /** A code that is shown nowhere: the caller gives it to the person who asked for it. */
  inHand(wanted: WantedClaims, asks: string): { request: string; code: string; expires_at: string } {
    this.#dropOld();
    const earlier = [...this.#waiting].filter(([, { channel }]) => channel === undefined);
    if (earlier.length >= MOST_IN_HAND) this.#waiting.delete(earlier[0]?.[0] ?? "");
    const { code, request } = newRequest();
    const until = this.#clock.now() + CODE_LIFETIME_MS;
    this.#waiting.set(request, { code, asker: PAGE, wanted, asks, until, guesses: MOST_GUESSES });
    return { request, code, expires_at: new Date(this.#clock.wall() + CODE_LIFETIME_MS).toISOString() };
  }

  /** Tells what was confirmed. A request is used up by the right code, and by too many wrong ones. */
  confirm(
    request: string,
    { code, asker }: { readonly code: string; readonly asker: string },
  ): { readonly wanted: WantedClaims } | { readonly failure: Failure } {
    this.#dropOld();
    const waiting = this.#waiting.get(request);
    if (waiting === undefined || waiting.asker !== asker) {
      const detail = "There is no such request, or its 60 seconds are over. Ask for the token again.";
      return { failure: failure("NotFound", { detail }) };
    }
    if (waiting.isRefused) return { failure: failure("Forbidden", { detail: "A person refused this request." }) };
    if (isSame(code, waiting.code)) {
      this.#close(request, "made", "The token was made.");
      return { wanted: waiting.wanted };
    }
    waiting.guesses -= 1;
    if (waiting.guesses === 0) {
      this.#close(
        request,
        "void",
        `${MOST_GUESSES} wrong codes were entered for a token, so Oxbow cancelled the request.`,
      );
    }
    const left =
      waiting.guesses === 0 ? "Oxbow cancelled the request. Ask for the token again." : `${waiting.guesses} left.`;
    return { failure: failure("Forbidden", { detail: `The code is wrong. ${left}` }) };
  }

  /** A person does not want the token. False if the request is not open. */
  refuse(request: string): boolean {
    this.#dropOld();
    const waiting = this.#waiting.get(request);
    if (waiting === undefined || waiting.isRefused) return false;
    this.#close(request, "refused", "A person refused the request for a token.");
    this.#waiting.set(request, { ...waiting, isRefused: true });
    return true;
  }

  #close(request: string, state: TokenQuestion["state"], message: string): void {
    const waiting = this.#waiting.get(request);
    this.#waiting.delete(request);
    waiting?.channel?.close?.(message, { request, asks: waiting.asks, state });
  }

  #tooMany(): Failure | undefined {
    this.#dropOld();
    const now = this.#clock.now();
    this.#recent = this.#recent.filter((at) => now - at < 60_000);
    const open = [...this.#waiting.values()].filter(({ isRefused, channel }) => !isRefused && channel !== undefined);
    if (open.length >= MOST_OPEN || this.#recent.length >= MOST_A_MINUTE) {
      return failure("TooManyRequests", { seconds: 60 }, { retryable: true, retry_after_ms: 60_000 });
    }
    this.#recent.push(now);
    return undefined;
  }

  #dropOld(): void {
    const now = this.#clock.now();
    for (const [request, { until }] of this.#waiting) if (until <= now) this.#waiting.delete(request);
  }
}

function newRequest(): { readonly code: string; readonly request: string } {
  const code = String(randomInt(1_000_000)).padStart(6, "0");
  return { code, request: `req_${randomBytes(12).toString("hex")}` };
}

/** Both have six characters: a different length is no secret. */
function isSame(given: string, code: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(code)];
  return left.length === right.length && timingSafeEqual(left, right);
}
