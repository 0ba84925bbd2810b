/** Shows what clients with less than the user's rights learn from queries that need no session. */
import { describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import type { Envelope } from "../protocol/envelope.js";
import type { SessionId } from "../protocol/ids.js";
import type { QueryKind } from "../protocol/queries.js";
import { answerAbout, type QueryPlace, type QueryPorts } from "./answers.js";
import type { HostedSession } from "./hosted-sessions.js";
import type { Run } from "./run.js";
import { storedRange } from "./transports/stored-range.js";

const OWN = "sess_own" as SessionId;
const OTHER = "sess_other" as SessionId;

const hosted = (session: SessionId, subagent = false) =>
  ({
    run: {
      session,
      savedTo: 0,
      bus: { nextId: 1 },
      model: { provider: "p", model: "m" },
      permissionPrompts: { questions: [] },
    },
    openedAt: "2026-01-01T00:00:00.000Z",
    ...(subagent && { subagent: { parent: OWN, title: "subagent" } }),
  }) as unknown as HostedSession;

const record = (id: SessionId, cwd: string) => ({
  ...{ id, cwd, provider: "p", model: "m", created_at: "", active_at: "", last_event: 4, pinned: false },
});

const PORTS: QueryPorts = {
  sessions: async ({ id }) =>
    [record(OWN, "/w"), record(OTHER, "/w")].filter((each) => id === undefined || each.id === id),
  mcpServers: async (run) => [{ name: run === undefined ? "of all sessions" : "of this session" } as never],
  health: async () => ({ version: "1", protocol_version: "1", pid: 7, started_at: "now", caches: "private" }) as never,
  cwd: () => "/w",
  async *events(_session, after) {
    for (let id = after + 1; id <= 10; id++) yield { id } as Envelope;
  },
};

function place(isLimited: boolean, more: Partial<QueryPlace> = {}): QueryPlace {
  const client = (id: string, ...sessions: readonly SessionId[]) => ({ id, sessions }) as never;
  return {
    ports: PORTS,
    run: undefined,
    session: undefined,
    live: [hosted(OWN), hosted(OTHER), hosted("sess_agent" as SessionId, true)],
    clients: () => [client("one", OWN), client("two", OTHER), client("three")],
    isLimited,
    sees: (session) => !isLimited || session === OWN,
    ...more,
  };
}

async function ask(kind: QueryKind, at: QueryPlace, request: object = {}) {
  const reply = await answerAbout(kind, request as never, at);
  return (reply.ok ? reply.answer : reply.failure.reason) as never;
}

describe("a client that sees certain sessions", () => {
  verifies(["C3"], "learns of the MCP servers of a session that it names, and of no others", async () => {
    expect(await ask("ListMcpServers", place(true))).toEqual({ servers: [] });
    expect(await ask("ListMcpServers", place(true, { run: hosted(OWN).run }))).toMatchObject({
      servers: [{ name: "of this session" }],
    });
    expect(await ask("ListMcpServers", place(false))).toMatchObject({ servers: [{ name: "of all sessions" }] });
  });

  verifies(["C3"], "counts only what it sees, and learns nothing about the parts of the engine", async () => {
    expect(await ask("GetHealth", place(true))).toEqual({
      ...{ version: "1", protocol_version: "1", pid: 7, started_at: "now", sessions: 1, clients: 1 },
    });
    expect(await ask("GetHealth", place(false))).toMatchObject({ caches: "private", sessions: 2, clients: 3 });
  });

  verifies(["C3"], "lists the clients of its sessions, without their other sessions", async () => {
    expect(await ask("ListClients", place(true))).toEqual({ clients: [{ id: "one", sessions: [OWN] }] });
    expect(await ask("ListClients", place(true, { session: OTHER }))).toEqual({ clients: [] });
    expect(await ask("ListClients", place(false, { session: OTHER }))).toEqual({
      clients: [{ id: "two", sessions: [OTHER] }],
    });
    expect(await ask("ListClients", place(false))).toMatchObject({
      clients: [{ id: "one" }, { id: "two" }, { id: "three" }],
    });
  });

  verifies(["C3"], "lists its sessions alone", async () => {
    const ids = async (at: QueryPlace, request: object = {}) =>
      ((await ask("ListSessions", at, request)) as { sessions: readonly { id: string }[] }).sessions.map(
        ({ id }) => id,
      );
    expect(await ids(place(true))).toEqual([OWN]);
    expect(await ids(place(false))).toEqual([OWN, OTHER]);
    expect(await ids(place(false, { session: OTHER }))).toEqual([OTHER]);
    expect(await ids(place(false), { limit: 1 })).toEqual([OWN]);
    expect(await ids(place(false), { subagents: true })).toEqual(["sess_agent", OWN, OTHER]);
    expect(await ids(place(true), { subagents: true })).toEqual([OWN]);
    const unsaved = { live: [hosted("sess_new" as SessionId)] };
    expect(await ids(place(false, unsaved))).toEqual([OWN, OTHER]);
    expect(await ids(place(false, unsaved), { empty: true })).toEqual(["sess_new", OWN, OTHER]);
    expect(await ids(place(false, unsaved), { empty: true, cwd: "/elsewhere" })).toEqual([OWN, OTHER]);
  });
});

describe("the past of a session", () => {
  verifies(["C3", "S12"], "is compared only with sessions that the client sees", async () => {
    const compare: QueryPorts["compare"] = async (sessions) => ({ sessions }) as never;
    const at = (isLimited: boolean) => place(isLimited, { session: OWN, ports: { ...PORTS, compare } });
    expect(await ask("CompareSessions", at(false), { others: [OTHER] })).toEqual({ sessions: [OWN, OTHER] });
    expect(await ask("CompareSessions", at(true), { others: [OTHER] })).toBe("InvalidInput");
    expect(await ask("CompareSessions", at(true), { others: ["sess_none"] })).toBe("InvalidInput");
    expect(await ask("CompareSessions", place(false), { others: [OTHER] })).toBe("SessionNotFound");
  });

  verifies(["C3"], "costs a limited client only what it sees, and shows it no traffic of shared servers", async () => {
    const costs: QueryPorts["costs"] = async ({ session }, sees) =>
      ({ session, seen: [OWN, OTHER].filter((id) => sees(id)) }) as never;
    const mcpTraffic: QueryPorts["mcpTraffic"] = async () => [];
    const at = (isLimited: boolean, more: Partial<QueryPlace> = {}) =>
      place(isLimited, { ports: { ...PORTS, costs, mcpTraffic }, ...more });
    expect(await ask("GetCosts", at(false))).toEqual({ seen: [OWN, OTHER] });
    expect(await ask("GetCosts", at(true, { session: OWN }))).toEqual({ session: OWN, seen: [OWN] });
    const { run } = hosted(OWN);
    expect(await ask("ListMcpTraffic", at(false, { run, session: OWN }), { server: "one" })).toEqual({
      messages: [],
    });
    expect(await ask("ListMcpTraffic", at(true, { run, session: OWN }), { server: "one" })).toBe("InvalidInput");
    expect(await ask("ListMcpTraffic", at(false, { session: OWN }), { server: "one" })).toBe("SessionNotFound");
  });
});

describe("the last events of a session", () => {
  verifies(["C1"], "are those before an id, as many as asked for, none after the end", async () => {
    const run = { ...hosted(OWN).run, bus: { nextId: 9 } } as never;
    const ids = async (request: object, more: Partial<QueryPlace> = {}) =>
      (
        (await ask("ListEvents", place(false, { session: OWN, ...more }), request)) as { events: readonly Envelope[] }
      ).events.map(({ id }) => id);
    expect(await ids({ before: 100 }, { run })).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await ids({ before: 6, limit: 2 }, { run })).toEqual([4, 5]);
    expect(await ids({ before: 100, limit: 2 })).toEqual([3, 4]);
    expect(await ask("ListEvents", place(false), { before: 5 })).toBe("SessionNotFound");
    expect(await ask("GetStatus", place(false, { session: OWN }))).toBe("SessionNotFound");
  });
});

