import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { rerun } from "../../../test/support/transcript.js";
import { ManualClock } from "../../base/clock.js";
import { CONTEXT, slashLine } from "../../commands/test-support/slash-line.js";
import { failure } from "../../protocol/errors.js";
import { roots } from "../../system/xdg-paths.js";
import { sessionCommands } from "./commands.js";
import { openMemories } from "./memories.js";
import type { SessionMemory } from "./session-memory.js";

let base: string;
let clock: ManualClock;
/** Holds what the model answers when it is asked for proposals. */
let answer: unknown;
let live: SessionMemory;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "oxbow-memories-"));
  clock = new ManualClock();
  const [root, redact] = [join(base, "work"), (text: string) => text.replaceAll("swordfish", "…")];
  await mkdir(root);
  answer = { text: "" };
  live = {
    memories: openMemories({ roots: roots({ OXBOW_HOME: join(base, "home") }), clock, root, redact }),
    proposals: [],
    isWanted: false,
    last: undefined,
    context: {
      session: "sess_1",
      clock,
      conversation: () => [{}],
      aside: async () => answer,
      safeText: async () => ({ redact }),
    },
  } as unknown as SessionMemory;
});
afterEach(() => rm(base, { recursive: true }));

const say = (line: string) => slashLine(...sessionCommands(async () => live))(line);
const cut = (text: string) => text.replaceAll(base, "BASE").replace(/-[0-9a-f]{16}\b/g, "-MARK");

