/** A session database of an earlier version. */
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { databaseKey } from "../../src/sessions/sqlite/keys.js";
import { MIGRATIONS, migrate } from "../../src/sessions/sqlite/migrations.js";
import { Database } from "../../src/system/sqlite/database.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { type HostedEngine, hostEngine, turnOf } from "../support/hosted-engine.js";
import { verifies } from "../verifies.js";

const KEY = "1f".repeat(32);

let base: string;
let mock: MockModel;
let hosted: HostedEngine;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "oxbow-test-")));
  mock = await startMockModel({ script: "reply\n  text: Hi.\nloop\n" });
});
afterEach(async () => {
  await hosted.engine.close();
  await mock.close();
  await rm(base, { recursive: true, force: true });
});

verifies(["S2"], "is upgraded once; every person who is there, or else the terminal, reads so first", async () => {
  const home = join(base, "home");
  await mkdir(join(home, "data"), { recursive: true });
  const place = { path: join(home, "data", "sessions.db"), key: databaseKey(Buffer.from(KEY, "hex")) };
  const database = await Database.open(place);
  migrate(database, { wall: () => 0, migrations: MIGRATIONS.slice(0, -1) });
  database.close();
  hosted = await hostEngine(base, mock, { home, env: { OXBOW_MACHINE_KEY: KEY } });
  const told: string[][] = [[], []];
  const clients = told.map((messages) => {
    const client = hosted.connectPerson();
    client.subscribe(({ kind, payload }) => void (kind === "Notice" && messages.push(payload.message)));
    return client;
  });
  const [first, second] = clients;
  if (first === undefined || second === undefined) throw new Error("no client");
  const reply = await first.send("CreateSession", {});
  if (!reply.ok || reply.session === undefined) throw new Error(JSON.stringify(reply));
  await second.send("AttachSession", {}, reply.session);
  await turnOf(first, reply.session, "hello");
  await turnOf(first, reply.session, "again");
  const upgrades = told.map((messages) => messages.filter((message) => message === "Database is upgrading…"));
  expect(upgrades.map(({ length }) => length)).toEqual([1, 1]);
});
