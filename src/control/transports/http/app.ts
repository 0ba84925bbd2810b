/**
 * The routes as an application: it finds out who asks, then who answers.
 *
 * 1. Every route needs a token, except asking for one on the Unix socket, and signing in with a code from a page of this server.
 * 2. Beyond this machine the token must be bound to sessions or to folders.
 * 3. A fault in a handler is a 500 without details; the log has them.
 */
import { Hono } from "hono";
import { type Failure, failure } from "../../../protocol/errors.js";
import type { TokenClaims } from "../../auth/claims.js";
import { Call, errorResponse, isOwnPage, Refused, type RouteEnvironment, type Service } from "./call.js";
import type { Gate } from "./gate.js";
import type { Route } from "./route.js";

export interface AppOptions {
  readonly routes: readonly Route[];
  readonly service: Service;
  readonly gate: Gate;
  readonly onFault: (error: unknown) => void;
}

const SIGN_IN = "POST /v1/auth/token";
const NO_TOKEN_NEEDED: ReadonlySet<string> = new Set(["GET /v1/auth/token", SIGN_IN]);

export function createApp({ routes, service, gate, onFault }: AppOptions): Hono<RouteEnvironment> {
  const app = new Hono<RouteEnvironment>();
  app.use(async (context, next) => {
    const { incoming, place } = context.env;
    const admitted = gate.admit(incoming, place);
    const asked = `${context.req.method} ${context.req.path}`;
    const isOpen = place === "socket" ? NO_TOKEN_NEEDED.has(asked) : asked === SIGN_IN && isOwnPage(incoming);
    if ("claims" in admitted) context.set("claims", admitted.claims);
    else if (!isOpen || admitted.given) return errorResponse(context, admitted.failure);
    const leave = "claims" in admitted ? gate.enter(admitted.claims) : undefined;
    if (leave !== undefined && "failure" in leave) return errorResponse(context, leave.failure);
    context.env.outgoing.once("close", () => leave?.leave());
    context.header("cache-control", "no-store");
    context.header("x-content-type-options", "nosniff");
    return next();
  });
  const methods = new Map<string, string[]>();
  for (const route of routes) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ":$1");
    app.on(route.method, path, (context) => route.handle(new Call(context, service)));
    methods.set(path, [...(methods.get(path) ?? []), ...(route.method === "GET" ? ["GET", "HEAD"] : [route.method])]);
  }
  for (const [path, allowed] of methods) {
    const allow = [...allowed, "OPTIONS"].join(", ");
    app.options(path, (context) => context.body(null, 204, { allow }));
    app.all(path, (context) => {
      const detail = `${context.req.path} takes ${allowed.join(", ")}, not ${context.req.method}.`;
      return context.json({ error: failure("InvalidInput", { detail }) }, 405, { allow });
    });
  }
  app.notFound((context) => {
    const detail = `There is no ${context.req.path}. GET /v1/openapi.json lists what there is.`;
    return errorResponse(context, failure("NotFound", { detail }));
  });
  app.onError((error, context) => {
    if (error instanceof Refused) return errorResponse(context, error.failure);
    onFault(error);
    return errorResponse(context, failure("Internal", { detail: "the engine could not handle the request" }));
  });
  return app;
}

export type Admitted =
  | { readonly claims: TokenClaims }
  | { readonly failure: Failure /** The request had a token. */; readonly given: boolean };
