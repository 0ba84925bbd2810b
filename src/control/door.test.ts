import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../test/support/thorough.js";
import { verifies } from "../../test/verifies.js";
import { COMMAND_KINDS } from "../protocol/commands.js";
import { failure } from "../protocol/errors.js";
import { QUERY_KINDS } from "../protocol/query-kinds.js";
import { COMMAND_SCHEMAS, knownPart, QUERY_SCHEMAS, refusalOf } from "./door.js";
import { type AttachedClient, Host } from "./host.js";
import type { Run } from "./run.js";

const client: AttachedClient = { id: "cli_1", identity: "human", canAnswer: true, deliver: () => {} };

const image = (data: string, media_type = "image/png") => ({ type: "image", media_type, data });

/** A host with one session, and what reaches that session or the ports behind the door. */
async function watchedHost() {
  const reached: string[] = [];
  const port = (name: string) => async () => {
    reached.push(name);
    return { failure: failure("InvalidInput", { detail: "a port was reached" }) };
  };
  const known: Record<string, unknown> = {
    session: "sess_1",
    opening: [],
    bus: { subscribe: () => () => {}, nextId: 1, now: () => "" },
  };
  const run = new Proxy(known, {
    get: (target, name) => {
      // A promise looks for it.
      if (name === "then") return undefined;
      if (Object.hasOwn(target, name)) return target[String(name)];
      reached.push(String(name));
      throw new Error("the run was reached");
    },
    has: (_target, name) => name !== "failure",
    set: (_target, name) => {
      reached.push(String(name));
      return true;
    },
  }) as unknown as Run;
  let isOpen = false;
  const host = new Host({
    openRun: async () => {
      if (isOpen) reached.push("openRun");
      isOpen = true;
      return run;
    },
    setModel: port("setModel"),
    refuseAnswer: () => void reached.push("refuseAnswer"),
    approveContent: port("approveContent") as never,
    custom: port("custom") as never,
    queries: new Proxy({}, { get: (_target, name) => port(String(name)) }) as never,
  });
  await host.carryOut(client, { kind: "CreateSession", payload: {} });
  reached.length = 0;
  return { host, reached };
}

