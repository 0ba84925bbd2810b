import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { connectInProcess } from "../../src/control/transports/inproc.js";
import type { ProjectContentOptions } from "../../src/runtime/content/content-options.js";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { type HostedEngine, hostEngine } from "../support/hosted-engine.js";
import { temporaryFolder } from "../support/program.js";
import { TuiClient } from "../support/tui-client.js";
import { until } from "../support/waiting.js";
import { verifies } from "../verifies.js";

const ALT_A = "\x1ba";
const open: { mock: MockModel; hosted: HostedEngine }[] = [];
afterEach(async () => {
  for (const { mock, hosted } of open.splice(0)) {
    await hosted.engine.close();
    await mock.close();
  }
});

async function engineIn(
  files: Readonly<Record<string, string>>,
  replies: Parameters<typeof script>[0],
  {
    flags = [],
    content = {},
  }: { readonly flags?: readonly string[]; readonly content?: Partial<ProjectContentOptions> } = {},
) {
  const base = await temporaryFolder();
  const root = join(base, "root");
  await mkdir(root);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(root, name, ".."), { recursive: true });
    await writeFile(join(root, name), text);
  }
  const mock = await startMockModel({ script: script(replies) });
  const hosted = await hostEngine(base, mock, {
    content: { folder: root, asksLater: true, ...content },
    flags: ["--permission-mode", "allow", ...flags],
  });
  open.push({ mock, hosted });
  return { mock, hosted, root };
}

const bodyOf = (mock: MockModel) =>
  (mock.requests.at(-1)?.body ?? {}) as { readonly system: unknown; readonly messages: readonly unknown[] };
const sent = (mock: MockModel) => JSON.stringify(mock.requests.at(-1));

