/** The errors of Chat Completions. */
import type { JsonObject } from "../../../protocol/json.js";
import type { ErrorAction, ErrorKind } from "../script/script.js";
import { errorKind } from "./error-kinds.js";
import type { Complaint } from "./openai-check.js";
import type { Ask, HttpAnswer, Service } from "./wire.js";

interface ErrorShape {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly param?: string | null;
  readonly message: string;
}

const INVALID = "invalid_request_error";

const ERRORS: Readonly<Record<ErrorKind, ErrorShape>> = {
  "bad-request": { status: 400, type: INVALID, code: null, message: "Invalid request." },
  auth: {
    status: 401,
    type: INVALID,
    code: "invalid_api_key",
    message: "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys.",
  },
  quota: {
    status: 429,
    type: "insufficient_quota",
    code: "insufficient_quota",
    message: "You exceeded your current quota, please check your plan and billing details.",
  },
  permission: { status: 403, type: INVALID, code: null, message: "You are not allowed to sample from this model." },
  "not-found": { status: 404, type: INVALID, code: "model_not_found", message: "The model does not exist." },
  "too-large": { status: 413, type: INVALID, code: null, message: "Request body is too large." },
  "too-long": {
    status: 400,
    type: INVALID,
    code: "context_length_exceeded",
    param: "messages",
    message:
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 134202 tokens. Please reduce the length of the messages.",
  },
  "rate-limit": {
    status: 429,
    type: "tokens",
    code: "rate_limit_exceeded",
    message: "Rate limit reached for tokens per min (TPM). Please try again later.",
  },
  server: {
    status: 500,
    type: "server_error",
    code: null,
    message: "The server had an error while processing your request. Sorry about that!",
  },
  overloaded: {
    status: 503,
    type: "server_error",
    code: null,
    message: "The engine is currently overloaded, please try again later",
  },
  timeout: { status: 504, type: "server_error", code: null, message: "Request timed out." },
};

export function shapeOf(error: ErrorAction, ask?: Ask): ErrorShape {
  const kind = errorKind(error);
  const known = ERRORS[kind];
  return {
    ...known,
    status: error.status ?? known.status,
    type: error.errorType ?? known.type,
    code: error.code ?? (error.errorType === undefined ? known.code : null),
    message: error.message ?? (kind === "not-found" && ask !== undefined ? noModel(ask.model) : known.message),
  };
}

export function noModel(name: string): string {
  return `The model \`${name}\` does not exist or you do not have access to it.`;
}

export function errorBody({ message, type, param = null, code }: ErrorShape): JsonObject {
  return { error: { message, type, param, code } };
}

export function errorAnswer(
  shape: ErrorShape,
  service: Service,
  extra: Readonly<Record<string, string>> = {},
): HttpAnswer {
  return { status: shape.status, headers: { ...headers(service), ...extra }, body: errorBody(shape) };
}

export function refuse(kind: ErrorKind, complaint: Partial<Complaint>, service: Service): HttpAnswer {
  return errorAnswer({ ...ERRORS[kind], ...complaint }, service);
}

export function headers(service: Service): Record<string, string> {
  return {
    "openai-organization": "mock-organization",
    "openai-processing-ms": "1",
    "openai-version": "2020-10-01",
    "x-request-id": service.ids.hex("req_", 32),
  };
}
