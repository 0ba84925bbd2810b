/** Failures as HTTP: the status for each reason, and the one form of an error body. */
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { BuiltInReason, Failure } from "../../../protocol/errors.js";

export interface Refusal {
  readonly status: number;
  readonly failure: Failure;
}

const STATUS: Readonly<Partial<Record<BuiltInReason, number>>> = {
  InvalidInput: 400,
  ConfigurationInvalid: 400,
  HandshakeVersionMismatch: 400,
  Unauthorized: 401,
  TokenExpired: 401,
  TokenRevoked: 401,
  Forbidden: 403,
  PermissionDenied: 403,
  SessionNotFound: 404,
  NotFound: 404,
  ModelNotFound: 404,
  TurnInProgress: 409,
  SessionLeased: 409,
  SessionTakenOver: 409,
  OrphanedCalls: 409,
  AlreadyAnswered: 409,
  TooLarge: 413,
  HandshakeRequired: 428,
  TooManyRequests: 429,
  RateLimited: 429,
  ShuttingDown: 503,
};

export function statusOf({ reason }: Failure): number {
  return STATUS[reason as BuiltInReason] ?? 500;
}

export function errorBody(failure: Failure): { readonly error: Failure } {
  return { error: failure };
}

/** Headers that belong to an error, besides those of every response. */
export function errorHeaders(failure: Failure): Readonly<Record<string, string>> {
  const { retry_after_ms: wait } = failure;
  return {
    ...(statusOf(failure) === 401 && { "www-authenticate": 'Bearer realm="oxbow"' }),
    ...(wait !== undefined && { "retry-after": String(Math.ceil(wait / 1000)) }),
  };
}

/** Before a request reaches the routes. */
export function refuseResponse(response: ServerResponse, { status, failure: cause }: Refusal): void {
  const text = JSON.stringify(errorBody(cause));
  response.writeHead(status, {
    ...errorHeaders(cause),
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    connection: "close",
  });
  response.end(text);
}

const REASON_PHRASES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
};

/** For connections that are not, or not yet, HTTP. */
export function refuseSocket(socket: Duplex, { status, failure: cause }: Refusal): void {
  if (socket.destroyed || !socket.writable) return void socket.destroy();
  const text = JSON.stringify(errorBody(cause));
  const head = [
    `HTTP/1.1 ${status} ${REASON_PHRASES[status] ?? "Refused"}`,
    ...Object.entries(errorHeaders(cause)).map(([name, value]) => `${name}: ${value}`),
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(text)}`,
    "connection: close",
  ];
  socket.on("error", () => {});
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`, () => socket.destroy());
}
