/** Sessions in different places, and parts from outside, in one engine. */
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import type { RequestLink, ToolLink } from "../../src/engine/ports.js";
import type { EngineClient } from "../../src/protocol/client.js";
import { text } from "../../src/protocol/content.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { approve } from "../support/approve.js";
import { type HostedEngine, hostEngine, turnOf } from "../support/hosted-engine.js";
import { verifies } from "../verifies.js";

const SCRIPT = `
reply
  tool read {"path": "name.txt"}
reply
  text: Done.
loop
`;

let base: string;
let mock: MockModel;
let hosted: HostedEngine | undefined;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "oxbow-test-")));
  mock = await startMockModel({ script: SCRIPT });
});

afterEach(async () => {
  await hosted?.engine.close();
  hosted = undefined;
  await mock.close();
  await rm(base, { recursive: true, force: true });
});

async function folder(name: string): Promise<string> {
  const path = join(base, name);
  await mkdir(path);
  await writeFile(join(path, "name.txt"), `I am ${name}.\n`);
  await writeFile(join(base, `${name}.toml`), `system_prompt = "You work for ${name}."\n`);
  return path;
}

function results(events: readonly Envelope[]): string {
  return JSON.stringify(events.filter(({ kind }) => kind === "ToolResult"));
}

describe("one engine", () => {
  verifies(["C1"], "hosts two sessions in two folders with different settings", async () => {
    hosted = await hostEngine(base, mock, { flags: ["--permission-mode", "allow"] });
    const client = hosted.connect();
    const sessions = [];
    for (const name of ["alpha", "beta"]) {
      const cwd = await folder(name);
      const reply = await client.send("CreateSession", { cwd, profile: join(base, `${name}.toml`) });
      if (!reply.ok || reply.session === undefined) throw new Error(JSON.stringify(reply));
      sessions.push({ name, session: reply.session });
    }
    for (const { name, session } of [...sessions, ...sessions]) {
      const before = mock.requests.length;
      expect(results(await turnOf(client, session, "who are you?"))).toContain(`I am ${name}.`);
      for (const { body } of mock.requests.slice(before)) {
        expect(JSON.stringify(body)).toContain(`You work for ${name}.`);
      }
      const status = await client.send("CustomCommand", { namespace: "slash", verb: "status", payload: {} }, session);
      expect(JSON.stringify(status)).toContain(join(base, name));
    }
  });

  verifies(
    ["C1", "S6"],
    "resumes a session in the folder of its record, or in the one that the client names",
    async () => {
      const [cwd, other, home] = [await folder("alpha"), await folder("beta"), join(base, "home")];
      const inNewEngine = async (request: { resume?: SessionId; cwd?: string }) => {
        hosted = await hostEngine(base, mock, { flags: ["--permission-mode", "allow"], home });
        const client = hosted.connect();
        const reply = await client.send("CreateSession", request);
        if (!reply.ok || reply.session === undefined) throw new Error(JSON.stringify(reply));
        const seen = results(await turnOf(client, reply.session, "go"));
        await hosted.engine.close();
        return { session: reply.session, seen };
      };
      const { session } = await inNewEngine({ cwd });
      expect((await inNewEngine({ resume: session })).seen).toContain("I am alpha.");
      expect((await inNewEngine({ resume: session, cwd: other })).seen).toContain("I am beta.");
    },
  );

  verifies(["C1", "S1"], "refuses a new session of a place that stores its sessions elsewhere", async () => {
    const notes: string[] = [];
    const here = await folder("alpha");
    const home = join(base, "home");
    hosted = await hostEngine(base, mock, { home, content: { folder: here, notify: (note) => void notes.push(note) } });
    const client = hosted.connect();
    const send = (request: object) => client.send("CreateSession", request);
    await writeFile(join(base, "unsaved.toml"), 'store = "none"\n');
    await writeFile(join(base, "files.toml"), 'store = "files"\n');
    await writeFile(join(base, "same.toml"), 'store = "sqlite"\n');
    const unsaved = await send({ profile: join(base, "unsaved.toml") });
    expect(unsaved).toMatchObject({
      ok: false,
      failure: { message: expect.stringContaining("nowhere (store = none)") },
    });
    const files = await send({ profile: join(base, "files.toml") });
    expect(files).toMatchObject({ ok: false, failure: { message: expect.stringContaining("--no-attach") } });
    const same = await send({ profile: join(base, "same.toml"), cwd: await folder("beta") });
    expect(same).toMatchObject({ ok: true });
    if (!same.ok || same.session === undefined) throw new Error("no session");
    // All who read it continue with the other profile.
    const other = hosted.connect();
    const seen: string[] = [];
    other.subscribe((event) => void (event.kind === "TurnEnded" && seen.push(event.session)));
    await other.send("AttachSession", {}, same.session);
    await turnOf(client, same.session, "go");
    expect(await send({ resume: same.session, profile: join(base, "same.toml") })).toMatchObject({ ok: true });
    await turnOf(client, same.session, "go");
    expect(seen).toEqual([same.session, same.session]);
    // A resumed session stays where it is stored.
    await turnOf(client, same.session, "go");
    await client.send("EndSession", {}, same.session);
    expect(await send({ resume: same.session, profile: join(base, "files.toml") })).toMatchObject({ ok: true });
    expect(notes.join()).toContain("as files in");
  });

  verifies(["C1", "S1"], "refuses a new session of a project with its own approved session folder", async () => {
    const [plain, project, home] = [await folder("alpha"), await folder("beta"), join(base, "home")];
    const [own, inside] = [join(project, ".oxbow", "sessions"), join(project, "inside")];
    await Promise.all([mkdir(own, { recursive: true }), mkdir(inside), mkdir(join(project, ".git"))]);
    const notes: string[] = [];
    let client: EngineClient | undefined;
    const open = async (from: string, cwd: string) => {
      await hosted?.engine.close();
      hosted = await hostEngine(base, mock, {
        home,
        content: { folder: from, notify: (note) => void notes.push(note) },
      });
      client = hosted.connect();
      return client.send("CreateSession", { cwd });
    };
    // A repository alone must not decide where sessions go.
    expect(await open(plain, project)).toMatchObject({ ok: true });
    expect(notes.join("\n")).toContain(own);
    await approve(project, { home });
    const refused = (to: string, but: string) => ({
      ok: false,
      failure: { message: expect.stringMatching(new RegExp(`${to}, but this engine stores its sessions ${but}`)) },
    });
    expect(await open(plain, project)).toMatchObject(refused(`as files in ${own}`, "in the database in "));
    expect(await open(plain, inside)).toMatchObject(refused(`as files in ${own}`, "in the database in "));
    expect(await open(project, plain)).toMatchObject(refused("in the database in .*", `as files in ${own}`));
    const same = await open(project, inside);
    if (!same.ok || same.session === undefined || client === undefined) throw new Error(JSON.stringify(same));
    await turnOf(client, same.session, "go");
    expect(await readdir(own)).toContain(same.session);
  });

  verifies(["C1"], "keeps a store of the command line for all places", async () => {
    hosted = await hostEngine(base, mock, { flags: ["--store", "none"] });
    await writeFile(join(base, "same.toml"), 'store = "sqlite"\n');
    const request = { profile: join(base, "same.toml"), cwd: await folder("beta") };
    expect(await hosted.connect().send("CreateSession", request)).toMatchObject({ ok: true });
  });

  verifies(["C1"], "refuses a place that is none, and a profile that an agent names", async () => {
    hosted = await hostEngine(base, mock);
    const client = hosted.connect();
    const agent = hosted.connect("agent");
    await folder("alpha");
    const profile = join(base, "alpha.toml");
    for (const [from, place] of [
      [client, { cwd: join(base, "nowhere") }],
      [client, { profile: join(base, "nowhere.toml") }],
      [agent, { profile }],
    ] as const) {
      expect(await from.send("CreateSession", place)).toMatchObject({ ok: false });
    }
    expect(await agent.send("CreateSession", { cwd: join(base, "alpha") })).toMatchObject({ ok: true });
  });

  verifies(
    ["L2", "U6"],
    "takes a hook, links, a tool, a command, a subscriber and a close from an outside part",
    async () => {
      const seen: string[] = [];
      const seeCall: ToolLink["run"] = (call, _context, next) => {
        seen.push(`link ${call.tool}`);
        return next(call);
      };
      const seeRequest: RequestLink["run"] = (request, _context, next) => {
        seen.push("request");
        return next(request);
      };
      hosted = await hostEngine(base, mock, {
        flags: ["--permission-mode", "allow"],
        parts: [
          ({ root }) => ({
            name: "greeter",
            hooks: { start: [{ name: "45-greet", run: () => void seen.push("hook") }] },
            links: {
              tool: [{ name: "45-see", run: seeCall }],
              request: [{ name: "45-count", run: seeRequest }],
            },
            tools: [
              {
                name: "greeting",
                set: "read",
                description: "Greets.",
                inputSchema: { type: "object", properties: {} },
                mutating: false,
                concurrencySafe: true,
                run: async () => ({ status: "ok", content: [text("Hello.")] }),
              },
            ],
            commands: [
              {
                name: "greet",
                summary: "greets",
                reaches: "session",
                users: ["people"],
                places: ["between turns"],
                run: () => ({ text: `Hello from ${root}.`, value: root }),
              },
            ],
            subscribers: [{ name: "45-end", run: ({ kind }) => void (kind === "TurnEnded" && seen.push("end")) }],
            close: () => seen.push("closed"),
          }),
        ],
      });
      const client = hosted.connect();
      const reply = await client.send("CreateSession", {});
      if (!reply.ok || reply.session === undefined) throw new Error(JSON.stringify(reply));
      await turnOf(client, reply.session, "go");
      const greeting = await client.send(
        "CustomCommand",
        { namespace: "slash", verb: "greet", payload: {} },
        reply.session,
      );
      expect(greeting).toMatchObject({ ok: true, value: { text: `Hello from ${hosted.root}.` } });
      const tools = await client.query("ListTools", {}, reply.session);
      expect(tools.ok && tools.answer.tools.map(({ name }) => name)).toContain("greeting");
      expect(JSON.stringify(mock.requests[0]?.body)).toContain('"greeting"');
      const [own, builtIn] = [
        await client.query("ListCommands", {}, reply.session),
        await client.query("ListCommands", {}),
      ];
      expect(own.ok && own.answer.commands.find(({ name }) => name === "greet")).toMatchObject({ usage: "/greet" });
      expect(builtIn.ok && builtIn.answer.commands.map(({ name }) => name)).not.toContain("greet");
      await hosted.engine.close();
      expect(seen).toEqual(["hook", "request", "link read", "request", "end", "closed"]);
    },
  );
});