const TRANSCRIPT = `> memory
No memories yet. Say "remember that …" to the model, or /memory add TEXT.

> memory why
No input has been sent with memories yet.

> memory find tabs
No memory has these words.

> memory log
Nothing was changed yet.

> memory add
refused: Give the text to remember.

> memory add The user prefers tabs: always. swordfish
Saved as user/the-user-prefers-tabs-always.

> memory add feedback Never use semicolons.
Saved as user/never-use-semicolons.

> memory add project: The tests need Docker.
Saved as project/the-tests-need-docker.

> memory add "project The quoted one."
Saved as user/project-the-quoted-one.

> memory add Deploy on Fridays. --type reference --name deploy --description "When to deploy" --tag ops --tag friday
Saved as project/deploy.

> memory add A fact. --type fact
refused: --type: expected user, feedback, project, reference.

> memory add Mine. --scope shared
refused: --scope: expected user or project.

> memory add The tests need Docker and Node. --scope project
Saved as project/the-tests-need-docker-and-node.
About the same subject: project/the-tests-need-docker: The tests need Docker.

> memory add user ""
refused: The memory is empty.

> memory
name                            scope    type       changed  description
never-use-semicolons            user     feedback   8h ago   Never use semicolons.
project-the-quoted-one          user     user       6h ago   project The quoted one.
the-user-prefers-tabs-always    user     user       9h ago   The user prefers tabs: always. …
deploy                          project  reference  5h ago   When to deploy
the-tests-need-docker-and-node  project  project    2h ago   The tests need Docker and Node.
the-tests-need-docker           project  project    7h ago   The tests need Docker.

About the same subject; they may contradict each other:
project/the-tests-need-docker-and-node and project/the-tests-need-docker

> memory list --scope project
name                            scope    type       changed  description
deploy                          project  reference  6h ago   When to deploy
the-tests-need-docker-and-node  project  project    3h ago   The tests need Docker and Node.
the-tests-need-docker           project  project    8h ago   The tests need Docker.

About the same subject; they may contradict each other:
project/the-tests-need-docker-and-node and project/the-tests-need-docker

> memory list --type reference
name    scope    type       changed  description
deploy  project  reference  7h ago   When to deploy

> memory list --type feedback --scope project
No memory is of this kind.

> memory show
refused: Give the name of a memory ('oxbow memory list').

> memory show deploy
project/deploy  (reference)
When to deploy
Saved 2026-01-01T09:00:00.000Z, changed 2026-01-01T09:00:00.000Z, by the user
Tags: ops, friday
BASE/home/data/memory/projects/work-MARK/deploy.md

Deploy on Fridays.

> memory show nowhere
refused: There is no memory 'nowhere'.

> memory show user/deploy
refused: There is no memory 'user/deploy'. There is: project/deploy.

> memory show project/DEPLOY.md
project/deploy  (reference)
When to deploy
Saved 2026-01-01T09:00:00.000Z, changed 2026-01-01T09:00:00.000Z, by the user
Tags: ops, friday
BASE/home/data/memory/projects/work-MARK/deploy.md

Deploy on Fridays.

> memory show the-tests-need-docker
project/the-tests-need-docker  (project)
The tests need Docker.
Saved 2026-01-01T07:00:00.000Z, changed 2026-01-01T07:00:00.000Z, by the user
BASE/home/data/memory/projects/work-MARK/the-tests-need-docker.md
About the same subject: project/the-tests-need-docker-and-node: The tests need Docker and Node.

The tests need Docker.

> memory find tabs always
user/the-user-prefers-tabs-always: The user prefers tabs: always. …

> memory find docker
project/the-tests-need-docker: The tests need Docker.
project/the-tests-need-docker-and-node: The tests need Docker and Node.

> memory find zebra
No memory has these words.

> memory edit deploy
refused: Give the new text: /memory edit deploy TEXT. 'oxbow memory edit deploy' opens BASE/home/data/memory/projects/work-MARK/deploy.md in your editor.

> memory edit deploy Deploy on Mondays.
Changed project/deploy.

> memory edit deploy --type project
Changed project/deploy.

> memory edit deploy -d "On which day"
Changed project/deploy.

> memory edit nowhere Text.
refused: There is no memory 'nowhere'.

> memory show deploy
project/deploy  (project)
On which day
Saved 2026-01-01T09:00:00.000Z, changed 2026-01-02T06:00:00.000Z, by the user
Tags: ops, friday
BASE/home/data/memory/projects/work-MARK/deploy.md

Deploy on Mondays.

> memory add Use tabs. --name style
Saved as user/style.
About the same subject: user/the-user-prefers-tabs-always: The user prefers tabs: always. …

> memory add Use tabs. --name style --scope project
Saved as project/style.
About the same subject: user/the-user-prefers-tabs-always: The user prefers tabs: always. …

> memory show style
refused: Several memories have that name: user/style, project/style.

> memory forget style
refused: Several memories have that name: user/style, project/style.

> memory forget user/style
Forgot user/style.

> memory forget nowhere
refused: There is no memory 'nowhere'.

> memory forget project/style
Forgot project/style.

> memory log --limit 0
refused: --limit: expected a whole number from 1.

> memory log --limit 1.5
refused: --limit: expected a whole number from 1.

> memory log --limit 3
2026-01-02T15:00:00.000Z  forget  project/style  by the user in sess_1
2026-01-02T13:00:00.000Z  forget  user/style  by the user in sess_1
2026-01-02T10:00:00.000Z  save    project/style  by the user in sess_1

> memory log
2026-01-02T15:00:00.000Z  forget  project/style  by the user in sess_1
2026-01-02T13:00:00.000Z  forget  user/style  by the user in sess_1
2026-01-02T10:00:00.000Z  save    project/style  by the user in sess_1
2026-01-02T09:00:00.000Z  save    user/style  by the user in sess_1
2026-01-02T06:00:00.000Z  update  project/deploy  by the user in sess_1
2026-01-02T05:00:00.000Z  update  project/deploy  by the user in sess_1
2026-01-02T04:00:00.000Z  update  project/deploy  by the user in sess_1
2026-01-01T12:00:00.000Z  save    project/the-tests-need-docker-and-node  by the user in sess_1
2026-01-01T09:00:00.000Z  save    project/deploy  by the user in sess_1
2026-01-01T08:00:00.000Z  save    user/project-the-quoted-one  by the user in sess_1
2026-01-01T07:00:00.000Z  save    project/the-tests-need-docker  by the user in sess_1
2026-01-01T06:00:00.000Z  save    user/never-use-semicolons  by the user in sess_1
2026-01-01T05:00:00.000Z  save    user/the-user-prefers-tabs-always  by the user in sess_1

> memory on
The model has the memory tool in this session.

> memory keep
refused: Give numbers of proposals, or all.

> memory keep 1
refused: There are no proposals. /memory extract makes some.
`;

it("says what it did and found, and what it refuses, word for word", async () => {
  const transcript = [...TRANSCRIPT.matchAll(/^> [\s\S]*?(?=\n\n> |\n$)/gm)].map(([part]) => `${part}\n`);
  const said: string[] = [];
  // Each command comes an hour later.
  for (const part of transcript) {
    said.push(await rerun(part, { say, cut }));
    clock.advance(3_600_000);
  }
  expect(said.join("\n")).toBe(TRANSCRIPT);
  expect(live.isWanted).toBe(true);
});