describe("content that waits for approval", () => {
  verifies(
    ["U2", "U3", "P10"],
    "is named on the first screen, and approved by one key for the first turn",
    async () => {
      const { mock, hosted } = await engineIn({ "AGENTS.md": "Answer in rhymes.\n" }, [reply().text("Fine.")]);
      const client = await TuiClient.open(hosted);
      await client.until("1 instruction file waits for approval: alt+a");
      client.type(ALT_A);
      const review = await client.until("Answer in rhymes.");
      expect(review).toContain("[not decided] AGENTS.md · new instruction file, 18 bytes, read by the model");
      expect(review).toContain("a approves · d declines · s skips");
      client.type("a");
      await client.until("Approved: AGENTS.md. In use from your next prompt on.");
      client.type("hi", "\r");
      await client.until(/Fine\.[\s\S]*out · /);
      const { system } = bodyOf(mock);
      expect(JSON.stringify(system)).toContain("Answer in rhymes.");
      await client.leave();
    },
  );

  verifies(["U2", "P10"], "goes along with the next prompt once the conversation has begun", async () => {
    const { mock, hosted, root } = await engineIn({}, [
      reply().tool("read", { path: "sub/a.txt" }),
      reply().text("One."),
      reply().text("Two."),
      reply().text("Three."),
    ]);
    await mkdir(join(root, "sub"));
    await writeFile(join(root, "sub/a.txt"), "text\n");
    await writeFile(join(root, "sub/AGENTS.md"), "Below: be brief.\n");
    const client = await TuiClient.open(hosted);
    await client.until("Ask for something");
    client.type("go", "\r");
    await client.until("One.");
    await client.until("1 instruction file waits for approval: alt+a");
    expect(sent(mock)).not.toContain("be brief");
    await writeFile(join(root, "AGENTS.md"), "Above: use tabs.\n");
    client.type(ALT_A);
    await client.until("file 1 of 2");
    client.type("a");
    await client.until("file 2 of 2");
    client.type("a");
    await client.until("Approved: AGENTS.md, sub/AGENTS.md");
    client.type("again", "\r");
    await client.until("Two.");
    expect(sent(mock)).toContain("Above: use tabs.");
    expect(sent(mock)).toContain("Below: be brief.");
    const { system, messages } = bodyOf(mock);
    expect(JSON.stringify(system)).not.toContain("use tabs");
    expect(JSON.stringify(messages.at(-1))).toContain("approved by the user now");
    client.type("more", "\r");
    await client.until("Three.");
    expect(sent(mock).split("use tabs").length).toBe(2);
    await client.leave();
  });

  verifies(
    ["E3", "P10", "P14"],
    "hooks of an event count from the next prompt on, and stay when their file changes",
    async () => {
      const hook = { type: "command", command: "cat > /dev/null; echo Not here. >&2; exit 2" };
      const settings = JSON.stringify({ hooks: { PreToolUse: [{ matcher: "Bash", hooks: [hook] }] } });
      const call = reply().tool("bash", { command: "touch made" });
      const { hosted, root } = await engineIn(
        { ".claude/settings.json": settings },
        [call, reply().text("One."), call, reply().text("Two."), call, reply().text("Three.")],
        { flags: ["--allow-project-hooks"] },
      );
      const client = await TuiClient.open(hosted);
      await client.until("waits for approval");
      client.type("go", "\r");
      await client.until("One.");
      expect(existsSync(join(root, "made"))).toBe(true);
      await rm(join(root, "made"));
      client.type(ALT_A);
      await client.until("not decided");
      client.type("a");
      await client.until("Approved: .claude/settings.json");
      client.type("again", "\r");
      await client.until("Two.");
      expect(existsSync(join(root, "made"))).toBe(false);
      await writeFile(join(root, ".claude/settings.json"), "{}");
      client.type("more", "\r");
      await client.until("Three.");
      expect(existsSync(join(root, "made"))).toBe(false);
      await client.leave();
    },
  );

  verifies(
    ["P10", "P14", "U2"],
    "asks with the first program of a project how long such programs run, and keeps the answer",
    async () => {
      const hook = { type: "command", command: "cat > /dev/null; echo Not here. >&2; exit 2" };
      const settings = JSON.stringify({ hooks: { PreToolUse: [{ matcher: "Bash", hooks: [hook] }] } });
      const call = reply().tool("bash", { command: "touch made" });
      const replies = [call, reply().text("One."), call, reply().text("Two.")];
      const content = { allowProjectHooks: false };
      const { hosted, root } = await engineIn({ ".claude/settings.json": settings }, replies, { content });
      const client = await TuiClient.open(hosted);
      await client.until("1 event hook waits for approval: alt+a");
      const approve = async () => {
        client.type(ALT_A);
        await client.until("not decided");
        client.type("a");
        await client.until(/Run approved programs of this project from now on\?\n.*yes .*\n.*only until Oxbow ends/);
      };
      await approve();
      // Without an answer the hook stays undecided.
      client.type("\x1b");
      await client.until("Nothing was decided.");
      await approve();
      client.type("o");
      await client.until("Approved: .claude/settings.json");
      client.type("go", "\r");
      await client.until("One.");
      expect(existsSync(join(root, "made"))).toBe(false);
      client.type("/sources", "\r");
      await client.until(/approved; off: 'sources allow'/);
      client.type("/sources allow", "\r");
      await client.until("run from now on;");
      client.type("/sources", "\r");
      await client.until("Approved programs of this project run since");
      client.type("/sources revoke", "\r");
      await client.until(/run only with\s+--allow-project-hooks again\./);
      await client.leave();
    },
  );

  verifies(["P14"], "keeps over the protocol that approved programs of the project run from now on", async () => {
    const files = { ".oxbow/tools/hello": "#!/bin/sh\necho '{}'\n" };
    const notes: string[] = [];
    const content = { allowProjectHooks: false, notify: (note: string) => void notes.push(note) };
    const { hosted } = await engineIn(files, [], { content });
    expect(notes).toEqual([]);
    const client = hosted.connectPerson();
    const created = await client.send("CreateSession", {});
    const session = created.ok ? created.session : undefined;
    const waiting = await client.query("ListWaitingContent", { diffs: true }, session);
    const items = waiting.ok ? waiting.answer.items : [];
    expect(items).toMatchObject([{ name: ".oxbow/tools/hello", off: true }]);
    const decisions = items.map(({ id, sha256 }) => ({ id, sha256, decision: "approved" as const }));
    expect(await client.send("ApproveContent", { decisions, run_programs: true }, session)).toMatchObject({ ok: true });
    const listed = await client.send("CustomCommand", { namespace: "slash", verb: "sources", payload: {} }, session);
    expect(listed).toMatchObject({ ok: true, value: { value: { programs_run: true } } });
  });

  verifies(
    ["P10"],
    "is not used when it was declined or skipped, and a decision is for the version that was shown",
    async () => {
      const { hosted, root } = await engineIn({ "AGENTS.md": "First. @other.md\n", "other.md": "Other.\n" }, [
        reply().text("Fine."),
      ]);
      const client = await TuiClient.open(hosted);
      await client.until("wait for approval");
      client.type(ALT_A);
      await client.until("file 1 of 2");
      await writeFile(join(root, "AGENTS.md"), "Changed behind the screen. @other.md\n");
      client.type("a", "d");
      await client.until("Not decided, because it has changed since: AGENTS.md");
      await client.until("Declined: other.md");
      const waiting = await client.client.query("ListWaitingContent", {}, client.session);
      expect(waiting.ok && waiting.answer.items.map(({ name }) => name)).toEqual(["AGENTS.md"]);
      client.type(ALT_A);
      await client.until("Changed behind the screen.");
      client.type("s", "\r");
      await client.until("Nothing was decided.");
      await client.leave();
    },
  );

  verifies(
    ["P10", "P14", "U3"],
    "is approved one by one and to its end, whatever keys come ahead of the screen",
    async () => {
      const long = `#!/bin/sh\n${"echo harmless\n".repeat(60)}curl evil\n`;
      const { hosted } = await engineIn(
        { ".oxbow/tools/a": long, ".oxbow/tools/b": "#!/bin/sh\necho b\n", "AGENTS.md": "Words.\n" },
        [],
        { flags: ["--allow-project-hooks"] },
      );
      const client = await TuiClient.open(hosted);
      await client.until("wait for approval");
      client.type(ALT_A);
      await client.until("file 1 of 3");
      client.type("A");
      await client.until("Each file is shown before you accept it");
      client.type("A\r");
      await client.until("Nothing was decided.");
      client.type(ALT_A);
      await client.until("file 1 of 3");
      expect(await client.screen()).not.toContain("curl evil");
      client.type("a");
      await client.until("There was more to read");
      expect(await client.screen()).toContain("file 1 of 3");
      for (let keys = 0; !(await client.screen()).includes("curl evil"); keys++) {
        expect(keys).toBeLessThan(10);
        const before = await client.screen();
        client.type("a");
        await until(async () => (await client.screen()) !== before);
      }
      // Of keys that come at once, those for files that are not on the screen yet do not count.
      client.type("aaaa\r");
      await client.until("Approved: .oxbow/tools/a. In use");
      const waiting = await client.client.query("ListWaitingContent", {}, client.session);
      expect(waiting.ok && waiting.answer.items.map(({ name }) => name)).toEqual(["AGENTS.md", ".oxbow/tools/b"]);
      await client.leave();
    },
  );

  verifies(["P10", "P14"], "is approved over the protocol only by a client that has got this version", async () => {
    const { hosted, root } = await engineIn({ "AGENTS.md": "First. @other.md\n", "other.md": "Second.\n" }, []);
    const client = hosted.connectPerson();
    const created = await client.send("CreateSession", {});
    const session = created.ok ? created.session : undefined;
    const list = async (from: typeof client, request: { diffs?: true }) => {
      const waiting = await from.query("ListWaitingContent", request, session);
      const items = waiting.ok ? waiting.answer.items : [];
      return items.map(({ id, sha256 }) => ({ id, sha256, decision: "approved" as const }));
    };
    const approve = (from: typeof client, decisions: Awaited<ReturnType<typeof list>>) =>
      from.send("ApproveContent", { decisions }, session);
    const refused = { ok: false, failure: { message: expect.stringContaining("has not got the content") } };
    const listed = await list(client, {});
    expect(listed).toHaveLength(2);
    expect(await approve(client, listed)).toMatchObject(refused);
    const other = hosted.connectPerson();
    const [first, second] = await list(other, { diffs: true });
    if (first === undefined || second === undefined) throw new Error("nothing waits");
    // What one client got is not what another one could show.
    expect(await approve(client, [first])).toMatchObject(refused);
    await writeFile(join(root, "AGENTS.md"), "Changed. @other.md\n");
    const changed = (await list(client, {})).find(({ id }) => id === first.id) ?? first;
    expect(changed.sha256).not.toBe(first.sha256);
    expect(await approve(other, [second, changed])).toMatchObject(refused);
    expect(await list(client, {})).toHaveLength(2);
    // A refusal needs no look.
    expect(
      await client.send("ApproveContent", { decisions: [{ ...changed, decision: "refused" }] }, session),
    ).toMatchObject({ ok: true });
    expect(await approve(other, [second])).toMatchObject({ ok: true, value: { approved: ["other.md"] } });
  });

  verifies(["P10", "P2"], "is never approved by an agent, nor by a client without a person", async () => {
    const { hosted } = await engineIn({ "AGENTS.md": "First.\n" }, []);
    const { engine } = hosted;
    for (const [identity, canAnswer] of [
      ["agent", true],
      ["human", false],
    ] as const) {
      const client = connectInProcess(engine.host, { id: engine.newClientId(), canAnswer, identity });
      const created = await client.send("CreateSession", {});
      const session = created.ok ? created.session : undefined;
      const waiting = await client.query("ListWaitingContent", {}, session);
      const [item] = waiting.ok ? waiting.answer.items : [];
      const decisions = [{ id: item?.id ?? "", sha256: item?.sha256 ?? "", decision: "approved" as const }];
      const answer = await client.send("ApproveContent", { decisions }, session);
      expect(answer).toMatchObject({ ok: false, failure: { message: expect.stringContaining("Only a person") } });
    }
  });
});
