/** Steps that most scenarios begin with or repeat. */
import type { Identity } from "../../../../protocol/client.js";
import type { JsonObject, JsonValue } from "../../../../protocol/json.js";
import type { Save, Step } from "../scenario.js";

export const SESSION = "$session";

export function connect(as: string, identity: Identity = "human"): Step {
  return { do: "connect", as, identity };
}

/** A client with a new session, which it follows. */
export function opened(as: string, identity: Identity = "human"): readonly Step[] {
  return [
    connect(as, identity),
    { do: "command", by: as, body: { kind: "CreateSession", payload: {} }, save: { session: "session" } },
    follow(as),
  ];
}

/** A client that follows the session from now on. */
export function joined(as: string, identity: Identity = "human"): readonly Step[] {
  return [connect(as, identity), follow(as)];
}

export function follow(by: string, after?: number | string): Step {
  return { do: "follow", by, session: SESSION, ...(after !== undefined && { after }) };
}

export function input(by: string, text: string, more: JsonObject = {}): Step & { readonly do: "command" } {
  return command(by, "SendInput", { content: [{ type: "text", text: `conformance: ${text}` }], ...more });
}

export function command(by: string, kind: string, payload: JsonObject = {}): Step & { readonly do: "command" } {
  return { do: "command", by, body: { kind, session: SESSION, payload } };
}

export function query(by: string, kind: string, request: JsonObject = {}): Step & { readonly do: "query" } {
  return { do: "query", by, body: { kind, session: SESSION, request } };
}

/** The same step, with the reply that it must have. */
export function expecting<S extends Step>(step: S, expect: JsonValue): S {
  return { ...step, expect };
}

export function refused<S extends Step>(step: S, reason: string, more: JsonObject = {}): S {
  const failure = { reason, message: { $type: "string" }, ...more };
  return expecting(step, { ok: false, failure });
}

export function wait(by: string, kind: string, payload: JsonObject = {}, save?: Save): Step {
  return { do: "wait", by, event: { kind, payload }, ...(save && { save }) };
}

/** A turn that waits for an answer; `$call` is the call it asks about. */
export function asked(by: string, watcher: string = by): readonly Step[] {
  return [input(by, "ask"), wait(watcher, "PermissionRequested", {}, { call: "payload.call" })];
}

export function answer(by: string, decision: string): Step & { readonly do: "command" } {
  return command(by, "AnswerPermission", { call: "$call", decision });
}
