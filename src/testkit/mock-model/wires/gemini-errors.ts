/** Gemini's errors: Google's codes, with the status in words. */
import type { JsonObject } from "../../../protocol/json.js";
import type { ErrorAction, ErrorKind } from "../script/script.js";
import { errorKind } from "./error-kinds.js";
import type { Ask, HttpAnswer } from "./wire.js";

interface ErrorShape {
  readonly status: number;
  /** Google's status. */
  readonly word: string;
  readonly message: string;
  readonly details?: readonly JsonObject[];
}

const INVALID_KEY = {
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason: "API_KEY_INVALID",
  domain: "googleapis.com",
};

const ERRORS: Readonly<Record<ErrorKind, ErrorShape>> = {
  "bad-request": { status: 400, word: "INVALID_ARGUMENT", message: "Request contains an invalid argument." },
  auth: {
    status: 400,
    word: "INVALID_ARGUMENT",
    message: "API key not valid. Please pass a valid API key.",
    details: [INVALID_KEY],
  },
  quota: {
    status: 429,
    word: "RESOURCE_EXHAUSTED",
    message: "You exceeded your current quota, please check your plan and billing details.",
  },
  permission: {
    status: 403,
    word: "PERMISSION_DENIED",
    message:
      "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
  },
  "not-found": { status: 404, word: "NOT_FOUND", message: "Requested entity was not found." },
  "too-large": { status: 413, word: "INVALID_ARGUMENT", message: "Request payload size exceeds the limit." },
  "too-long": {
    status: 400,
    word: "INVALID_ARGUMENT",
    message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
  },
  "rate-limit": {
    status: 429,
    word: "RESOURCE_EXHAUSTED",
    message: "Resource has been exhausted (e.g. check quota).",
  },
  server: { status: 500, word: "INTERNAL", message: "An internal error has occurred. Please retry." },
  overloaded: { status: 503, word: "UNAVAILABLE", message: "The model is overloaded. Please try again later." },
  timeout: {
    status: 504,
    word: "DEADLINE_EXCEEDED",
    message: "Deadline expired before operation could complete.",
  },
};

export function shapeOf(error: ErrorAction, ask?: Ask): ErrorShape {
  const kind = errorKind(error);
  const known = ERRORS[kind];
  const details = error.retryAfterMs === undefined ? known.details : [retryInfo(error.retryAfterMs)];
  return {
    status: error.status ?? known.status,
    word: error.errorType ?? error.code ?? known.word,
    message: error.message ?? (kind === "not-found" && ask !== undefined ? noModel(ask.model) : known.message),
    ...(details !== undefined && { details }),
  };
}

function retryInfo(ms: number): JsonObject {
  return { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${ms / 1000}s` };
}

export function noModel(name: string): string {
  return `models/${name} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.`;
}

export function errorBody({ status, word, message, details }: ErrorShape): JsonObject {
  return { error: { code: status, message, status: word, ...(details !== undefined && { details }) } };
}

export function errorAnswer(shape: ErrorShape, extra: Readonly<Record<string, string>> = {}): HttpAnswer {
  return { status: shape.status, headers: extra, body: errorBody(shape) };
}

export function refuse(kind: ErrorKind, fields: Partial<ErrorShape>): HttpAnswer {
  return errorAnswer({ ...ERRORS[kind], ...fields });
}