describe("an answer with long texts", () => {
  const LONG = "x".repeat(1024 * 1024);
  const stored = (ids: readonly number[]) =>
    async function* (_: SessionId, after: number) {
      for (const id of ids)
        if (id > after) yield { id, kind: "Notice", payload: { message: LONG } } as unknown as Envelope;
    };

  it("has the newest events that fit, one at least, and a range is read in several of them", async () => {
    const all = Array.from({ length: 40 }, (_, index) => index + 1);
    const sessions = async () => [{ ...record(OWN, "/w"), last_event: 40 }];
    const ports = { ...PORTS, sessions, events: stored(all) } as QueryPorts;
    const at = place(false, { session: OWN, ports });
    const ids = async (request: object) =>
      ((await ask("ListEvents", at, request)) as { events: readonly Envelope[] }).events.map(({ id }) => id);
    expect(await ids({ before: 41 })).toEqual(all.slice(-8));
    expect(await ids({ before: 33, limit: 3 })).toEqual([30, 31, 32]);
    let asked = 0;
    const query = async (_: string, request: object) => {
      asked++;
      return { ok: true, answer: await ask("ListEvents", at, request) };
    };
    const range: number[] = [];
    for await (const { id } of storedRange({ query } as never, OWN, { first: 3, before: 39 })) range.push(id);
    expect(range).toEqual(all.slice(2, 38));
    expect(asked).toBeLessThan(20);
  });
});

