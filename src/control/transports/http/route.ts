/** One route of the HTTP surface. The same table serves requests and makes the OpenAPI document, so the two cannot disagree. */
import type { JsonObject } from "../../../protocol/json.js";
import type { Call } from "./call.js";

export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  /** With names in braces: `/v1/sessions/{id}`. */
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  readonly tag: "sessions" | "lookups" | "tokens" | "service";
  /** Parameters in the query, each with its schema. */
  readonly query?: Readonly<Record<string, JsonObject>>;
  /** Headers that it reads besides the token. */
  readonly headers?: Readonly<Record<string, JsonObject>>;
  readonly body?: JsonObject;
  readonly answers: Readonly<Record<number, RouteAnswer>>;
  /** The body of a refusal that comes from the engine, where it is not an `Error`. */
  readonly refusal?: JsonObject;
  handle(call: Call): Promise<Response> | Response;
}

export interface RouteAnswer {
  readonly about: string;
  readonly schema?: JsonObject;
  readonly type?: "text/event-stream";
}
