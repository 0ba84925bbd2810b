/** A session of an editor, with an engine and an editor that answer when the test says so. */
import type { RequestPermissionRequest, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import { describe, expect } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import type { EngineClient } from "../../../protocol/client.js";
import { text } from "../../../protocol/content.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { EventBody, EventPayloads } from "../../../protocol/events.js";
import type { CallId, ClientId, SessionId } from "../../../protocol/ids.js";
import { AcpSession } from "./acp-session.js";
import { optionsOf } from "./permission-requests.js";

const ME = "cli_me" as ClientId;
const OTHER = "cli_other" as ClientId;
const SESSION = "sess_1" as SessionId;
const CALL = "call_1" as CallId;
const turn = "turn_1" as EventPayloads["TurnEnded"]["turn"];
const ticks = () => new Promise(setImmediate);

function opened() {
  const sent: (readonly [string, unknown])[] = [];
  const changed: string[] = [];
  const asked: {
    request: RequestPermissionRequest;
    signal: AbortSignal;
    answer(outcome: RequestPermissionResponse["outcome"]): void;
    fail(): void;
  }[] = [];
  const client = {
    id: ME,
    send: async (kind: string, payload: unknown) => {
      sent.push([kind, payload]);
      return { ok: true };
    },
  } as unknown as EngineClient;
  const session = new AcpSession({
    ...{
      client,
      session: SESSION,
      cwd: "/w",
      update: async () => {},
      delimit: ({ text: words }: { text: string }) => words,
    },
    ask: (request, { signal }) =>
      new Promise((resolve, reject) => {
        asked.push({
          request,
          signal,
          answer: (outcome) => resolve({ outcome }),
          fail: () => reject(new Error("gone")),
        });
      }),
    changed: (what) => changed.push(what),
  } as ConstructorParameters<typeof AcpSession>[0]);
  let id = 0;
  const event = (body: EventBody, originator = ME) =>
    session.onEvent({ id: ++id, session: SESSION, originator, ts: "", ...body } as Envelope);
  const question = (more: object = {}) =>
    event({
      kind: "PermissionRequested",
      payload: { call: CALL, tool: "bash", args: {}, summary: "bash: ls", ...more },
    });
  const ended = (outcome: "answered" | "cancelled", originator = ME) =>
    event({ kind: "TurnEnded", payload: { turn, outcome, text: "", iterations: 1 } as never }, originator);
  const started = (originator = ME) =>
    event({ kind: "TurnStarted", payload: { turn, input: [text("x")] } }, originator);
  return { session, sent, changed, asked, event, question, started, ended };
}

describe("a question in an editor", () => {
  const decided = async (outcome: RequestPermissionResponse["outcome"] | "fails", more: object = {}) => {
    const { question, asked, sent } = opened();
    question(more);
    await ticks();
    if (outcome === "fails") asked[0]?.fail();
    else asked[0]?.answer(outcome);
    await ticks();
    return sent;
  };
  const answer = (decision: string) => [["AnswerPermission", { call: CALL, decision }]];

  verifies(["C4", "P4"], "is answered by an option that was offered; anything else denies", async () => {
    expect(await decided({ outcome: "selected", optionId: "allow_once" })).toEqual(answer("allow_once"));
    expect(await decided({ outcome: "selected", optionId: "allow_tool" })).toEqual(answer("allow_tool"));
    expect(await decided({ outcome: "selected", optionId: "allow_tool" }, { once_only: true })).toEqual(answer("deny"));
    expect(await decided({ outcome: "selected", optionId: "allow_pattern" })).toEqual(answer("deny"));
    expect(await decided({ outcome: "selected", optionId: "allow_pattern" }, { offer: ["ls *"] })).toEqual(
      answer("allow_pattern"),
    );
    expect(await decided({ outcome: "selected", optionId: "root" })).toEqual(answer("deny"));
    expect(await decided({ outcome: "cancelled" })).toEqual(answer("deny"));
    expect(await decided("fails")).toEqual(answer("deny"));
  });

  verifies(["C4"], "is withdrawn when another client has answered it, and its late answer is not sent", async () => {
    const { question, asked, sent, event } = opened();
    question();
    await ticks();
    expect(asked[0]?.signal.aborted).toBe(false);
    event({ kind: "PermissionResolved", payload: { call: CALL, tool: "bash", decision: "deny", decided_by: OTHER } });
    expect(asked[0]?.signal.aborted).toBe(true);
    asked[0]?.answer({ outcome: "selected", optionId: "allow_once" });
    await ticks();
    expect(sent).toEqual([]);
  });

  verifies(["C4", "P4"], "offers only what the engine would keep", () => {
    const ids = (more: object) =>
      optionsOf({ call: CALL, tool: "bash", args: {}, summary: "", ...more }).map(({ optionId }) => optionId);
    expect(ids({})).toEqual(["allow_once", "allow_tool", "deny"]);
    expect(ids({ offer: ["a *"] })).toEqual(["allow_once", "allow_pattern", "allow_tool", "deny"]);
    expect(ids({ offer: ["a *"], once_only: true })).toEqual(["allow_once", "deny"]);
  });
});

describe("a prompt of an editor", () => {
  const begin = async (words = "go") => {
    const place = opened();
    const abort = new AbortController();
    const response = place.session.prompt([{ type: "text", text: words }], abort.signal);
    await ticks();
    return { ...place, abort, response };
  };

  verifies(["C4"], "is answered with the end of its own turn, not of another client's", async () => {
    const { sent, response, started, ended, changed } = await begin();
    expect(sent.map(([kind]) => kind)).toEqual(["SendInput"]);
    let isAnswered = false;
    void response.then(() => {
      isAnswered = true;
    });
    started(OTHER);
    ended("answered", OTHER);
    await ticks();
    expect(isAnswered).toBe(false);
    started();
    ended("answered");
    expect(await response).toEqual({ stopReason: "end_turn" });
    expect(changed).toEqual(["title", "title"]);
  });

  verifies(["C4", "L9"], "is cancelled with its request, with its input, and with the session", async () => {
    const one = await begin();
    one.started();
    one.abort.abort();
    expect(one.sent.at(-1)?.[0]).toBe("CancelTurn");
    one.ended("cancelled");
    expect(await one.response).toEqual({ stopReason: "cancelled" });
    const two = await begin("later");
    two.event({ kind: "InputDropped", payload: { inputs: [[text("other")]], by: OTHER } });
    two.event({ kind: "InputDropped", payload: { inputs: [[text("later")]], by: OTHER } });
    expect(await two.response).toEqual({ stopReason: "cancelled" });
    const three = await begin();
    three.event({ kind: "SessionEnded", payload: { reason: "idle" } as never });
    expect(await three.response).toEqual({ stopReason: "cancelled" });
  });
});
