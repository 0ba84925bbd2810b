import { afterEach, beforeEach, describe, expect } from "vitest";
import type { EngineClient } from "../../src/protocol/client.js";
import type { CommandPayloads } from "../../src/protocol/commands.js";
import { plainText, text } from "../../src/protocol/content.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { type HostedEngine, hostEngine } from "../support/hosted-engine.js";
import { temporaryFolder } from "../support/program.js";
import { settledTurn, slash } from "../support/slash-turn.js";
import { verifies } from "../verifies.js";

let mock: MockModel;
let home: string;
const hosted: HostedEngine[] = [];

beforeEach(async () => {
  mock = await startMockModel({
    script: script([1, 2, 3, 4].map((number) => reply().text(`Fine ${number}.`))),
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

/** A session whose last turn answered with a plan, and what happens from then on. */
async function planned(): Promise<{ person: EngineClient; session: SessionId; events: Envelope[] }> {
  const person = (await open()).connectPerson();
  const created = await person.send("CreateSession", {});
  const session = (created.ok ? created.session : undefined) as SessionId;
  await person.send("EnterPlanMode", {}, session);
  await settledTurn(person, session, "plan it");
  const events: Envelope[] = [];
  person.subscribe((event) => void events.push(event));
  return { person, session, events };
}

const begun = (events: readonly Envelope[]) =>
  events.flatMap((event) => {
    if (event.kind === "ModeChanged") return [event.payload.mode];
    return event.kind === "TurnStarted" ? [plainText(event.payload.input)] : [];
  });

describe("a plan", () => {
  const said = (words: string) => (client: EngineClient, session: SessionId) =>
    client.send("SendInput", { content: [text(words)] }, session);
  const left = (payload: CommandPayloads["ExitPlanMode"]) => (client: EngineClient, session: SessionId) =>
    client.send("ExitPlanMode", payload, session);
  const typed = (line: string) => (client: EngineClient, session: SessionId) => slash(client, session, line);

  for (const [name, approve, expected] of [
    ["an approval of any client", left({ approve: true }), ["auto", "Carry out the plan."]],
    ["an approval with a review", left({ approve: true, mode: "review" }), ["review", "Carry out the plan."]],
    ["the words of a person", said("Yes, go ahead!"), ["auto", "Yes, go ahead!"]],
    ["/plan approve", typed("/plan approve"), ["auto", "Carry out the plan."]],
  ] as const) {
    verifies(["L16"], `is carried out at once by ${name}`, async () => {
      const { person, session, events } = await planned();
      const status = await person.query("GetStatus", {}, session);
      expect(status).toMatchObject({ answer: { plan_waits: true } });
      expect(await approve(person, session)).toMatchObject({ ok: true, value: { state: "started" } });
      await expect.poll(() => events.some(({ kind }) => kind === "TurnEnded"), { timeout: 20_000 }).toBe(true);
      expect(begun(events)).toEqual(expected);
      const last = JSON.stringify(mock.requests.at(-1)?.body);
      expect(last).toContain("The user approves the plan, and plan mode is off.");
      expect(last.match(/Plan mode is on/g)).toHaveLength(1);
      const after = await person.query("GetStatus", {}, session);
      expect(after.ok && [after.answer.place?.mode, after.answer.plan_waits]).toEqual([expected[0], undefined]);
    });
  }

  for (const [name, send, changed] of [
    ["/plan off leaves", typed("/plan off"), ["auto"]],
    ["a refusal keeps", left({ approve: false }), []],
    [
      "another mode leaves",
      (client: EngineClient, session: SessionId) => client.send("SetMode", { mode: "ask" }, session),
      ["ask"],
    ],
  ] as const) {
    verifies(["L16"], `is not carried out when ${name} plan mode`, async () => {
      const { person, session, events } = await planned();
      expect(await send(person, session)).toMatchObject({ ok: true });
      expect(await person.query("GetStatus", {}, session)).toMatchObject({ answer: { busy: false } });
      expect(begun(events)).toEqual(changed);
    });
  }

  verifies(["L16"], "is approved by no agent, in whatever way", async () => {
    const { person, session, events } = await planned();
    const agent = hosted[0]?.connect("agent") as EngineClient;
    await agent.send("AttachSession", {}, session);
    expect(await agent.send("ExitPlanMode", { approve: true }, session)).toMatchObject({ ok: false });
    expect(await agent.send("ExitPlanMode", { approve: true, mode: "review" }, session)).toMatchObject({ ok: false });
    expect(await slash(agent, session, "/plan approve")).toMatchObject({ ok: false });
    expect(begun(events)).toEqual([]);
    await settledTurn(agent, session, "yes, go ahead");
    expect(begun(events)).toEqual(["yes, go ahead"]);
    expect(await person.query("GetStatus", {}, session)).toMatchObject({ answer: { place: { mode: "plan" } } });
  });

  verifies(["L16", "S6"], "still waits in a session that is resumed", async () => {
    const { session } = await planned();
    expect(await modeAfterResume(session)).toBe("plan");
    const person = hosted[0]?.connectPerson() as EngineClient;
    expect(await person.query("GetStatus", {}, session)).toMatchObject({ answer: { plan_waits: true } });
    expect(await person.send("ExitPlanMode", { approve: true }, session)).toMatchObject({
      value: { state: "started" },
    });
  });

  verifies(["L16"], "does not wait where no turn has planned", async () => {
    const person = (await open()).connectPerson();
    const created = await person.send("CreateSession", {});
    const session = (created.ok ? created.session : undefined) as SessionId;
    await settledTurn(person, session, "look");
    await person.send("EnterPlanMode", {}, session);
    expect(await person.send("ExitPlanMode", { approve: true }, session)).toEqual({ ok: true });
    expect(await person.query("GetStatus", {}, session)).toMatchObject({ answer: { busy: false, messages: 2 } });
  });
});

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
