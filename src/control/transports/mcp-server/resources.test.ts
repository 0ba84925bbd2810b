import { describe, expect, it } from "vitest";
import type { EngineClient } from "../../../protocol/client.js";
import { FIXED, listResources, placeOf, readResource, sessionOfUri } from "./resources.js";

const ID = "sess_01M7TR596F8A45R56KG6VCGYRD";
const FAILED = { ok: false, failure: { reason: "x", message: "No." } };

describe("the place of a URI", () => {
  it.each([
    ["oxbow://sessions", { kind: "sessions", name: "", since: undefined }],
    [`oxbow://session/${ID}`, { kind: "session", name: ID, since: undefined }],
    [`oxbow://session/${ID}/events`, { kind: "session/events", name: ID, since: undefined }],
    [`oxbow://session/${ID}/events?since=0`, { kind: "session/events", name: ID, since: 0 }],
    [`oxbow://session/${ID}/events?x=1&since=12`, { kind: "session/events", name: ID, since: 12 }],
    [`oxbow://session/${ID}/log`, { kind: "session/log", name: ID, since: undefined }],
    ["oxbow://profile/a%20b", { kind: "profile", name: "a b", since: undefined }],
    ["oxbow://profile/100%", { kind: "profile", name: "100%", since: undefined }],
    ["oxbow://provider/p/models", { kind: "provider/models", name: "p", since: undefined }],
    ["oxbow://skill/s", { kind: "skill", name: "s", since: undefined }],
  ])("is that of %s", (uri, place) => {
    expect(placeOf(uri)).toEqual(place);
  });

  it.each([
    ...[
      "oxbow://",
      "oxbow:///",
      "oxbow://?since=1",
      "oxbow://session",
      "oxbow://session/",
      "oxbow://sessions/",
      "oxbow://sessions/x",
    ],
    ...[
      `oxbow://session/${ID}/`,
      `oxbow://session/${ID}/other`,
      "oxbow://toString",
      "oxbow://provider/p",
      "oxbow://other/x",
    ],
    ...[
      "http://sessions",
      " oxbow://sessions",
      "oxbow://sessions#x",
      "oxbow://sessions?since=-1",
      "oxbow://sessions?since=1234567890123456",
    ],
  ])("is none of %s", (uri) => {
    expect(placeOf(uri)).toBeUndefined();
  });

  it("names the session that it is about", () => {
    expect(["", "/events?since=3", "/log"].map((rest) => sessionOfUri(`oxbow://session/${ID}${rest}`))).toEqual([
      ID,
      ID,
      ID,
    ]);
    for (const uri of ["oxbow://session/x", "oxbow://sessions", `oxbow://skill/${ID}`, "oxbow://"])
      expect(sessionOfUri(uri)).toBeUndefined();
  });
});

/** Answers queries by their kind; the others fail. */
function engine(answers: Readonly<Record<string, unknown>>) {
  const asked: unknown[] = [];
  const query = async (kind: string, args: object, session?: string) => {
    asked.push([kind, args, session]);
    const answer = answers[kind];
    const found = typeof answer === "function" ? answer(args, session) : answer;
    return found === undefined ? FAILED : { ok: true, answer: found };
  };
  return { client: { query } as unknown as EngineClient, asked };
}

async function read(
  uri: string,
  answers: Readonly<Record<string, unknown>>,
): Promise<{ mimeType?: string; value: unknown }> {
  const { contents } = await readResource(engine(answers).client, uri);
  const [only] = contents as [{ uri: string; mimeType?: string; text: string }];
  expect([contents.length, only.uri]).toEqual([1, uri]);
  const isLines = only.mimeType === "application/x-ndjson";
  const value = isLines ? only.text.split("\n").map((line) => JSON.parse(line)) : JSON.parse(only.text);
  return { ...(only.mimeType !== undefined && { mimeType: only.mimeType }), value };
}

/** A stored session with so many events. */
const stored = (count: number, size = 0) => ({
  ListSessions: () => ({ sessions: [{ id: ID, title: "Work", cwd: "/w", live: true, last_event: count }] }),
  ListEvents: ({ before, limit }: { before: number; limit: number }) => {
    const first = Math.max(1, before - limit);
    const ids = Array.from({ length: before - first }, (_, at) => first + at).filter((id) => id <= count);
    return { events: ids.map((id) => ({ id, ...(size > 0 && { text: "x".repeat(size) }) })) };
  },
});
const idsOf = (events: readonly { id: number }[]) => events.map(({ id }) => id);

