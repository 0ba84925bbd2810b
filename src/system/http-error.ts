import type { Failure } from "../protocol/errors.js";

/** Describes what can go wrong between a request and the end of its answer. */
export type HttpErrorKind =
  /** The connection failed. */
  | "connect"
  /** The connection broke before or during the answer. */
  | "dropped"
  | "timeout"
  /** The caller's signal fired. */
  | "aborted";

export class HttpError extends Error {
  readonly kind: HttpErrorKind;
  /** The error code of the operating system or of TLS, if there is one. */
  readonly code: string | undefined;

  constructor(kind: HttpErrorKind, message: string, code?: string) {
    super(message);
    this.name = "HttpError";
    this.kind = kind;
    this.code = code;
  }
}

/** An error with its own failure: something on this machine prevented the request, not the network. */
export class HttpFailure extends HttpError {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super("connect", failure.message);
    this.failure = failure;
  }
}

const DETAILS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was closed",
  EPIPE: "the connection was closed",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the name server does not answer",
  ETIMEDOUT: "the connection timed out",
  EHOSTUNREACH: "there is no route to it",
  ENETUNREACH: "the network cannot be reached",
  EPROTO: "it does not speak TLS (http instead of https?)",
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not speak TLS (http instead of https?)",
  HPE_INVALID_CONSTANT: "it does not speak HTTP",
};

/** One phrase for the user. Node's own messages are empty (several addresses tried) or name internals. */
export function networkDetail(error: NodeJS.ErrnoException): string {
  const { code } = error;
  if (code === undefined) return error.message || "the connection failed";
  const known = DETAILS[code];
  if (known !== undefined) return known;
  if (/CERT|SIGNATURE|ALTNAME/.test(code)) return `its TLS certificate was not accepted (${code})`;
  return code;
}