it("shows the proposals of the model, and keeps those that the user names, redacted", async () => {
  const proposals = [
    '{"type":"user","content":"Likes tea, swordfish."}',
    '{"type":"project","content":"Ships on Fridays."}',
    '{"type":"feedback","content":"Say less."}',
  ];
  answer = { text: proposals.join("\n") };
  expect(await say("memory extract")).toMatchObject({
    text: "1. (user, user) Likes tea, ….\n2. (project, project) Ships on Fridays.\n3. (feedback, user) Say less.\n\nNothing is saved yet. Save some with: /memory keep 1 2, or /memory keep all",
    value: [{ number: 1, type: "user", scope: "user", body: "Likes tea, …." }, { number: 2 }, { number: 3 }],
  });
  for (const wrong of ["0", "4", "1 4", "x", "1.5"]) {
    expect(await say(`memory keep ${wrong}`)).toMatchObject({ ok: false, text: "Give numbers from 1 to 3, or all." });
  }
  expect((await live.memories.list()).entries).toEqual([]);
  expect(await say("memory keep 3,1 3")).toMatchObject({ text: "Saved: user/say-less, user/likes-tea." });
  expect(await say("memory keep all 2")).toMatchObject({
    text: "Saved: user/likes-tea-2, project/ships-on-fridays, user/say-less-2.",
  });
  expect(await say("memory log -n 1")).toMatchObject({ text: expect.stringContaining("by the user in sess_1") });
  answer = { text: "Nothing." };
  const nothing = { text: "Nothing in this conversation seems worth remembering.", value: [] };
  expect(await say("memory extract")).toMatchObject(nothing);
  answer = { failure: failure("Overloaded", { name: "p" }) };
  expect(await say("memory extract")).toMatchObject({ ok: false });
  answer = { cancelled: true };
  expect(await say("memory extract")).toMatchObject({ ok: false, text: "Cancelled: nothing was saved." });
});

it("says why memories went along, and at most twenty that did not", async () => {
  const entry = (name: string) => ({ scope: "user", name });
  const others = Array.from({ length: 22 }, (_, at) => ({
    ...{
      entry: entry(`other-${at}`),
      chosen: false,
      why: "no word of it is in the input",
      words: [],
      score: 0,
      tokens: 3,
    },
  }));
  const one = { entry: entry("tea"), chosen: true, why: "tea", words: ["tea"], score: 0.456, tokens: 7 };
  const last = {
    input: `Make tea.${" x".repeat(60)}`,
    selection: { groups: [], considered: [others[0], one, ...others.slice(1)], tokens: 7 },
  };
  live = { ...live, last } as unknown as SessionMemory;
  const said = await say("memory why");
  expect(said.text.split("\n").slice(0, 5)).toEqual([
    `With "${last.input.slice(0, 80)}":`,
    "1 went along, 7 tokens:",
    "  user/tea  7 tokens, score 0.46. tea.",
    "Left out:",
    "  user/other-0  no word of it is in the input.",
  ]);
  expect(said.text.split("\n").slice(-2)).toEqual(["  user/other-19  no word of it is in the input.", "  and 2 more"]);
  live = {
    ...live,
    last: { input: "Hm.", selection: { groups: [], considered: others.slice(2), tokens: 0 } },
  } as unknown as SessionMemory;
  const none = await say("memory why");
  expect(none.text.split("\n").slice(0, 2)).toEqual(['With "Hm.":', "No memory went along."]);
  expect(none.text).not.toContain("more");
});

it("opens a memory in an editor where there is one, and keeps a text that is not used", async () => {
  await say("memory add Old. --name tea");
  const [edit] = sessionCommands(async () => live).filter(({ name }) => name === "memory:edit");
  const registry = (after: string | undefined) => {
    const warnings: string[] = [];
    const seen: string[] = [];
    const context = {
      ...CONTEXT,
      warn: (text: string) => void warnings.push(text),
      edit: async (text: string) => {
        seen.push(text);
        return after;
      },
    };
    const args = { text: (name: string) => (name === "NAME" ? "tea" : undefined), flag: () => undefined };
    return { result: edit?.run(args as never, context as never), warnings, seen };
  };
  expect(await registry(undefined).result).toEqual({ text: "Nothing was changed.", value: { changed: false } });
  const changed = registry("---\ntype: user\n---\n\nNew.\n");
  expect(await changed.result).toMatchObject({ text: "Changed user/tea.", value: { name: "tea" } });
  expect(changed.seen[0]).toContain("\nOld.\n");
  expect(await say("memory show tea")).toMatchObject({ text: expect.stringMatching(/\n\nNew\.$/) });
  const broken = registry("---\ntype: fact\n---\n\nNew.\n");
  expect(await broken.result).toMatchObject({ text: "", exitCode: 1, value: { changed: true } });
  expect(broken.warnings).toEqual([expect.stringContaining("tea.md, but it is not used: ")]);
  expect(await say("memory")).toMatchObject({ text: expect.stringContaining("\n\nNot used:\n") });
});
