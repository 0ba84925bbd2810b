/** Shows what a session has after going back to before an earlier prompt: the mode from that time. */
import { afterEach, beforeEach, describe, expect } from "vitest";
import type { EngineClient } from "../../src/protocol/client.js";
import type { SessionMode } from "../../src/protocol/events.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { type HostedEngine, hostEngine, turnOf } from "../support/hosted-engine.js";
import { temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

let mock: MockModel;
let hosted: HostedEngine;
let client: EngineClient;
let session: SessionId;
beforeEach(async () => {
  mock = await startMockModel({ script: script([reply().text("Yes.").times(9)]) });
  hosted = await hostEngine(await temporaryFolder(), mock, { flags: ["--permission-mode", "ask"] });
  client = hosted.connectPerson();
  const created = await client.send("CreateSession", {});
  if (!created.ok || created.session === undefined) throw new Error("no session");
  session = created.session;
});
afterEach(async () => {
  await hosted.engine.close();
  await mock.close();
});

async function setMode(mode: SessionMode): Promise<void> {
  expect(await client.send("SetMode", { mode }, session)).toMatchObject({ ok: true });
}

/** The id of the prompt's TurnStarted. */
async function prompt(text: string): Promise<number> {
  const started = (await turnOf(client, session, text)).find(({ kind }) => kind === "TurnStarted");
  return started?.id ?? 0;
}

async function modeBefore(event: number): Promise<SessionMode | undefined> {
  const copy = await client.send("CreateSession", { after: session, until: event });
  if (!copy.ok || copy.session === undefined) throw new Error(JSON.stringify(copy));
  const found = await client.query("GetStatus", {}, copy.session);
  if (!found.ok) throw new Error(found.failure.message);
  // The copy follows the session, which is opened again.
  expect(await client.send("CreateSession", { resume: session })).toMatchObject({ ok: true });
  return found.answer.place?.mode;
}

describe("going back to before a prompt", () => {
  verifies(["U2", "P2"], "restores the mode; 'allow' only while it is still chosen", async () => {
    await setMode("plan");
    const planned = await prompt("in plan mode");
    await setMode("allow");
    const allowed = await prompt("with everything allowed");
    expect(await modeBefore(allowed)).toBe("allow");
    // The session was opened again, so that nothing is allowed until the person says so.
    expect(await modeBefore(allowed)).toBe("ask");
    expect(await modeBefore(planned)).toBe("plan");
  });
});
