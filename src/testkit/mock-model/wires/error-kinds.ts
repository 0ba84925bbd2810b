/** Shared by the wires: the kind of error that a bare status means, and how long the client should wait. */
import type { ErrorAction, ErrorKind } from "../script/script.js";

const KIND_OF_STATUS: Readonly<Record<number, ErrorKind>> = {
  401: "auth",
  402: "quota",
  403: "permission",
  404: "not-found",
  408: "timeout",
  413: "too-large",
  429: "rate-limit",
  503: "overloaded",
  504: "timeout",
  529: "overloaded",
};

export function errorKind({ kind, status = 500 }: ErrorAction): ErrorKind {
  return kind ?? KIND_OF_STATUS[status] ?? (status >= 500 ? "server" : "bad-request");
}

/** `retry-after` counts whole seconds; the services use `retry-after-ms` for less. */
export function retryHeaders({ retryAfterMs }: ErrorAction): Record<string, string> {
  if (retryAfterMs === undefined) return {};
  const seconds = { "retry-after": String(Math.ceil(retryAfterMs / 1000)) };
  return retryAfterMs % 1000 === 0 ? seconds : { ...seconds, "retry-after-ms": String(retryAfterMs) };
}
