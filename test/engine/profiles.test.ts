/** A session that continues with another profile. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import type { EngineClient } from "../../src/protocol/client.js";
import type { CommandPayloads } from "../../src/protocol/commands.js";
import type { EventPayloads } from "../../src/protocol/events.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { isJsonObject, type JsonObject } from "../../src/protocol/json.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { approve } from "../support/approve.js";
import { type HostedEngine, hostEngine, turnOf } from "../support/hosted-engine.js";
import { verifies } from "../verifies.js";

let base: string;
let home: string;
let mock: MockModel;
let hosted: HostedEngine;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "oxbow-test-")));
  home = join(base, "home");
  await mkdir(join(home, "config", "profiles"), { recursive: true });
  mock = await startMockModel({ script: "reply\n  text: The bridge is red.\nloop\n" });
});

afterEach(async () => {
  await hosted.engine.close();
  await mock.close();
  await rm(base, { recursive: true, force: true });
});

async function slash(client: EngineClient, session: SessionId, line: string): Promise<JsonObject> {
  const [, verb = "", args = ""] = /^\/(\S+)\s*(.*)$/.exec(line) ?? [];
  const reply = await client.send("CustomCommand", { namespace: "slash", verb, payload: { args } }, session);
  if (!reply.ok) throw new Error(reply.failure.message);
  return isJsonObject(reply.value) ? reply.value : {};
}

async function open(client: EngineClient, wanted: CommandPayloads["CreateSession"]): Promise<SessionId> {
  const reply = await client.send("CreateSession", wanted);
  if (!reply.ok || reply.session === undefined) throw new Error(JSON.stringify(reply));
  return reply.session;
}

const lastRequest = () => JSON.stringify(mock.requests.at(-1)?.body);

describe("/profiles:NAME", () => {
  verifies(["E5"], "starts a new session that knows a summary; the old one can be resumed", async () => {
    await writeFile(join(home, "config", "profiles", "french.toml"), 'prompt_header = "Speak French."\n');
    hosted = await hostEngine(base, mock, { home });
    const client = hosted.connect();
    const first = await open(client, {});
    await turnOf(client, first, "Which colour has the bridge?");
    expect(lastRequest()).not.toContain("Speak French.");
    const { text, follow } = await slash(client, first, "/profiles:french");
    expect(text).toContain(`oxbow resume ${first}`);
    const second = await open(client, follow as CommandPayloads["CreateSession"]);
    expect(second).not.toBe(first);
    await turnOf(client, second, "And the river?");
    expect(lastRequest()).toContain("Speak French.");
    expect(lastRequest()).toContain("The bridge is red.");
    expect(lastRequest()).toContain("<first-request>\\nWhich colour has the bridge?");
    expect((await slash(client, second, "/profile")).text).toContain("profile french");
    // A resumed session begins with the summary, too.
    const third = await open(client, { after: second });
    expect(await open(client, { resume: second })).toBe(second);
    await turnOf(client, second, "Once more?");
    expect(lastRequest()).toContain("<first-request>\\nWhich colour has the bridge?");
    expect(await open(client, { resume: first })).toBe(first);
    expect(third).not.toBe(first);
    await expect(slash(client, second, "/profiles:german")).rejects.toThrow("There is no command");
    await expect(slash(client, second, "/profiles use german")).rejects.toThrow('there is no profile "german"');
    await writeFile(join(home, "config", "profiles", "german.toml"), 'prompt_header = "Speak German."\n');
    expect((await slash(client, second, "/profiles:german --empty")).text).toContain("the profile german");
    const agent = hosted.connect("agent");
    await expect(slash(agent, second, "/profiles:french")).rejects.toThrow("for people, not for agents");
  });

  verifies(["E5"], "--in-place changes the session itself and warns; session rules end", async () => {
    await writeFile(
      join(home, "config", "profiles", "strict.toml"),
      'permission_mode = "deny"\nprompt_header = "Strict."\n',
    );
    hosted = await hostEngine(base, mock, { home });
    const client = hosted.connect();
    const session = await open(client, {});
    await expect(slash(client, session, "/profiles:strict --in-place")).rejects.toThrow("Only a stored session");
    await turnOf(client, session, "Which colour has the bridge?");
    const { text, follow } = await slash(client, session, "/profiles:strict --in-place");
    expect(text).toContain("Warning: the model may be confused");
    expect(await open(client, follow as CommandPayloads["CreateSession"])).toBe(session);
    await turnOf(client, session, "And the river?");
    expect(lastRequest()).toContain("Strict.");
    expect(lastRequest()).toContain("Which colour has the bridge?");
    expect((await slash(client, session, "/status")).text).toMatch(/permissions +deny/);
    // Without the file, the session continues as it is.
    await rm(join(home, "config", "profiles", "strict.toml"));
    const reply = await client.send("CreateSession", { resume: session, profile: "strict" });
    expect(reply).toMatchObject({ ok: false });
    await turnOf(client, session, "Still there?");
    expect(lastRequest()).toContain("Still there?");
  });
  verifies(["E5"], "/profile lists the skills, MCP servers, plugins and tools that are loaded", async () => {
    const folder = join(base, "project");
    await mkdir(join(folder, ".oxbow", "skills", "bridges"), { recursive: true });
    const skill = "---\nname: bridges\ndescription: Knows bridges.\n---\nText.\n";
    await writeFile(join(folder, ".oxbow", "skills", "bridges", "SKILL.md"), skill);
    await writeFile(join(folder, ".mcp.json"), '{"mcpServers": {"river": {"command": "cat"}}}');
    await approve(folder, { home });
    hosted = await hostEngine(base, mock, { home, content: { folder }, flags: ["--tool-set", "read"] });
    const client = hosted.connect();
    const session = await open(client, {});
    const { text, value } = await slash(client, session, "/profile");
    expect(text).toMatch(/^skills +.*\bbridges\b/m);
    expect(text).toMatch(/^MCP servers +river$/m);
    expect(text).toMatch(/^plugins +none$/m);
    expect(text).toMatch(/^tools +read, ls, glob, grep/m);
    expect(value).toMatchObject({ loaded: { mcp_servers: ["river"], tools: expect.arrayContaining(["grep"]) } });
  });

  verifies(["E5"], "asks whether the last turns go along, and pauses the old session", async () => {
    await writeFile(join(home, "config", "profiles", "french.toml"), 'prompt_header = "Speak French."\n');
    hosted = await hostEngine(base, mock, { home });
    const client = hosted.connectPerson();
    const questions: EventPayloads["PermissionRequested"][] = [];
    let decision: "allow_once" | "deny" = "allow_once";
    client.subscribe(({ kind, payload, session }) => {
      if (kind !== "PermissionRequested") return;
      questions.push(payload);
      void client.send("AnswerPermission", { call: payload.call, decision }, session);
    });
    const first = await open(client, {});
    for (let turn = 1; turn <= 7; turn++) await turnOf(client, first, `Question ${turn}?`);
    const switched = async (line: string) => {
      const before = mock.requests.length;
      const { text, follow } = await slash(client, first, line);
      const asked = questions.splice(0).map(({ summary }) => summary);
      const summarised = JSON.stringify(mock.requests.slice(before));
      return { text, follow, asked, turns: [1, 2, 3, 4, 5, 6, 7].filter((n) => summarised.includes(`Question ${n}?`)) };
    };
    const five = await switched("/profiles:french");
    expect(five.asked).toEqual(["take a summary of the last 5 turns into the new session"]);
    expect(five.turns).toEqual([3, 4, 5, 6, 7]);
    expect(five.text).toContain("It knows a summary of the last 5 turns.");
    expect(await switched("/profiles:french --turns 2")).toMatchObject({ asked: [], turns: [6, 7] });
    expect(await switched("/profiles:french --turns all")).toMatchObject({ asked: [], turns: [1, 2, 3, 4, 5, 6, 7] });
    expect(await switched("/profiles:french --empty")).toMatchObject({ asked: [], turns: [] });
    await expect(switched("/profiles:french --turns some")).rejects.toThrow("--turns takes a number or 'all'");
    decision = "deny";
    const none = await switched("/profiles:french");
    expect(none.asked).toHaveLength(1);
    expect(none.turns).toEqual([]);
    expect(none.text).toContain("It knows nothing about this conversation.");
    const second = await open(client, none.follow as CommandPayloads["CreateSession"]);
    const { value } = await slash(client, second, "/sessions:list");
    expect(value).toEqual(expect.arrayContaining([expect.objectContaining({ id: first, status: "paused" })]));
    expect(await open(client, { after: second, resume: first })).toBe(first);
  });
});
