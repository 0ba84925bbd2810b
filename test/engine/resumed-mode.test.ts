/** The mode and the model that a person has chosen in a session, after its engine was killed or has ended. */
import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import type { EngineClient } from "../../src/protocol/client.js";
import type { SessionMode } from "../../src/protocol/events.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { withNewIds } from "../../src/sessions/branch.js";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { type HostedEngine, hostEngine, turnOf } from "../support/hosted-engine.js";
import { temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function place() {
  const mock: MockModel = await startMockModel({
    script: script([reply().text("Fine.").times(Number.POSITIVE_INFINITY)]),
  });
  open.push(mock);
  const base = await temporaryFolder();
  const start = async (home: string, flags: readonly string[] = []): Promise<HostedEngine> => {
    const hosted = await hostEngine(base, mock, { home, flags });
    open.push(hosted.engine);
    return hosted;
  };
  /** As a kill leaves it: everything that is stored so far, and locks of a process that is gone. */
  const afterKill = async (home: string): Promise<string> => {
    const copy = await mkdtemp(join(base, "killed-"));
    // The engine goes on and may rename a temporary file meanwhile. No program reads those after a kill.
    await cp(home, copy, { recursive: true, filter: (source) => !source.endsWith(".tmp") });
    const names = await readdir(copy, { recursive: true });
    for (const name of names.filter((each) => each.endsWith("leases"))) await rm(join(copy, name), { recursive: true });
    return copy;
  };
  return { home: join(base, "home"), start, afterKill };
}

async function created(client: EngineClient): Promise<SessionId> {
  const made = await client.send("CreateSession", {});
  if (!made.ok || made.session === undefined) throw new Error(JSON.stringify(made));
  return made.session;
}

async function modeAfter({ connectPerson }: HostedEngine, session: SessionId): Promise<SessionMode | undefined> {
  const client = connectPerson();
  const resumed = await client.send("CreateSession", { resume: session });
  if (!resumed.ok) throw new Error(JSON.stringify(resumed));
  const status = await client.query("GetStatus", {}, resumed.session as SessionId);
  return status.ok ? status.answer.place?.mode : undefined;
}

describe("the model of a session", () => {
  verifies(
    ["M7", "C10"],
    "stays after its end and after a kill, also if it was chosen after the last turn",
    async () => {
      const { home, start, afterKill } = await place();
      const modelIn = async (client: EngineClient, session: SessionId) => {
        expect(await client.send("CreateSession", { resume: session })).toMatchObject({ ok: true });
        const status = await client.query("GetStatus", {}, session);
        return status.ok ? status.answer.model : undefined;
      };
      const person = (await start(home)).connectPerson();
      const session = await created(person);
      await turnOf(person, session, "go");
      expect(await person.send("SetModel", { model: "anthropic:other" }, session)).toMatchObject({ ok: true });
      const killed = await afterKill(home);
      expect(await modelIn((await start(killed)).connectPerson(), session)).toBe("other");
      expect(await person.send("EndSession", {}, session)).toEqual({ ok: true });
      expect(await modelIn(person, session)).toBe("other");
    },
  );
});

describe("the mode of a session", () => {
  verifies(["P4", "C10"], "stays after a kill, also if it was chosen before the first input", async () => {
    const { home, start, afterKill } = await place();
    const first = await start(home);
    const person = first.connectPerson();
    const session = await created(person);
    expect(await person.send("SetMode", { mode: "ask" }, session)).toEqual({ ok: true });
    await turnOf(person, session, "go");
    expect(await modeAfter(await start(await afterKill(home)), session)).toBe("ask");
    expect(await modeAfter(await start(await afterKill(home), ["--permission-mode", "deny"]), session)).toBe("deny");
    expect(await person.send("SetMode", { mode: "allow" }, session)).toEqual({ ok: true });
    await turnOf(person, session, "go");
    expect(await modeAfter(await start(await afterKill(home)), session)).toBe("allow");
  });

  verifies(["P4"], "is not what an agent asks for", async () => {
    const { home, start, afterKill } = await place();
    const first = await start(home);
    const [person, agent] = [first.connectPerson(), first.connect("agent")];
    const session = await created(person);
    await agent.send("AttachSession", {}, session);
    for (const mode of ["allow", "auto", "ask", "deny"] as const) {
      expect(await agent.send("SetMode", { mode }, session)).toMatchObject({ ok: false });
    }
    const typed = { namespace: "oxbow", verb: "mode", payload: { text: "/mode ask" } };
    expect(await agent.send("CustomCommand", typed, session)).toMatchObject({ ok: false });
    await turnOf(agent, session, "/mode ask");
    expect(await modeAfter(await start(await afterKill(home)), session)).toBe("auto");
  });

  verifies(
    ["P4"],
    "that allows everything does not outlive a session that ended in order, nor go to a copy",
    async () => {
      const { home, start, afterKill } = await place();
      const first = await start(home);
      const person = first.connectPerson();
      const session = await created(person);
      await person.send("SetMode", { mode: "allow" }, session);
      await turnOf(person, session, "go");
      const other = await created(person);
      await person.send("SetMode", { mode: "ask" }, other);
      await turnOf(person, other, "go");
      for (const each of [session, other]) expect(await person.send("EndSession", {}, each)).toEqual({ ok: true });
      const again = await start(await afterKill(home));
      expect(await modeAfter(again, session)).toBe("auto");
      expect(await modeAfter(again, other)).toBe("ask");
      const payload = { mode: "allow", by: person.id } as const;
      const event = { id: 1, kind: "ModeChanged", session, originator: person.id, ts: "", payload } as const;
      expect(withNewIds(event, { session: other, log: "log_1" }).payload).toEqual({ ...payload, copied: true });
    },
  );
});