describe("the door", () => {
  it("knows every kind of command and query", () => {
    expect(Object.keys(COMMAND_SCHEMAS)).toEqual(COMMAND_KINDS);
    expect(Object.keys(QUERY_SCHEMAS)).toEqual(QUERY_KINDS);
  });

  it.each([
    [{ kind: "SendInput", payload: {} }, 'SendInput: "content" is missing (array).'],
    [{ kind: "SendInput", payload: { content: [{ type: "text" }] } }, '"content[0].text" is missing'],
    [{ kind: "SendInput", payload: { content: [image("not base64")] } }, '"content[0].data" must match'],
    [{ kind: "SendInput", payload: { content: [{ ...image("AAAA"), type: "audio" }] } }, '"content[0].type" must be'],
    [{ kind: "SendInput", payload: { content: [image("")] } }, '"content[0].data" must match'],
    [{ kind: "SendInput", payload: { content: [image("AAAA", "text/html")] } }, '"content[0].media_type" must match'],
    [{ kind: "AttachSession", payload: { after: -1 } }, '"after" must be at least 0'],
    [{ kind: "AttachSession", payload: { after: 1.5 } }, '"after" must be an integer'],
    [{ kind: "CreateSession", payload: { cwd: "" } }, '"cwd" must not be empty'],
    [{ kind: "CreateSession", payload: { model: 3 } }, '"model" must be a string'],
    [{ kind: "CreateSession", payload: { resume: "turn_1" } }, '"resume" must be the id of a session'],
    [{ kind: "CancelTurn", payload: null }, "the payload must be an object"],
    [{ kind: "CancelTurn", payload: {}, session: 7 }, '"session" must be the id of a session'],
    [{ kind: "constructor", payload: {} }, '"kind" must be one of SendInput'],
    [{ kind: { a: 1 }, payload: {} }, '"kind" must be one of'],
    [{ kind: "ExitPlanMode", payload: JSON.parse('{"approve":1,"x_more":{}}') }, '"approve" must be a boolean'],
  ])("refuses %j and names the field", (arrival, words) => {
    const refusal = refusalOf(arrival, COMMAND_SCHEMAS);
    expect(refusal).toMatchObject({ reason: "InvalidInput" });
    expect(refusal?.message).toContain(words);
  });

  const long = (length: number) => "a".repeat(length);
  it.each<[string, string, (size: number) => unknown, number, number | undefined]>([
    // What it is, the field, a value of a size, the least and the most.
    ["FindFiles", "limit", (limit) => ({ query: "a", limit }), 1, 1000],
    ["FindFiles", "query", (size) => ({ query: long(size) }), 0, 4096],
    ["ListEvents", "before", (before) => ({ before }), 1, Number.MAX_SAFE_INTEGER],
    ["ListEvents", "limit", (limit) => ({ before: 1, limit }), 1, 10_000],
    ["ListSessions", "limit", (limit) => ({ limit }), 1, undefined],
    ["ListSessions", "cwd", (size) => ({ cwd: long(size) }), 1, 4096],
    ["GetSkill", "name", (size) => ({ name: long(size) }), 1, 256],
    ["GetChanges", "since", (since) => ({ since }), 0, Number.MAX_SAFE_INTEGER],
    ["GetChanges", "until", (until) => ({ until }), 0, Number.MAX_SAFE_INTEGER],
    ["CompareSessions", "others", (size) => ({ others: Array(size).fill("a") }), 1, 3],
    ["SendInput", "content", (size) => ({ content: Array(size).fill({ type: "text", text: "" }) }), 0, 1000],
    ["SendInput", "input", (size) => ({ content: [{ type: "text", text: long(size) }] }), 0, 256 * 1024],
    ["AnswerPermission", "call", (size) => ({ call: long(size), decision: "deny" }), 1, 256],
    ["AnswerPermission", "message", (size) => ({ call: "a", decision: "deny", message: long(size) }), 0, 64 * 1024],
    ["CreateSession", "carry", (size) => ({ carry: long(size) }), 0, 256 * 1024],
    ["CreateSession", "profile", (size) => ({ profile: long(size) }), 1, 4096],
    ["CreateSession", "model", (size) => ({ model: long(size) }), 1, 256],
    ["CreateSession", "resume", (size) => ({ resume: `sess_${long(size - 5)}` }), 6, 256],
    ["CreateSession", "umask", (umask) => ({ start: { environment: {}, umask } }), 0, 0o777],
    ["CreateSession", "flags", (size) => ({ start: { environment: {}, flags: Array(size).fill("a") } }), 0, 1000],
    ["CreateSession", "withheld", (size) => ({ start: { environment: {}, withheld: Array(size).fill("a") } }), 0, 1000],
    ["CreateSession", "mcp_servers", (size) => ({ mcp_servers: Array(size).fill({ name: "a" }) }), 0, 1000],
    ["CreateSession", "args", (size) => ({ mcp_servers: [{ name: "a", args: Array(size).fill("") }] }), 0, 1000],
    ["SetModel", "model", (size) => ({ model: long(size) }), 1, 256],
    ["CustomCommand", "verb", (verb) => ({ namespace: "a", verb: long(verb), payload: {} }), 0, 256],
  ])("%s: takes %s of its sizes and of no other", (kind, _, payload, least, most) => {
    const fits = (size: number) =>
      refusalOf({ kind, payload: payload(size) }, { ...COMMAND_SCHEMAS, ...QUERY_SCHEMAS });
    expect(fits(least)).toBeUndefined();
    if (least > 0) expect(fits(least - 1)).toMatchObject({ reason: "InvalidInput" });
    if (most === undefined) return;
    expect(fits(most)).toBeUndefined();
    expect(fits(most + 1)).toMatchObject({ reason: "InvalidInput" });
  });

  it("takes the approval of at most 10,000 files", () => {
    const decisions = (size: number) => Array(size).fill({ id: "a", sha256: "b", decision: "approved" });
    const approve = (size: number) =>
      refusalOf({ kind: "ApproveContent", payload: { decisions: decisions(size) } }, COMMAND_SCHEMAS);
    expect(approve(10_000)).toBeUndefined();
    expect(approve(10_001)).toMatchObject({ reason: "InvalidInput" });
  });

  it("lets through what fits", () => {
    const payload = { cwd: "/project", profile: "work", model: "a:b" };
    expect(refusalOf({ kind: "CreateSession", payload }, COMMAND_SCHEMAS)).toBeUndefined();
    const shown = { content: [image("iVBORw0KGgo="), { ...image("AAAA", "audio/wav"), type: "audio" }] };
    expect(refusalOf({ kind: "SendInput", payload: shown }, COMMAND_SCHEMAS)).toBeUndefined();
    expect(refusalOf({ kind: "AttachSession", payload: {}, session: "sess_1" }, COMMAND_SCHEMAS)).toBeUndefined();
    expect(refusalOf({ kind: "ListSessions", payload: { limit: 3 } }, QUERY_SCHEMAS)).toBeUndefined();
  });

  verifies(["C2"], "lets fields through that it does not know, and hands none of them on", () => {
    const block = { type: "text", text: "hi", own: true, x_color: "red" };
    const payload = JSON.parse(JSON.stringify({ content: [block], quue: true, x_a: 1, _b: 2 }));
    const hostile = JSON.parse('{"approve":true,"__proto__":{"approve":false},"constructor":{}}');
    expect(refusalOf({ kind: "SendInput", payload, session: "sess_1" }, COMMAND_SCHEMAS)).toBeUndefined();
    expect(knownPart(COMMAND_SCHEMAS.SendInput, payload)).toEqual({ content: [{ type: "text", text: "hi" }] });
    expect(Object.entries(knownPart(COMMAND_SCHEMAS.ExitPlanMode, hostile) ?? {})).toEqual([["approve", true]]);
    const free = { namespace: "x", verb: "y", payload: { any: { thing: 1 } } };
    expect(knownPart(COMMAND_SCHEMAS.CustomCommand, free)).toEqual(free);
    expect(refusalOf({ kind: "ListSessions", payload: { limit: 1, x_b: 1 } }, QUERY_SCHEMAS)).toBeUndefined();
  });

  verifies(["C1"], "never throws and lets nothing else reach a run or a port, whatever JSON comes", async () => {
    const { host, reached } = await watchedHost();
    const kinds = fc.oneof(fc.constantFrom<string>(...COMMAND_KINDS, ...QUERY_KINDS), fc.string(), fc.jsonValue());
    const fields = fc.constantFrom("content", "call", "decision", "model", "after", "namespace", "payload", "approve");
    const payloads = fc.oneof(fc.jsonValue(), fc.dictionary(fields, fc.jsonValue()));
    const sessions = fc.option(fc.oneof(fc.constant("sess_1"), fc.jsonValue()), { nil: undefined });
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(kinds, payloads, sessions, async (kind, payload, session) => {
        const place = session !== undefined && { session };
        const isInvalid = { ok: false, failure: { reason: "InvalidInput" } };
        if (refusalOf({ kind, payload, ...place }, COMMAND_SCHEMAS) !== undefined) {
          if (session === "sess_1") refused++;
          expect(await host.carryOut(client, { kind, payload, ...place } as never)).toMatchObject(isInvalid);
        }
        if (refusalOf({ kind, payload, ...place }, QUERY_SCHEMAS) !== undefined) {
          expect(await host.query({ kind, request: payload, ...place } as never)).toMatchObject(isInvalid);
        }
        expect(reached).toEqual([]);
      }),
      { numRuns: times(100, 500) },
    );
    // The session exists, so only the door stands before it.
    expect(refused).toBeGreaterThan(20);
  });

  it("leads to the run when the command fits", async () => {
    const { host, reached } = await watchedHost();
    const sent = {
      kind: "SendInput",
      payload: { content: [{ type: "text", text: "hi" }] },
      session: "sess_1",
    } as const;
    await expect(host.carryOut(client, sent)).rejects.toThrow("the run was reached");
    expect(reached).toEqual(["arrivals"]);
  });

  it("refuses what no JSON can hold", () => {
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    for (const payload of [deep, { content: deep }, { content: [{ type: 10n }] }, () => {}, Symbol("a"), undefined]) {
      expect(refusalOf({ kind: "SendInput", payload }, COMMAND_SCHEMAS)).toMatchObject({ reason: "InvalidInput" });
    }
  });
});
