/** Slash commands as Markdown files in live sessions, with the mock model. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import type { EngineClient } from "../../src/protocol/client.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { Testbed } from "../../src/security/trust/test-support/testbed.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { type HostedEngine, hostEngine } from "../support/hosted-engine.js";
import { slash, slashTurn } from "../support/slash-turn.js";
import { verifies } from "../verifies.js";

let bed: Testbed;
let mock: MockModel;
let hosted: HostedEngine | undefined;

beforeEach(async () => {
  bed = new Testbed();
  mock = await startMockModel({ script: "reply\n  text: Done.\nloop\n" });
});

afterEach(async () => {
  await hosted?.engine.close();
  await mock.close();
  hosted = undefined;
  bed.remove();
});

async function open(mode = "allow"): Promise<{ readonly client: EngineClient; readonly session: SessionId }> {
  const flags = ["--permission-mode", mode];
  hosted = await hostEngine(bed.base, mock, { home: join(bed.base, "home"), flags, content: { folder: bed.folder } });
  const client = hosted.connect();
  const reply = await client.send("CreateSession", {});
  if (!reply.ok || reply.session === undefined) throw new Error(JSON.stringify(reply));
  return { client, session: reply.session };
}

const lastRequest = () => JSON.stringify(mock.requests.at(-1)?.body);

describe("prompt files", () => {
  verifies(
    ["U6"],
    "are slash commands with arguments, files and the output of commands",
    async () => {
      bed.put("notes.md", "remember the milk");
      bed.put(
        ".claude/commands/git/fix.md",
        "---\ndescription: Fix an issue\nargument-hint: [number]\n---\nFix #$1: !`echo out-$1`. Notes: @notes.md, and @.claude/commands/\n",
      );
      bed.put(".codex/prompts/draft.md", "Draft $TOPIC.");
      bed.put(".oxbow/commands/help.md", "Not the built-in one.");
      await bed.approveAll();
      const { client, session } = await open();
      const { reply, events } = await slashTurn(client, session, "/git:fix 7");
      expect(reply).toMatchObject({ ok: true, value: { state: "started" } });
      expect(events.find(({ kind }) => kind === "TurnStarted")).toMatchObject({
        payload: { input: [{ text: "/git:fix 7" }] },
      });
      expect(lastRequest()).toMatch(/Fix #7: <untrusted-\w+ [^>]*>\\nout-7\\n<\/untrusted/);
      expect(lastRequest()).toContain("remember the milk");
      expect(lastRequest()).toMatch(/<untrusted-\w+ [^>]*commands[^>]*>\\ngit\//);
      // The built-in command keeps its words.
      expect(JSON.stringify(await slash(client, session, "/git fix"))).not.toContain("stands for this prompt");
      expect(mock.requests).toHaveLength(1);
      await slashTurn(client, session, "/prompts:draft TOPIC=parsers");
      expect(lastRequest()).toContain("Draft parsers.");
      await slashTurn(client, session, "/project:help");
      expect(lastRequest()).toContain("Not the built-in one.");
      expect(JSON.stringify(await slash(client, session, "/help"))).toContain("list the commands");
      const commands = await client.query("ListCommands", {}, session);
      const names = commands.ok ? commands.answer.commands.map(({ name, usage }) => `${name} ${usage}`) : [];
      expect(names).toEqual(expect.arrayContaining(["git:fix /git:fix [number]", "prompts:draft /prompts:draft"]));
    },
    90_000,
  );

  verifies(["U6"], "the example works as it is", async () => {
    const example = readFileSync(join(import.meta.dirname, "../../examples/commands/explain.md"), "utf8");
    bed.put(".oxbow/commands/explain.md", example);
    bed.put("a.ts", "export const answer = 42;");
    await bed.approveAll();
    const { client, session } = await open();
    await slashTurn(client, session, '/explain a.ts "For beginners."');
    expect(lastRequest()).toContain("export const answer = 42;");
    expect(lastRequest()).toContain("easy to get wrong. For beginners.");
  });

  verifies(["U6", "P10"], "come and go without a new start, and only when they are approved", async () => {
    const { client, session } = await open();
    bed.put(".oxbow/commands/later.md", "Later.");
    expect(await slashTurn(client, session, "/later")).toMatchObject({ reply: { ok: false } });
    await bed.approveAll();
    const { reply, events } = await slashTurn(client, session, "/later");
    expect(reply).toMatchObject({ ok: true });
    expect(lastRequest()).toContain("Later.");
    // For the completion of clients.
    expect(events.map(({ kind }) => kind)).toContain("SkillRegistryChanged");
  });

  verifies(["U6", "P1"], "run their commands only with permission", async () => {
    bed.put(".oxbow/commands/make.md", "See: !`touch made`\n");
    await bed.approveAll();
    const { client, session } = await open("ask");
    await slashTurn(client, session, "/make");
    expect(lastRequest()).toContain("(touch made: denied)");
    expect(existsSync(join(bed.folder, "made"))).toBe(false);
  });

  verifies(["U6", "L9"], "end without a turn when the user cancels them", async () => {
    bed.put(".oxbow/commands/slow.md", "Wait: !`echo begun; sleep 60`\n");
    await bed.approveAll();
    const { client, session } = await open();
    client.subscribe(({ kind, payload }) => {
      if (kind === "ToolCallProgress" && JSON.stringify(payload).includes("begun")) {
        void client.send("CancelTurn", {}, session);
      }
    });
    const { reply } = await slashTurn(client, session, "/slow");
    expect(reply).toMatchObject({ ok: false, failure: { message: expect.stringContaining("/slow was cancelled") } });
    expect(mock.requests).toEqual([]);
  });

  verifies(["U6"], "may name a model for their turn", async () => {
    bed.put(".oxbow/commands/quick.md", "---\nmodel: claude-haiku-4-5\n---\nQuick.");
    bed.put(".oxbow/commands/odd.md", "---\nmodel: sonnet\n---\nOdd.");
    await bed.approveAll();
    const { client, session } = await open();
    await slashTurn(client, session, "/quick");
    expect(lastRequest()).toContain('"model":"claude-haiku-4-5"');
    const { events } = await slashTurn(client, session, "/odd");
    expect(lastRequest()).not.toContain("claude-haiku-4-5");
    expect(JSON.stringify(events.filter(({ kind }) => kind === "Notice"))).toContain("the model 'sonnet'");
  });
});
