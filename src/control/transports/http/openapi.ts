/** The OpenAPI 3.1 document of the HTTP surface, made from the table of routes. */
import { PROTOCOL_VERSION } from "../../../protocol/handshake.js";
import type { JsonObject, JsonValue } from "../../../protocol/json.js";
import type { Route } from "./route.js";
import { refer, SCHEMAS } from "./schemas.js";

const ABOUT =
  "Drives sessions of an Oxbow engine. Every request needs a token (X-Oxbow-Token). Shake hands first: GET /v1/handshake. " +
  "Errors have a stable `reason`.";
/** Status codes that every route can have, by what went wrong. */
const PROBLEMS: Readonly<Record<number, string>> = {
  400: "The request is invalid.",
  401: "The token is missing, wrong, expired or revoked.",
  403: "The token does not allow this, or the Host or Origin is foreign.",
  404: "There is no such session or token.",
  408: "The request did not arrive in time.",
  409: "The state of the session does not allow it now.",
  413: "The body is too large.",
  414: "The address is too long.",
  428: "Shake hands first.",
  429: "Too many requests.",
  431: "The headers are too large.",
  500: "The engine failed.",
  503: "The engine is shutting down.",
};

export function openApiDocument(routes: readonly Route[]): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of routes) {
    const path = paths[route.path] ?? {};
    path[route.method.toLowerCase()] = operation(route);
    paths[route.path] = path;
  }
  return {
    openapi: "3.1.0",
    info: { title: "Oxbow", version: PROTOCOL_VERSION, description: ABOUT },
    security: [{ token: [] }],
    paths,
    components: {
      schemas: SCHEMAS,
      securitySchemes: { token: { type: "apiKey", in: "header", name: "X-Oxbow-Token" } },
    },
  };
}

function operation(route: Route): JsonObject {
  const { name, summary, tag, body } = route;
  const parameters = parametersOf(route);
  return {
    operationId: name,
    summary,
    tags: [tag],
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: { content: { "application/json": { schema: body } } } }),
    responses: responsesOf(route),
  };
}

function parametersOf({ path, query = {}, headers = {} }: Route): readonly JsonObject[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    return { name, in: "path", required: true, schema: { type: "string" } } satisfies JsonObject;
  });
  const listed = (where: string, all: Readonly<Record<string, JsonObject>>) =>
    Object.entries(all).map(([name, schema]) => ({ name, in: where, schema }) satisfies JsonObject);
  return [...inPath, ...listed("query", query), ...listed("header", headers)];
}

function responsesOf({ answers, refusal }: Route): JsonObject {
  const responses: Record<string, JsonValue> = {};
  for (const [status, { about, schema, type = "application/json" }] of Object.entries(answers)) {
    responses[status] = { description: about, ...(schema !== undefined && { content: { [type]: { schema } } }) };
  }
  const schema = refusal === undefined ? refer("Error") : { anyOf: [refer("Error"), refusal] };
  for (const [status, about] of Object.entries(PROBLEMS)) {
    responses[status] = { description: about, content: { "application/json": { schema } } };
  }
  return responses;
}
