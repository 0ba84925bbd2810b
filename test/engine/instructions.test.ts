/** Instruction files in live sessions, with the mock model: live data, and what stays after compaction. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { withOrigin } from "../../src/base/message-origin.js";
import type { EngineClient } from "../../src/protocol/client.js";
import { type Message, plainText, text } from "../../src/protocol/content.js";
import type { SessionId } from "../../src/protocol/ids.js";
import type { CreatePart } from "../../src/runtime/part.js";
import { discoverContent } from "../../src/security/trust/discover.js";
import { reviewContent } from "../../src/security/trust/review.js";
import { ALICE, NOW, Testbed } from "../../src/security/trust/test-support/testbed.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { type HostedEngine, hostEngine } from "../support/hosted-engine.js";
import { settledTurn, slash } from "../support/slash-turn.js";
import { times } from "../support/thorough.js";
import { verifies } from "../verifies.js";

let bed: Testbed;
let mock: MockModel | undefined;
let hosted: HostedEngine | undefined;

beforeEach(() => {
  bed = new Testbed();
});

afterEach(async () => {
  await hosted?.engine.close();
  await mock?.close();
  hosted = undefined;
  mock = undefined;
  bed.remove();
});

async function open(
  script: string,
  parts: readonly CreatePart[] = [],
): Promise<{ readonly client: EngineClient; readonly session: SessionId }> {
  mock = await startMockModel({ script });
  const flags = ["--permission-mode", "allow"];
  const content = { folder: bed.folder };
  hosted = await hostEngine(bed.base, mock, { home: join(bed.base, "home"), flags, parts, content });
  const client = hosted.connect();
  return { client, session: await create(client) };
}

async function create(client: EngineClient, after?: SessionId): Promise<SessionId> {
  const reply = await client.send("CreateSession", after === undefined ? {} : { after });
  if (!reply.ok || reply.session === undefined) throw new Error(JSON.stringify(reply));
  return reply.session;
}

const bodies = () => (mock?.requests ?? []).map(({ body }) => body as Readonly<Record<string, unknown>>);
const lastInput = () => JSON.stringify((bodies().at(-1)?.messages as readonly unknown[] | undefined)?.at(-1));
const lastRequest = () => JSON.stringify(bodies().at(-1));

describe("markers in instruction files", () => {
  verifies(["X2", "X10"], "give live data with an input, and the prompt stays the same", async () => {
    execFileSync("git", ["init", "-q", bed.folder]);
    bed.put("AGENTS.md", "Date: <!-- @date -->\nFiles:\n<!-- @files -->\nGit: <!-- @git-status -->\n");
    bed.put("src/one.ts", "1");
    bed.put(".hidden/inside.ts", "1");
    bed.put("src/.cache/deep.ts", "1");
    bed.put(".editorconfig", "root = true");
    await bed.approveAll();
    const { client, session } = await open("reply\n  text: Done.\nloop\n");
    await settledTurn(client, session, "first");
    expect(lastInput()).toContain(`[date]\\n${new Date().toISOString().slice(0, 10)}`);
    expect(lastInput()).toMatch(/\[files\]\\n<untrusted-.*one\.ts/);
    const files = /\[files\](.*)\[git-status\]/.exec(lastInput() ?? "")?.[1] ?? "";
    expect(files).toContain(".editorconfig");
    expect(files).not.toMatch(/hidden|inside|cache|deep|\.git\//);
    expect(lastInput()).toMatch(/\[git-status\]\\n<untrusted-.*\?\? src/);
    await settledTurn(client, session, "second");
    expect(lastInput()).not.toContain("[files]");
    bed.put("src/two.ts", "2");
    await settledTurn(client, session, "third");
    expect(lastInput()).toContain("two.ts");
    expect(lastInput()).not.toContain("[date]");
    expect(new Set(bodies().map(({ system }) => JSON.stringify(system))).size).toBe(1);
    expect(JSON.stringify(bodies()[0]?.system)).not.toContain("<!-- @");
  });
});

describe("instructions of folders below", () => {
  verifies(["X1"], "come again in a new conversation of the same folder", async () => {
    bed.put("pkg/AGENTS.md", "Use spaces in pkg.");
    bed.put("pkg/a.ts", "1");
    const lock = bed.lock();
    const { pending } = await reviewContent(
      await discoverContent({ folder: join(bed.folder, "pkg"), home: bed.home }),
      lock,
    );
    for (const { item, change, after } of pending) {
      await lock.record({ decision: "approved", item, change, bytes: after, by: ALICE, at: NOW() });
    }
    const { client, session } = await open('reply\n  tool read {"path": "pkg/a.ts"}\nreply\n  text: Done.\nloop\n');
    await settledTurn(client, session, "look");
    expect(lastRequest()).toContain("Use spaces in pkg.");
    await settledTurn(client, await create(client, session), "look");
    expect(lastRequest()).toContain("Use spaces in pkg.");
  });
});

/** Of the 200 turns, those that run; the others are put into the conversation, because running them takes seconds. */
const TURNS = times(10, 200);

