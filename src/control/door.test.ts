import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { COMMAND_KINDS } from "../protocol/commands.js";
import { QUERY_KINDS } from "../protocol/queries.js";
import { COMMAND_SCHEMAS, QUERY_SCHEMAS, refusalOf } from "./door.js";
import { type AttachedClient, Host } from "./host.js";

const client: AttachedClient = { id: "cli_1", identity: "human", canAnswer: true, deliver: () => {} };

/** Nothing may reach what lies behind the door. */
function closedHost(): Host {
  const reached = () => {
    throw new Error("reached");
  };
  return new Host({ openRun: reached, resolveModel: reached, refuseAnswer: reached, custom: reached });
}

describe("the door", () => {
  it("knows every kind of command and query", () => {
    expect(Object.keys(COMMAND_SCHEMAS)).toEqual(COMMAND_KINDS);
    expect(Object.keys(QUERY_SCHEMAS)).toEqual(QUERY_KINDS);
  });

  it.each([
    [{ kind: "SendInput", payload: {} }, 'SendInput: "content" is missing (array).'],
    [{ kind: "SendInput", payload: { content: [{ type: "text" }] } }, '"content[0].text" is missing'],
    [{ kind: "SendInput", payload: { content: [], quue: true } }, '"quue" is not known'],
    [{ kind: "AttachSession", payload: { after: -1 } }, '"after" must be at least 0'],
    [{ kind: "AttachSession", payload: { after: 1.5 } }, '"after" must be an integer'],
    [{ kind: "CreateSession", payload: { cwd: "" } }, '"cwd" must not be empty'],
    [{ kind: "CreateSession", payload: { model: 3 } }, '"model" must be a string'],
    [{ kind: "CreateSession", payload: { resume: "turn_1" } }, '"resume" must be the id of a session'],
    [{ kind: "CancelTurn", payload: null }, "the payload must be an object"],
    [{ kind: "CancelTurn", payload: {}, session: 7 }, '"session" must be the id of a session'],
    [{ kind: "constructor", payload: {} }, '"kind" must be one of SendInput'],
    [{ kind: { a: 1 }, payload: {} }, '"kind" must be one of'],
    [{ kind: "ExitPlanMode", payload: JSON.parse('{"approve":true,"__proto__":{}}') }, '"__proto__" is not known'],
  ])("refuses %j and names the field", (arrival, words) => {
    const refusal = refusalOf(arrival, COMMAND_SCHEMAS);
    expect(refusal).toMatchObject({ reason: "InvalidInput" });
    expect(refusal?.message).toContain(words);
  });

  it("lets through what fits", () => {
    const payload = { cwd: "/project", profile: "work", model: "a:b" };
    expect(refusalOf({ kind: "CreateSession", payload }, COMMAND_SCHEMAS)).toBeUndefined();
    expect(refusalOf({ kind: "AttachSession", payload: {}, session: "sess_1" }, COMMAND_SCHEMAS)).toBeUndefined();
    expect(refusalOf({ kind: "ListSessions", payload: { limit: 3 } }, QUERY_SCHEMAS)).toBeUndefined();
  });

  verifies(["C1"], "never throws and lets nothing else reach a run, whatever JSON comes", async () => {
    const host = closedHost();
    const kinds = fc.oneof(fc.constantFrom<string>(...COMMAND_KINDS, ...QUERY_KINDS), fc.string(), fc.jsonValue());
    const fields = fc.constantFrom("content", "call", "decision", "model", "after", "namespace", "payload", "approve");
    const payloads = fc.oneof(fc.jsonValue(), fc.dictionary(fields, fc.jsonValue()));
    const sessions = fc.option(fc.oneof(fc.constant("sess_1"), fc.jsonValue()), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(kinds, payloads, sessions, async (kind, payload, session) => {
        fc.pre(refusalOf({ kind, payload, session }, { CreateSession: COMMAND_SCHEMAS.CreateSession }) !== undefined);
        const command = { kind, payload, ...(session !== undefined && { session }) } as never;
        const query = { kind, request: payload, ...(session !== undefined && { session }) } as never;
        const reasons = expect.stringMatching(/^(InvalidInput|SessionNotFound)$/);
        expect(await host.carryOut(client, command)).toMatchObject({ ok: false, failure: { reason: reasons } });
        expect(await host.query(query)).toMatchObject({ ok: false, failure: { reason: reasons } });
      }),
      { numRuns: 500 },
    );
  });

  it("refuses what no JSON can hold", () => {
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    for (const payload of [deep, { content: deep }, { content: [{ type: 10n }] }, () => {}, Symbol("a"), undefined]) {
      expect(refusalOf({ kind: "SendInput", payload }, COMMAND_SCHEMAS)).toMatchObject({ reason: "InvalidInput" });
    }
  });
});
