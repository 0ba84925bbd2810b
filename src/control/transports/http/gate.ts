/**
 * Decides who may come in: the checks that every request passes, over every listener.
 *
 * 1. Address first, then the size of the request, then the token. A refused token is logged, without its text.
 * 2. A page of another origin can neither send the token header nor read an answer: there are no CORS headers for it.
 * 3. A token has a bounded number of open requests and connections.
 */
import type { IncomingMessage } from "node:http";
import { type Failure, failure } from "../../../protocol/errors.js";
import { isOwner, type TokenClaims } from "../../auth/claims.js";
import { Guesses } from "../../auth/guesses.js";
import { type RefusedToken, refusedTokenLog, type ServiceLog } from "../../auth/refused-tokens.js";
import type { Tokens } from "../../auth/tokens.js";
import { type AddressCheck, bearerToken, isPath, repeatedHeader } from "../local-access.js";
import type { Admitted } from "./app.js";
import type { PlaceKind, Service } from "./call.js";
import type { Refusal } from "./refusal.js";

export interface GateOptions extends Pick<Service, "tokens" | "clock"> {
  readonly log: ServiceLog;
  readonly mostOfToken?: number | undefined;
}

const MOST_HEADERS = 100;
const MOST_TARGET = 4096;
const MOST_OF_TOKEN = 256;
/** The terminal client, the web client and other programs of the owner share one token. */
const MOST_OF_OWNER = 2000;

export class Gate {
  readonly #tokens: Tokens;
  readonly #guesses: Guesses;
  readonly #mostOfToken: number;
  readonly #logRefused: (refused: RefusedToken) => void;
  readonly #entered = new Map<string, number>();

  constructor({ tokens, clock, log, mostOfToken = MOST_OF_TOKEN }: GateOptions) {
    this.#tokens = tokens;
    this.#guesses = new Guesses(clock);
    this.#mostOfToken = mostOfToken;
    this.#logRefused = refusedTokenLog(clock, (message, fields) => log("auth", message, fields));
  }

  /** Tells why a request is refused before anything else; undefined if it is not. A server on a Unix socket has no address. */
  refuse(request: IncomingMessage, check: AddressCheck | undefined): Refusal | undefined {
    const { headers, rawHeaders, url = "" } = request;
    const twice = repeatedHeader(rawHeaders);
    if (twice !== undefined) return { status: 400, failure: failure("InvalidInput", { detail: twice }) };
    const foreign = check === undefined ? socketRefusal(headers.origin) : check.refuse(headers)?.message;
    if (foreign !== undefined) return { status: 403, failure: { ...failure("Forbidden"), message: foreign } };
    if (rawHeaders.length / 2 > MOST_HEADERS) return tooLarge("The number of headers", `${MOST_HEADERS}`, 431);
    if (url.length > MOST_TARGET) return tooLarge("The address", `${MOST_TARGET} characters`, 414);
    if (isPath(url)) return undefined;
    return { status: 400, failure: failure("InvalidInput", { detail: "The address must be a path." }) };
  }

  /** Checks the token. `inProtocol` is one that a browser sends as a WebSocket protocol. */
  admit(request: IncomingMessage, place: PlaceKind, inProtocol?: string): Admitted {
    const admitted = this.#admit(request, place, inProtocol);
    if ("failure" in admitted && admitted.given) {
      const { method, url, socket } = request;
      const { reason, message } = admitted.failure;
      this.#logRefused({ from: socket.remoteAddress, method, target: url, reason: `${reason}: ${message}` });
    }
    return admitted;
  }

  #admit(request: IncomingMessage, place: PlaceKind, inProtocol: string | undefined): Admitted {
    const token = tokenOf(request) ?? inProtocol;
    if (token === undefined) {
      return { given: false, failure: failure("Unauthorized", { detail: "send it as X-Oxbow-Token." }) };
    }
    const checked = this.#check(token);
    if ("failure" in checked) {
      // A token that has expired or was revoked is no guess.
      const isGuess = checked.failure.reason === "Unauthorized";
      const wait = isGuess ? this.#guesses.wrong(request.socket.remoteAddress ?? "socket") : undefined;
      return { given: true, failure: wait === undefined ? checked.failure : tooManyRequests(wait) };
    }
    const { sessions, folders } = checked.claims;
    if (place === "network" && sessions === undefined && folders === undefined) {
      const detail = "from other machines, the engine accepts only tokens that are bound to sessions or to folders.";
      return { given: true, failure: failure("Forbidden", { detail }) };
    }
    return checked;
  }

  /** Counts an open request of a token. */
  enter(claims: TokenClaims): { leave(): void } | { readonly failure: Failure } {
    const { jti } = claims;
    const count = this.#entered.get(jti) ?? 0;
    if (count >= (isOwner(claims) ? MOST_OF_OWNER : this.#mostOfToken)) return { failure: tooManyRequests(1) };
    this.#entered.set(jti, count + 1);
    return {
      leave: () => {
        const left = (this.#entered.get(jti) ?? 1) - 1;
        if (left > 0) this.#entered.set(jti, left);
        else this.#entered.delete(jti);
      },
    };
  }

  #check(token: string) {
    try {
      return this.#tokens.check(token);
    } catch {
      return { failure: failure("Unauthorized", { detail: "the engine cannot read the list of revoked tokens." }) };
    }
  }
}

/** A page cannot set X-Oxbow-Token without asking first. Authorization is for programs, which send no Origin. */
function tokenOf({ headers }: IncomingMessage): string | undefined {
  const own = headers["x-oxbow-token"];
  if (typeof own === "string") return own.trim();
  return headers.origin === undefined ? bearerToken(headers)?.trim() : undefined;
}

function socketRefusal(origin: string | undefined): string | undefined {
  return origin === undefined ? undefined : "A page cannot use the Unix socket.";
}

function tooLarge(what: string, limit: string, status: number): Refusal {
  return { status, failure: failure("TooLarge", { what, limit }) };
}

function tooManyRequests(seconds: number): Failure {
  return failure("TooManyRequests", { seconds }, { retryable: true, retry_after_ms: seconds * 1000 });
}
