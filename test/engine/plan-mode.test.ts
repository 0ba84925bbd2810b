import { afterEach, beforeEach, describe, expect } from "vitest";
import { text } from "../../src/protocol/content.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { type HostedEngine, hostEngine } from "../support/hosted-engine.js";
import { temporaryFolder } from "../support/program.js";
import { settledTurn } from "../support/slash-turn.js";
import { verifies } from "../verifies.js";

let mock: MockModel;
let home: string;
const hosted: HostedEngine[] = [];

beforeEach(async () => {
  mock = await startMockModel({
    script: script([reply().text("Fine."), reply().text("Fine."), reply().text("Fine.")]),
  });
  home = await temporaryFolder();
});
afterEach(async () => {
  for (const { engine } of hosted.splice(0)) await engine.close();
  await mock.close();
});

/** Another process, as the store sees it. */
async function open(flags: readonly string[] = []): Promise<HostedEngine> {
  for (const { engine } of hosted.splice(0)) await engine.close();
  const opened = await hostEngine(home, mock, { home, flags });
  hosted.push(opened);
  return opened;
}

async function modeAfterResume(session: SessionId, flags: readonly string[] = []): Promise<string | undefined> {
  const client = (await open(flags)).connectPerson();
  expect(await client.send("CreateSession", { resume: session })).toMatchObject({ ok: true });
  const status = await client.query("GetStatus", {}, session);
  return status.ok ? status.answer.place?.mode : undefined;
}

describe("plan mode", () => {
  verifies(["S6", "L16"], "stays on in a session that is resumed, until a person leaves it", async () => {
    const client = (await open()).connectPerson();
    const created = await client.send("CreateSession", {});
    const session = (created.ok ? created.session : undefined) as SessionId;
    await settledTurn(client, session, "go");
    expect(await client.send("EnterPlanMode", {}, session)).toMatchObject({ ok: true });
    expect(await modeAfterResume(session)).toBe("plan");

    const again = (await open()).connectPerson();
    await again.send("CreateSession", { resume: session });
    await again.send("SendInput", { content: [text("go")] }, session);
    expect(await again.send("ExitPlanMode", { approve: true }, session)).toMatchObject({ ok: true });
    expect(await modeAfterResume(session)).not.toBe("plan");
  });

  verifies(["S6", "L16"], "is left by a mode on the command line", async () => {
    const client = (await open()).connectPerson();
    const created = await client.send("CreateSession", {});
    const session = (created.ok ? created.session : undefined) as SessionId;
    await settledTurn(client, session, "go");
    await client.send("SetMode", { mode: "plan" }, session);
    expect(await modeAfterResume(session, ["--permission-mode", "ask"])).toBe("ask");
  });
});
