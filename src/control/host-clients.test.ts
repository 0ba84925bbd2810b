/** Shows what a client may do and see, whichever transport it uses. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type HostedEngine, hostEngine } from "../../test/support/hosted-engine.js";
import { providerEnvironment, temporaryFolder } from "../../test/support/program.js";
import { verifies } from "../../test/verifies.js";
import { text } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import type { SessionId } from "../protocol/ids.js";
import { type MockModel, reply, script, startMockModel } from "../testkit/index.js";
import type { ClientOptions, HostClient } from "./connected-client.js";

const open: { readonly mock: MockModel; readonly hosted: HostedEngine }[] = [];
afterEach(async () => {
  for (const { mock, hosted } of open.splice(0)) {
    await hosted.engine.close();
    await mock.close();
  }
});

type Reply = ReturnType<typeof reply>;

async function engineWith(...given: readonly Reply[] | [{ readonly home: string }, ...Reply[]]) {
  const [first, ...rest] = given;
  const place = first !== undefined && "home" in first ? first : undefined;
  const replies = (place === undefined ? given : rest) as readonly Reply[];
  const mock = await startMockModel({
    script: script([...replies, reply().text("More.").times(Number.POSITIVE_INFINITY)]),
  });
  const hosted = await hostEngine(await temporaryFolder(), mock, place);
  open.push({ mock, hosted });
  const connect = (options: Partial<ClientOptions> = {}) =>
    hosted.engine.host.connect({
      ...{ id: hosted.engine.newClientId(), identity: "human" as const, canAnswer: true, transport: "test" },
      ...options,
    });
  return { hosted, connect };
}

async function created(client: HostClient): Promise<SessionId> {
  const made = await client.send("CreateSession", {});
  if (!made.ok || made.session === undefined) throw new Error(JSON.stringify(made));
  return made.session;
}

async function turn(client: HostClient, session: SessionId, events: Envelope[]): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    const stop = client.subscribe((event) => {
      events.push(event);
      if (event.kind !== "TurnEnded") return;
      stop();
      resolve();
    });
  });
  expect(await client.send("SendInput", { content: [text("go")] }, session)).toMatchObject({ ok: true });
  await ended;
}

describe("input of a client in another process", () => {
  verifies(["C3", "L10"], "is on disk when it is accepted, the first one of a session too", async () => {
    const { connect, hosted } = await engineWith(reply().text("One.").hang());
    const client = connect();
    const session = await created(client);
    for (const [delivery, words, state, kind] of [
      [{}, "the first", "started", "TurnStarted"],
      [{ queue: true }, "the second", "queue", "InputQueued"],
    ] as const) {
      const sent = await client.send("SendInput", { content: [text(words)], ...delivery }, session);
      expect(sent).toMatchObject({ ok: true, value: { state } });
      const store = await hosted.sessions.open();
      const kinds: string[] = [];
      for await (const event of store?.events(session) ?? [])
        if (JSON.stringify(event).includes(words)) kinds.push(event.kind);
      expect(kinds).toEqual([kind]);
    }
  });

  verifies(["C3", "S1"], "is refused when it cannot be saved", async () => {
    const home = await temporaryFolder();
    // No database fits into it.
    await mkdir(join(home, "data", "sessions.db"), { recursive: true });
    const { connect } = await engineWith({ home }, reply().text("One."));
    const client = connect();
    const session = await created(client);
    expect(await client.send("SendInput", { content: [text("go")] }, session)).toMatchObject({
      ok: false,
      failure: { reason: "SessionNotSaved" },
    });
  });
});

describe("a connected client", () => {
  verifies(
    ["C2"],
    "can do nothing before the handshake, and then learns its id, the kinds and the features",
    async () => {
      const { connect } = await engineWith();
      const client = connect({ handshake: "required" });
      const refused = { ok: false, failure: { reason: "HandshakeRequired" } };
      expect(await client.send("CreateSession", {})).toMatchObject(refused);
      expect(await client.query("GetHealth", {})).toMatchObject(refused);
      expect(await client.follow("sess_1", { deliver: () => {} })).toMatchObject(refused);
      expect(client.handshake({ protocol_version: "1.0.0" })).toMatchObject({
        failure: { reason: "HandshakeVersionMismatch", message: expect.stringContaining("Upgrade the server.") },
      });
      expect(client.handshake({ protocol_version: "one" as string })).toMatchObject({
        failure: { reason: "InvalidInput" },
      });
      expect(await client.send("CreateSession", {})).toMatchObject(refused);
      const hello = client.handshake({ protocol_version: "0.1.0", client: { name: "editor" } });
      expect(hello).toMatchObject({
        handshake: { client: client.id, resource_uri_scheme: "oxbow", deprecated: [] },
      });
      expect(await client.send("CreateSession", {})).toMatchObject({ ok: true });
      const listed = await client.query("ListClients", {});
      expect(listed).toMatchObject({ answer: { clients: [{ id: client.id, name: "editor", transport: "test" }] } });
    },
  );

  verifies(["C3"], "that is limited to sessions and commands gets nothing beyond them", async () => {
    const { connect } = await engineWith();
    const owner = connect();
    const [own, other] = [await created(owner), await created(owner)];
    const guest = connect({ scope: { sessions: [own], commands: ["SendInput"] } });
    const forbidden = { ok: false, failure: { reason: "Forbidden" } };
    for (const session of [other, "sess_01M7H9TRN927HJEEPJT5CEFQV2"] as const) {
      expect(await guest.send("AttachSession", {}, session)).toMatchObject(forbidden);
      expect(await guest.query("GetStatus", {}, session)).toMatchObject(forbidden);
      expect(await guest.query("ListEvents", { before: 9 }, session)).toMatchObject(forbidden);
      expect(await guest.send("SendInput", { content: [text("x")] }, session)).toMatchObject(forbidden);
      expect(await guest.send("CreateSession", { resume: session })).toMatchObject(forbidden);
    }
    expect(await guest.send("CreateSession", {})).toMatchObject(forbidden);
    expect(await guest.send("CancelTurn", {}, own)).toMatchObject(forbidden);
    expect(await guest.send("EndSession", {}, own)).toMatchObject(forbidden);
    expect(await guest.send("AttachSession", {}, own)).toEqual({ ok: true });
    const sessions = await guest.query("ListSessions", { empty: true });
    expect(sessions).toMatchObject({ answer: { sessions: [{ id: own }] } });
    const clients = await guest.query("ListClients", {});
    expect(clients.ok && clients.answer.clients.map(({ sessions: seen }) => seen)).toEqual([[own], [own]]);
    await turn(guest, own, []);
  });

  verifies(["C1"], "lists profiles, providers, skills, MCP servers and the health of the engine", async () => {
    const { connect } = await engineWith();
    const client = connect();
    const session = await created(client);
    for (const about of [undefined, session]) {
      expect(await client.query("ListProfiles", {}, about)).toMatchObject({
        answer: { profiles: expect.arrayContaining([expect.objectContaining({ scope: "built-in" })]) },
      });
      expect(await client.query("ListProviders", {}, about)).toMatchObject({
        answer: { providers: expect.arrayContaining([expect.objectContaining({ name: "anthropic", ready: true })]) },
      });
      expect(await client.query("ListSkills", {}, about)).toMatchObject({
        answer: { skills: expect.arrayContaining([expect.objectContaining({ scope: "built-in" })]) },
      });
      expect(await client.query("ListMcpServers", {}, about)).toEqual({ ok: true, answer: { servers: [] } });
    }
    expect(await client.query("GetHealth", {})).toMatchObject({
      answer: {
        ...{ pid: process.pid, sessions: 1, clients: 1, protocol_version: expect.any(String) },
        caches: { limit_bytes: 32 * 1024 * 1024, bytes: expect.any(Number), each: expect.any(Array) },
      },
    });
  });

  verifies(["C3"], "opens a stored session by attaching to it, also when two do it at once", async () => {
    const { connect } = await engineWith(reply().text("First."));
    const one = connect();
    const session = await created(one);
    const events: Envelope[] = [];
    await turn(one, session, events);
    const rest: Envelope[] = [];
    one.subscribe((event) => rest.push(event));
    expect(await one.send("EndSession", {}, session)).toEqual({ ok: true });
    expect(rest).toMatchObject([{ kind: "SessionEnded", payload: { reason: "user" } }]);
    expect(await one.query("GetStatus", {}, session)).toMatchObject({ failure: { reason: "SessionNotFound" } });
    const stored = await one.query("ListEvents", { before: 1000 }, session);
    expect(stored.ok && stored.answer.events.length).toBe(events.length + 1);
    const two = connect();
    const again: Envelope[] = [];
    two.subscribe((event) => again.push(event));
    expect(
      await Promise.all([one.send("AttachSession", {}, session), two.send("AttachSession", { after: 0 }, session)]),
    ).toEqual([{ ok: true }, { ok: true }]);
    expect(again.map(({ id }) => id)).toEqual(again.map((_, index) => index + 1));
    expect(again.at(-1)?.kind).toBe("SessionEnded");
    await turn(one, session, []);
    expect(again.at(-1)?.kind).toBe("TurnEnded");
  });

  verifies(
    ["O4"],
    "learns that the session ends, also one without a turn, and the engine takes no more commands",
    async () => {
      const { hosted, connect } = await engineWith();
      const client = connect();
      const session = await created(client);
      const events: Envelope[] = [];
      client.subscribe((event) => events.push(event));
      const closing = hosted.engine.close("binary-shutdown");
      expect(await client.send("SendInput", { content: [text("x")] }, session)).toMatchObject({ ok: false });
      await closing;
      expect(events).toMatchObject([{ session, kind: "SessionEnded", payload: { reason: "binary-shutdown" } }]);
    },
  );

  it("has several readers of one session, which end with it", async () => {
    const { connect } = await engineWith(reply().text("First."));
    const client = connect({ attachOnCreate: false });
    const session = await created(client);
    const seen: string[][] = [[], []];
    const followed = await Promise.all(
      seen.map((kinds) => client.follow(session, { deliver: ({ kind }) => kinds.push(kind) })),
    );
    const watcher = connect();
    await watcher.send("AttachSession", {}, session);
    await turn(watcher, session, []);
    expect(seen[0]).toContain("TurnEnded");
    expect(seen[0]).toEqual(seen[1]);
    const [first] = followed;
    if (first?.ok) first.stop();
    await turn(watcher, session, []);
    expect(seen[1]?.length).toBe((seen[0]?.length ?? 0) * 2);
    client.close();
    await turn(watcher, session, []);
    expect(seen[1]?.length).toBe((seen[0]?.length ?? 0) * 2);
    const clients = await watcher.query("ListClients", {});
    expect(clients.ok && clients.answer.clients.map(({ id }) => id)).toEqual([watcher.id]);
  });
});

describe("what a session says after it was opened", () => {
  verifies(["C3"], "reaches its clients", async () => {
    const mock = await startMockModel({ script: script([reply().text("Done.").times(Number.POSITIVE_INFINITY)]) });
    const home = await temporaryFolder();
    await mkdir(join(home, "config"));
    await writeFile(join(home, "config/config.toml"), '[tool_sets]\nmine = ["read", "none_such"]\n');
    const hosted = await hostEngine(await temporaryFolder(), mock, { isDetached: true, home });
    open.push({ mock, hosted });
    const client = hosted.connectPerson();
    const environment = {
      PATH: process.env.PATH ?? "",
      HOME: home,
      OXBOW_HOME: home,
      ...providerEnvironment("anthropic", mock.url),
    };
    const made = await client.send("CreateSession", {
      ...{
        cwd: await temporaryFolder(),
        start: { environment, flags: ["--sandbox", "off", "--tool-set", "mine"] },
      },
    });
    if (!made.ok || made.session === undefined) throw new Error(JSON.stringify(made));
    const notices: string[] = [];
    client.subscribe((event) => void (event.kind === "Notice" && notices.push(event.payload.message)));
    await client.send("SendInput", { content: [text("go")] }, made.session);
    await expect.poll(() => notices).toEqual(["--tool-set: nothing here offers none_such."]);
  });
});