const fillers: CreatePart = () => ({
  name: "fillers",
  hooks: {
    start: [
      {
        name: "09-fillers",
        run: ({ input, conversation, firstEvent }) => {
          if (!plainText(input).startsWith("input 0 ")) return undefined;
          for (let turn = TURNS; turn < 200; turn++) {
            const said = withOrigin(
              { role: "user", content: [text(`earlier ${turn} ${"word ".repeat(20)}`)] },
              firstEvent,
            );
            const answer = { role: "assistant", content: [text(`Earlier answer ${turn}. `.repeat(20))] } as const;
            conversation.push(said as Message, withOrigin(answer, firstEvent));
          }
          return undefined;
        },
      },
    ],
  },
});

describe("after compaction of 200 turns", () => {
  verifies(
    ["X1", "X3", "M16"],
    "every rule, the skill in use, pinned lines, the plan and the open to-dos are still in the request",
    async () => {
      const rules = Array.from({ length: 60 }, (_, index) => `- Rule ${index}: keep invariant number ${index * 7}.`);
      bed.put("AGENTS.md", rules.join("\n"));
      bed.put(".oxbow/prompts/10-style.md", "Answer in short sentences.");
      const steps = Array.from({ length: 40 }, (_, index) => `${index + 1}. Step ${index * 3} of the release.`);
      bed.put(
        ".oxbow/skills/release/SKILL.md",
        `---\nname: release\ndescription: Releases.\n---\n${steps.join("\n")}\n`,
      );
      await bed.approveAll();
      const replies = Array.from({ length: TURNS }, (_, index) => `reply\n  text: ${`Answer ${index}. `.repeat(20)}`);
      const { client, session } = await open(
        `reply\n  text: The plan: first measure, then cut.\nreply\n  tool todo {"todos": [{"text": "measure twice", "status": "done"}, {"text": "cut once", "status": "in_progress"}, {"text": "sand it", "status": "pending"}]}\nreply\n  text: Noted.\nreply\n  tool skill {"name": "release"}\n${replies.join("\n")}\n${"reply\n  text: The summary.\nreply\n  text: Done.\n".repeat(2)}`,
        [fillers],
      );
      await client.send("EnterPlanMode", {}, session);
      await settledTurn(client, session, "plan it");
      await hosted?.connectPerson().send("ExitPlanMode", { approve: true }, session);
      await settledTurn(client, session, "keep a list");
      await slash(client, session, "/context add Ports begin at 8080.");
      for (let turn = 0; turn < TURNS; turn++)
        await settledTurn(client, session, `input ${turn} ${"word ".repeat(20)}`);
      const work = ["The plan: first measure, then cut.", "[x] measure twice", "[>] cut once", "[ ] sand it", "8080."];
      // What a summary keeps, the next one keeps, too.
      for (let again = 0; again < 2; again++) {
        const compacted = await slash(client, session, "/compact");
        expect(compacted).toMatchObject({ ok: true });
        await settledTurn(client, session, `go on ${"word ".repeat(4000 * (1 - again))}`);
        const request = lastRequest();
        expect(request).toContain("The summary.");
        expect(request).not.toContain("earlier 150");
        for (const line of [...rules, ...steps, ...work, "Answer in short sentences."]) expect(request).toContain(line);
      }
    },
    120_000,
  );

  verifies(["X3"], "a resumed session keeps the skill in use, and has the copies of its files again", async () => {
    bed.put(
      ".oxbow/skills/release/SKILL.md",
      "---\nname: release\ndescription: Releases.\n---\nAlways tag the release.\n",
    );
    bed.put(".oxbow/skills/release/scripts/tag.sh", "echo tagged");
    await bed.approveAll();
    const filler = `Answer. ${"word ".repeat(600)}`;
    const first = await open(`reply\n  tool skill {"name": "release"}\nreply\n  text: ${filler}\nloop\n`);
    const loaded = JSON.stringify(await settledTurn(first.client, first.session, "release it"));
    const folder = /Approved copies of them are in ([^ ]+)\. /.exec(loaded)?.[1] ?? "";
    await hosted?.engine.close();
    await mock?.close();
    expect(existsSync(folder)).toBe(false);
    const second = await open(`reply\n  text: ${filler}\nreply\n  text: The summary.\nreply\n  text: Done.\n`);
    const resumed = await second.client.send("CreateSession", { resume: first.session });
    expect(resumed).toMatchObject({ ok: true, session: first.session });
    await settledTurn(second.client, first.session, "go on");
    expect(existsSync(join(folder, "scripts/tag.sh"))).toBe(true);
    expect(await slash(second.client, first.session, "/compact")).toMatchObject({ ok: true });
    await settledTurn(second.client, first.session, "and then?");
    expect(lastRequest()).toContain("The summary.");
    expect(lastRequest()).toContain("Always tag the release.");
  });
});