describe("what an outer agent reads", () => {
  it("lists what the engine offers, and the sessions", async () => {
    const listed = await listResources(engine(stored(3)).client);
    expect(listed.slice(0, -1)).toEqual(FIXED);
    expect(listed.at(-1)).toEqual({
      ...{ uri: `oxbow://session/${ID}`, name: "Work", description: "session in /w", mimeType: "application/json" },
    });
    expect(await listResources(engine({}).client)).toEqual(FIXED);
    for (const { uri } of FIXED) expect(placeOf(uri), uri).toBeDefined();
  });

  it("a session comes with its last fifty events, and its state where it is open", async () => {
    const { value } = await read(`oxbow://session/${ID}`, { ...stored(60), GetStatus: { busy: true } });
    expect(value).toMatchObject({ id: ID, title: "Work", status: { busy: true } });
    expect(idsOf((value as { events: { id: number }[] }).events)).toEqual(
      Array.from({ length: 50 }, (_, at) => at + 11),
    );
    const closed = await read(`oxbow://session/${ID}`, stored(0));
    expect(closed.value).toMatchObject({ events: [] });
    expect(closed.value).not.toHaveProperty("status");
    await expect(read(`oxbow://session/${ID}`, {})).rejects.toThrow();
    await expect(read("oxbow://session/other", stored(1))).rejects.toThrow();
  });

  it("its events come in pieces of a thousand, each after the last", async () => {
    const events = async (since?: number, count = 2_300) => {
      const query = since === undefined ? "" : `?since=${since}`;
      const answered = await read(`oxbow://session/${ID}/events${query}`, stored(count));
      const value = answered.value as { events: { id: number }[]; next?: number; last_event: number };
      return [value.events[0]?.id, value.events.length, value.next, value.last_event];
    };
    expect(await events()).toEqual([1, 1_000, 1_000, 2_300]);
    expect(await events(1_000)).toEqual([1_001, 1_000, 2_000, 2_300]);
    expect(await events(2_000)).toEqual([2_001, 300, undefined, 2_300]);
    expect(await events(1_300)).toEqual([1_301, 1_000, undefined, 2_300]);
    for (const since of [2_300, 9_999]) expect(await events(since)).toEqual([undefined, 0, undefined, 2_300]);
    expect(await events(0, 0)).toEqual([undefined, 0, undefined, 0]);
    // An open session counts more than its record.
    const open = await read(`oxbow://session/${ID}/events`, { ...stored(2), GetStatus: { last_event: 5 } });
    expect(open.value).toMatchObject({ last_event: 5 });
    await expect(read(`oxbow://session/${ID}/events`, {})).rejects.toThrow();
    await expect(read("oxbow://session/other/events", stored(1))).rejects.toThrow();
  });

  it("its log is one line for each event; where it is cut, the rest begins with the next one", async () => {
    const whole = await read(`oxbow://session/${ID}/log`, stored(2_001));
    expect(whole.mimeType).toBe("application/x-ndjson");
    expect(idsOf(whole.value as { id: number }[])).toEqual(Array.from({ length: 2_001 }, (_, at) => at + 1));
    const cut = await read(`oxbow://session/${ID}/log`, stored(20, 1_000_000));
    const lines = cut.value as { id?: number; cut?: boolean; next?: number; message?: string }[];
    expect([lines.length, lines.at(-2)?.id]).toEqual([17, 16]);
    expect(lines.at(-1)).toEqual({
      cut: true,
      next: 16,
      message: `Read the rest with oxbow://session/${ID}/events?since=16`,
    });
    const rest = await read(`oxbow://session/${ID}/events?since=16`, stored(20));
    expect(idsOf((rest.value as { events: { id: number }[] }).events)).toEqual([17, 18, 19, 20]);
  });

  it("profiles, providers, tools and skills come as the engine answers, and a failure as what it is", async () => {
    const profiles = { profiles: [{ name: "a" }, { name: "b" }] };
    const providers = { providers: [{ name: "p", models: ["m"] }] };
    const answers = {
      ListProfiles: profiles,
      ListProviders: providers,
      ListSkills: { skills: [] },
      GetHealth: { version: "1" },
    };
    const values = async (uri: string, given: object = answers) => (await read(uri, given as never)).value;
    expect(await values("oxbow://profiles")).toEqual(profiles);
    expect(await values("oxbow://profile/b")).toEqual({ name: "b" });
    expect(await values("oxbow://providers")).toEqual(providers);
    expect(await values("oxbow://provider/p/models")).toEqual({ provider: "p", models: ["m"] });
    expect(await values("oxbow://skills")).toEqual({ skills: [] });
    expect(await values("oxbow://runtime")).toEqual({ version: "1" });
    expect(await values("oxbow://skill/s", { GetSkill: ({ name }: { name: string }) => ({ name }) })).toEqual({
      name: "s",
    });
    expect(await values("oxbow://sessions", {})).toEqual({ error: { reason: "x", message: "No." } });
    for (const uri of ["oxbow://profile/c", "oxbow://provider/q/models", "oxbow://nowhere"])
      await expect(values(uri)).rejects.toThrow();
    await expect(values("oxbow://skill/s")).rejects.toThrow();
    for (const [live, session] of [
      [true, ID],
      [false, undefined],
    ] as const) {
      const { client, asked } = engine({ ListSessions: { sessions: [{ id: ID, live }] }, ListTools: { tools: [] } });
      await readResource(client, "oxbow://tools");
      expect(asked.at(-1)).toEqual(["ListTools", {}, session]);
    }
  });
});