describe("a session that has begun", () => {
  verifies(["C5"], "has the events that are not stored yet in its list, each once", async () => {
    const run = { session: OWN, savedTo: 10, bus: { nextId: 15 } } as unknown as Run;
    const newest = [9, 10, 11, 12, 13, 14].map((id) => ({ id }) as Envelope);
    const live = [{ run, attached: { newest } } as unknown as HostedSession];
    const ids = async (request: object) => {
      const at = place(false, { session: OWN, run, live });
      return ((await ask("ListEvents", at, request)) as { events: readonly Envelope[] }).events.map(({ id }) => id);
    };
    expect(await ids({ before: 100, limit: 6 })).toEqual([9, 10, 11, 12, 13, 14]);
    expect(await ids({ before: 14, limit: 2 })).toEqual([12, 13]);
    expect(await ids({ before: 6, limit: 2 })).toEqual([4, 5]);
  });

  verifies(["C5"], "is in the list while its first events are on their way to the store", async () => {
    const begun = (savedTo: number, nextId = 3) => {
      const run = {
        session: "sess_new",
        savedTo,
        bus: { nextId },
        model: { provider: "p", model: "m" },
        permissionPrompts: { questions: [] },
      };
      return { run, openedAt: "2026-01-01T00:00:00.000Z" } as unknown as HostedSession;
    };
    const listed = async (live: HostedSession, sessions: QueryPorts["sessions"] = async () => []) => {
      const at = place(false, { live: [live], ports: { ...PORTS, sessions } as QueryPorts });
      const { sessions: all } = (await ask("ListSessions", at, { empty: true })) as {
        sessions: readonly { id: string }[];
      };
      return all.map(({ id }) => id);
    };
    expect(await listed(begun(0))).toEqual(["sess_new"]);
    expect(await listed(begun(0, 1))).toEqual(["sess_new"]);
    expect(await listed(begun(Number.POSITIVE_INFINITY))).toEqual(["sess_new"]);
    const stored = record("sess_new" as SessionId, "/w");
    expect(await listed(begun(0), async () => [stored])).toEqual(["sess_new"]);
    // It is stored, and the request is for other ones.
    expect(await listed(begun(2))).toEqual([]);
    const late = begun(0);
    const saves = async () => {
      Object.assign(late.run, { savedTo: 2 });
      return [];
    };
    expect(await listed(late, saves)).toEqual(["sess_new"]);
  });
});
