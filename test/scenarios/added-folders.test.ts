/** A folder that a person adds to a session: the tools and commands use it like the workspace, and the session keeps it. */
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import type { EngineClient } from "../../src/protocol/client.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { hostEngine, turnOf } from "../support/hosted-engine.js";
import { skipWithout } from "../support/needs.js";
import { temporaryFolder } from "../support/program.js";
import { slash } from "../support/slash-turn.js";
import { verifies } from "../verifies.js";

let base: string;
let extra: string;
const open: { close(): Promise<unknown> }[] = [];
beforeEach(async () => {
  base = realpathSync(await temporaryFolder());
  extra = join(base, "extra");
  mkdirSync(join(extra, ".git/hooks"), { recursive: true });
  mkdirSync(join(base, "home"));
  writeFileSync(join(extra, "greet.txt"), "hello\n");
});
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close();
});

async function host(replies: Parameters<typeof script>[0], flags: readonly string[] = []) {
  const mock: MockModel = await startMockModel({ script: script(replies) });
  const hosted = await hostEngine(base, mock, { home: join(base, "home"), flags });
  open.push(mock, { close: () => hosted.engine.close() });
  return { mock, hosted, client: hosted.connectPerson() };
}

async function newSession(client: EngineClient, request = {}): Promise<SessionId> {
  const created = await client.send("CreateSession", request);
  if (!created.ok || created.session === undefined) throw new Error(JSON.stringify(created));
  return created.session;
}

function results(events: readonly Envelope[]): readonly string[] {
  return events.flatMap(({ kind, payload }) => (kind === "ToolResult" ? [payload.status] : []));
}

const foldersOf = async (client: EngineClient, session: SessionId) => {
  const listed = await slash(client, session, "/add-dir");
  return listed.ok ? (listed.value as { readonly value: { readonly folders: unknown } }).value.folders : listed;
};

const reads = () => reply().tool("read", { path: join(extra, "greet.txt") });
const edits = () => reply().tool("edit", { path: join(extra, "greet.txt"), old: "hello", new: "bye" });

describe("an added folder", () => {
  verifies(
    ["T1", "U2", "U6"],
    "is read, edited, searched, completed and undone like the workspace, with its guard list",
    async () => {
      const { mock, hosted, client } = await host([
        ...[reads(), reply().text("No."), reads(), edits(), reply().tool("grep", { pattern: "bye", path: extra })],
        reply().tool("write", { path: join(extra, ".git/hooks/pre-push"), content: "x" }),
        reply().text("Done."),
      ]);
      const session = await newSession(client);
      expect(results(await turnOf(client, session, "before"))).toEqual(["denied"]);
      expect(await slash(client, session, `/add-dir ${join(base, "extra", ".")}`)).toMatchObject({ ok: true });
      client.subscribe(({ kind, payload }) => {
        if (kind !== "PermissionRequested") return;
        const decision = JSON.stringify(payload.args).includes("pre-push") ? "deny" : "allow_once";
        void client.send("AnswerPermission", { call: payload.call, decision }, session);
      });
      // The hook of git asks there, too.
      expect(results(await turnOf(client, session, "after"))).toEqual(["ok", "ok", "ok", "denied"]);
      expect(JSON.stringify(mock.requests.at(-1)?.body)).toContain(`by absolute path: ${extra}`);
      expect(readFileSync(join(extra, "greet.txt"), "utf8")).toBe("bye\n");
      const files = await client.query("FindFiles", { query: "greet" }, session);
      expect(files.ok && files.answer.paths).toEqual([join(extra, "greet.txt")]);
      expect(JSON.stringify(await slash(client, session, "/status"))).toContain(`folders       ${extra}`);
      expect(await slash(client, session, "/undo --yes")).toMatchObject({ ok: true });
      expect(readFileSync(join(extra, "greet.txt"), "utf8")).toBe("hello\n");
      expect(hosted.root).not.toContain(extra);
    },
  );

  verifies(
    ["P18", "U2"],
    "is in the view of a command, whose changes are checked there and can be undone",
    async (context) => {
      skipWithout(context, "sandbox");
      const line = `echo more >> ${extra}/greet.txt; d=.git; echo x > ${extra}/$d/hooks/pre-push; cat ${extra}/greet.txt`;
      const { client } = await host(
        [reply().text("Hi."), reply().tool("bash", { command: line }), reply().text("Done.")],
        [...["--sandbox", "auto"]],
      );
      const session = await newSession(client);
      await turnOf(client, session, "begin");
      expect(await slash(client, session, `/add-dir ${extra}`)).toMatchObject({ ok: true });
      const asked: string[] = [];
      client.subscribe(({ kind, payload }) => {
        if (kind !== "PermissionRequested") return;
        asked.push(payload.summary);
        void client.send("AnswerPermission", { call: payload.call, decision: "deny" }, session);
      });
      const events = await turnOf(client, session, "run");
      const said = JSON.stringify(events.find(({ kind }) => kind === "ToolResult"));
      expect(said).toContain("hooks/pre-push: Read-only file system");
      expect(said).toContain("[changed: ~greet.txt]");
      expect(asked).toEqual([]);
      expect(() => readFileSync(join(extra, ".git/hooks/pre-push"))).toThrow("ENOENT");
      expect(readFileSync(join(extra, "greet.txt"), "utf8")).toBe("hello\nmore\n");
      expect(await slash(client, session, "/undo --yes")).toMatchObject({ ok: true });
      expect(readFileSync(join(extra, "greet.txt"), "utf8")).toBe("hello\n");
    },
  );

  verifies(
    ["S5", "U2"],
    "stays with the session when it is resumed, cleared or rewound; a copy of the log grants nothing",
    async () => {
      const first = await host([reply().text("One."), reply().text("Two.")], ["--add-dir", extra]);
      const session = await newSession(first.client);
      await turnOf(first.client, session, "begin");
      const cleared = await newSession(first.client, { after: session });
      expect(await foldersOf(first.client, cleared)).toEqual([extra]);
      await first.hosted.engine.close();
      const second = await host([reads(), reply().text("Two.")]);
      await newSession(second.client, { resume: session });
      expect(await foldersOf(second.client, session)).toEqual([extra]);
      expect(results(await turnOf(second.client, session, "read it"))).toEqual(["ok"]);
      const branch = await slash(second.client, session, `/session branch ${session}`);
      const copy = /sess_[0-9A-Z]+/.exec(JSON.stringify(branch).replaceAll(session, ""))?.[0] as SessionId;
      const third = await host([]);
      await second.hosted.engine.close();
      await newSession(third.client, { resume: copy });
      expect(await foldersOf(third.client, copy)).toEqual([]);
    },
  );

  verifies(
    ["C7", "P1"],
    "is a folder that holds neither the person's home nor Oxbow's own files, and no agent adds one",
    async () => {
      const { client, hosted } = await host([]);
      const session = await newSession(client);
      for (const [folder, why] of [
        [base, "your home folder is in it"],
        [join(base, "home", "config"), "which belongs to Oxbow"],
        [join(base, "gone"), "there is no such folder"],
        ["/", "your home folder is in it"],
      ]) {
        mkdirSync(join(base, "home", "config"), { recursive: true });
        expect(JSON.stringify(await slash(client, session, `/add-dir ${folder}`))).toContain(why);
      }
      expect(await slash(hosted.connect("agent"), session, `/add-dir ${extra}`)).toMatchObject({ ok: false });
      expect(await foldersOf(client, session)).toEqual([]);
    },
  );
});
