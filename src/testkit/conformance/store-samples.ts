/** Samples for the rules of the session stores. */
import assert from "node:assert/strict";
import type { NewSession, SessionStore } from "../../base/session-store.js";
import { createIdSource } from "../../base/ulid.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventBody } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";

const START = Date.UTC(2026, 0, 31, 12);
export const at = (ms: number) => new Date(START + ms).toISOString();

export function createIds() {
  let seed = 0;
  const random = (bytes: Uint8Array) => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = seed = (seed * 31 + 7) % 251;
  };
  return createIdSource({ wall: () => START, random });
}

export function newSession(ids: ReturnType<typeof createIds>, more: Partial<NewSession> = {}): NewSession {
  const fields = { id: ids.next("sess"), log: ids.next("log"), cwd: "/project", provider: "offline", model: "echo" };
  return { ...fields, created_at: at(0), ...more };
}

const ORIGINATOR = createIds().next("cli");

export function envelope(session: SessionId, id: number, body: EventBody): Envelope {
  return { id, session, originator: ORIGINATOR, ts: at(id), ...body } as Envelope;
}

export const says = (session: SessionId, id: number, text = `text ${id}`) =>
  envelope(session, id, { kind: "TextDelta", payload: { text } });

export const many = (session: SessionId, from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => says(session, from + i));

export async function all(
  store: SessionStore,
  session: SessionId,
  range?: { readonly after?: number; readonly limit?: number },
): Promise<Envelope[]> {
  const found: Envelope[] = [];
  for await (const event of store.events(session, range)) found.push(event);
  return found;
}

export const refusal = (code: string) => (error: unknown) => {
  assert.equal((error as { code?: unknown }).code, code);
  return true;
};

/** Payloads that some stores lose or change. */
export function difficultEvents(session: SessionId): Envelope[] {
  const large = "line of output é\n".repeat(2000);
  const texts = [
    "",
    "\0a\0",
    "\ud800 half a pair",
    "\ufeffmark",
    "é𝄞\u2028",
    "'; DROP TABLE events; --",
    "x".repeat(8193),
    large,
  ];
  const events = texts.map((value, i) => says(session, i + 1, value));
  const payload = JSON.parse('{"__proto__":{"a":"b"},"2":[1,2.5,-1e300,true,null,"",{"$ref":"x"}],"1":{}}');
  const call = createIds().next("call");
  const content = [
    { type: "text", text: large },
    { type: "text", text: "" },
    { type: "text", text: large },
  ] as const;
  const bodies: EventBody[] = [
    { kind: "CustomEvent", payload: { namespace: "n", kind: "k", payload } },
    {
      kind: "CustomEvent",
      payload: { namespace: "n", kind: "k", payload: { __proto__: null, lines: texts, deep: [[large]] } },
    },
    { kind: "CustomEvent", payload: { namespace: "n", kind: "k", payload: Array(5000).fill("short") } },
    { kind: "ToolResult", payload: { call, tool: "bash", status: "ok", content, details: { exit: 0 } } },
    { kind: "SessionEnded", payload: { reason: "user" } },
  ];
  return [...events, ...bodies.map((body, i) => envelope(session, texts.length + 1 + i, body))];
}
