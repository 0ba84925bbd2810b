import type { ErrorAction, ErrorKind } from "../script/script.js";
import { errorKind } from "./error-kinds.js";
import type { Ask, HttpAnswer, Service } from "./wire.js";

interface ErrorShape {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

const ERRORS: Readonly<Record<ErrorKind, ErrorShape>> = {
  "bad-request": { status: 400, type: "invalid_request_error", message: "messages: Input should be a valid list" },
  auth: { status: 401, type: "authentication_error", message: "invalid x-api-key" },
  quota: {
    status: 400,
    type: "invalid_request_error",
    message:
      "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
  },
  permission: {
    status: 403,
    type: "permission_error",
    message: "Your API key does not have permission to use the specified resource.",
  },
  "not-found": { status: 404, type: "not_found_error", message: "Not Found" },
  "too-large": { status: 413, type: "request_too_large", message: "Request exceeds the maximum size" },
  "too-long": {
    status: 400,
    type: "invalid_request_error",
    message: "prompt is too long: 214358 tokens > 200000 maximum",
  },
  "rate-limit": {
    status: 429,
    type: "rate_limit_error",
    message: "This request would exceed your organization's rate limit. Please try again later.",
  },
  server: { status: 500, type: "api_error", message: "Internal server error" },
  overloaded: { status: 529, type: "overloaded_error", message: "Overloaded" },
  timeout: { status: 504, type: "timeout_error", message: "Request timed out" },
};

export function shapeOf(error: ErrorAction, ask?: Ask): ErrorShape {
  const kind = errorKind(error);
  const known = ERRORS[kind];
  const message = kind === "not-found" && ask !== undefined ? `model: ${ask.model}` : known.message;
  return {
    status: error.status ?? known.status,
    type: error.errorType ?? known.type,
    message: error.message ?? message,
  };
}

export function errorAnswer(
  shape: ErrorShape,
  service: Service,
  extra: Readonly<Record<string, string>> = {},
): HttpAnswer {
  const { status, type, message } = shape;
  const base = headers(service);
  const retry = status === 408 || status === 409 || status === 429 || status >= 500;
  return {
    status,
    headers: { ...base, "x-should-retry": String(retry), ...extra },
    body: { type: "error", error: { type, message }, request_id: base["request-id"] },
  };
}

export function refuse(kind: ErrorKind, message: string, service: Service): HttpAnswer {
  return errorAnswer({ ...ERRORS[kind], message }, service);
}

export function headers(service: Service): Record<string, string> {
  return { "request-id": service.ids.id("req_011C", 20), "anthropic-organization-id": "mock-organization" };
}
