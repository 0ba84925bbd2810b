/** The raw model traffic of a session, switched on and off while it runs. */
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import type { EngineClient } from "../../src/protocol/client.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { keyPurpose, RawTraffic } from "../../src/providers/raw-traffic/traffic.js";
import { keyFor } from "../../src/runtime/feature-context.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { type HostedEngine, hostEngine, turnOf } from "../support/hosted-engine.js";
import { verifies } from "../verifies.js";

const KEY = "2e".repeat(32);

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

async function opened(client: EngineClient): Promise<SessionId> {
  const reply = await client.send("CreateSession", {});
  if (!reply.ok || reply.session === undefined) throw new Error(JSON.stringify(reply));
  return reply.session;
}

verifies(["O2"], "is written for one session, while it is on, and only the key of the sessions opens it", async () => {
  const home = join(base, "home");
  hosted = await hostEngine(base, mock, { home, env: { OXBOW_MACHINE_KEY: KEY } });
  const client = hosted.connect();
  const [session, other] = [await opened(client), await opened(client)];
  const raw = async (args: string, who = client) => {
    const place = { namespace: "slash", verb: "debug:raw", payload: { args } };
    const reply = await who.send("CustomCommand", place, session);
    if (!reply.ok) throw new Error(reply.failure.message);
  };
  await turnOf(client, session, "before");
  await raw("on");
  await turnOf(client, session, "between-the-switches");
  await turnOf(client, other, "elsewhere");
  await raw("off");
  await turnOf(client, session, "after");
  const folder = join(home, "state", "debug");
  expect(readdirSync(folder)).toEqual([`${session}.jsonl`]);
  expect(readFileSync(join(folder, `${session}.jsonl`), "latin1")).not.toContain("between");
  const place = { roots: { state: join(home, "state") }, session };
  const key = await keyFor(keyPurpose(session), { key: async () => Buffer.from(KEY, "hex") });
  const { lines, damaged } = new RawTraffic({ ...place, key }).read();
  expect(damaged).toBe(0);
  expect(lines.filter((line) => line.includes('"type":"request"'))).toHaveLength(1);
  expect(lines.join("")).toContain("between-the-switches");
  const wrong = new RawTraffic({ ...place, key: Buffer.alloc(32) }).read();
  expect([wrong.lines, wrong.damaged]).toEqual([[], lines.length]);
  await expect(raw("on", hosted.connect("agent"))).rejects.toThrow("for people");
});
