import type { ErrorAction, ErrorKind } from "../script/script.js";
import { errorKind } from "./error-kinds.js";
import type { Ask } from "./wire.js";

const ERRORS: Readonly<Record<ErrorKind, { readonly status: number; readonly message: string }>> = {
  "bad-request": { status: 400, message: "invalid request" },
  auth: { status: 401, message: "unauthorized" },
  quota: { status: 402, message: "you have reached your usage limit" },
  permission: { status: 403, message: "forbidden" },
  "not-found": { status: 404, message: "model not found" },
  "too-large": { status: 413, message: "http: request body too large" },
  "too-long": { status: 400, message: "the input length exceeds the context length" },
  "rate-limit": { status: 429, message: "too many requests" },
  server: { status: 500, message: "an error was encountered while running the model" },
  overloaded: { status: 503, message: "server busy, please try again.  maximum pending requests exceeded" },
  timeout: { status: 504, message: "timed out waiting for the model to load" },
};

export function statusOf(error: ErrorAction): number {
  return error.status ?? ERRORS[errorKind(error)].status;
}

export function messageOf(error: ErrorAction, ask?: Ask): string {
  const kind = errorKind(error);
  const known = kind === "not-found" && ask !== undefined ? noModel(ask.model) : ERRORS[kind].message;
  return error.message ?? known;
}

export function noModel(name: string): string {
  return `model '${name}' not found`;
}
