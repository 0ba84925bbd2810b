import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { rerun } from "../../../test/support/transcript.js";
import { ManualClock } from "../../base/clock.js";
import { slashLine } from "../../commands/test-support/slash-line.js";
import { sessionCommands } from "./commands.js";
import { KnowledgeBase } from "./knowledge-base.js";
import type { Offer, SessionKnowledge } from "./session-knowledge.js";

let folder: string;
let base: KnowledgeBase;
let offers: readonly Offer[];
/** Goes with the next input: the command that gave it, and the text. */
let given: (readonly [string, string])[];

const root = () => join(folder, "tower");

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-kb-"));
  await mkdir(root());
  const clock = new ManualClock();
  const key = new Uint8Array(32).fill(1);
  base = await KnowledgeBase.open({ path: join(folder, "kb.db"), key, wall: () => clock.wall() });
  [offers, given] = [[], []];
});
afterEach(async () => {
  base.close();
  await rm(folder, { recursive: true });
});

function open() {
  const live: Pick<SessionKnowledge, "port" | "offers" | "give" | "forgetOffers"> = {
    port: async () => ({ base, root: root(), redact: (text) => text.replaceAll("swordfish", "…") }),
    get offers() {
      return offers;
    },
    give: async (source, text) => void given.push([source, text]),
    forgetOffers: () => {
      offers = [];
    },
  };
  const say = slashLine(...sessionCommands(live as SessionKnowledge));
  return { say, cut: (text: string) => text.replaceAll(folder, "BASE") };
}

const TRANSCRIPT = `> kb
The knowledge base is empty. Begin with /kb observe TEXT

> kb project list
No projects yet. /kb project add NAME makes one; /kb observe TEXT also does.

> kb concept list
No concepts.

> kb search lamp
No observation matches. --all searches all projects.

> kb inject
refused: This folder has no observations yet.

> kb accept
refused: There is nothing to accept: Oxbow has offered nothing since.

> kb observe
refused: TEXT is missing. Usage: /kb observe [note|finding|decision|question|hypothesis] TEXT

> kb observe decision
refused: Give the text of the decision.

> kb observe ""
refused: Give the text of the observation.

> kb observe The lamp is lit.
Recorded note #1 in tower (a new project, named after this folder).

> kb observe FINDING The lens has a crack. swordfish
Recorded finding #2 in tower.

> kb observe "hypothesis The crack grows"
Recorded note #3 in tower.

> kb observe hypothesis It grows.
Recorded hypothesis #4 in tower.

> kb observe question Why?
Recorded question #5 in tower.

> kb observe question When?
Recorded question #6 in tower.

> kb observe hypothesis It stops.
Recorded hypothesis #7 in tower.

> kb
1. tower (active, used here): 1 finding, 2 hypotheses, 2 notes, 2 questions
   #7 hypothesis: It stops.
   #6 question: When?
   #5 question: Why?
Concepts: none

> kb project list
   project  status             description
1  tower    active  used here

> kb project add
refused: NAME is missing. Usage: /kb project add NAME [DESCRIPTION]

> kb project add TOWER
refused: There is a project tower already (1).

> kb project add Ships at sea, swordfish
Created the project Ships (number 2). This folder uses it.

> kb project add 2
refused: There is a project Ships already (2).

> kb project list
   project  status             description
1  tower    active
2  Ships    active  used here  at sea, …

> kb project use 1
BASE/tower uses the project tower.

> kb project use nowhere
refused: There is no project nowhere. /kb project list lists them.

> kb project set 2 asleep
refused: There is no status "asleep": give active, paused or concluded.

> kb project set nowhere paused
refused: There is no project nowhere. /kb project list lists them.

> kb project set ships concluded
Ships is concluded.

> kb project list
   project  status                description
1  tower    active     used here
2  Ships    concluded             at sea, …

> kb concept add
refused: NAME is missing. Usage: /kb concept add NAME [DESCRIPTION]

> kb concept add Optics what bends light, swordfish
The knowledge base has the concept Optics.

> kb concept add Rock
The knowledge base has the concept Rock.

> kb concept list
Optics (0): what bends light, …
Rock (0)

> kb link 99 Optics
refused: There is no observation and no project 99. /kb search finds observations.

> kb link nowhere Optics
refused: There is no observation and no project nowhere. /kb search finds observations.

> kb link 2 Optics
#2 is linked to Optics.

> kb link tower Rock
The project tower is linked to Rock.

> kb link #3 #2
#3 → #2: related.

> kb link 3 1 explains it
#3 → #1: explains it.

> kb link 3 3
refused: There is no other observation #3.

> kb link 3 99
refused: There is no other observation #99.

> kb show
refused: NUMBER is missing. Usage: /kb show NUMBER

> kb show 0
refused: There is no observation 0. /kb search finds observations.

> kb show 2
#2 finding in tower, 2026-01-01 00:00
concepts: Optics
#3 → #2: related

The lens has a crack. …

> kb show #3
#3 note in tower, 2026-01-01 00:00
#3 → #1: explains it
#3 → #2: related

hypothesis The crack grows

> kb show x2
refused: There is no observation x2. /kb search finds observations.

> kb search lens
#2 finding: The lens has a crack. …  [tower]

> kb search zebra
No observation matches. --all searches all projects.

> kb project use Ships
BASE/tower uses the project Ships.

> kb search lens
No observation matches. --all searches all projects.

> kb search lens --all
#2 finding: The lens has a crack. …  [tower]

> kb inject
refused: This folder has no observations yet.

> kb inject lens
refused: No observation matches.

> kb inject lens --all
#2 finding: The lens has a crack. …

The model gets this with your next input.

> kb project use tower
BASE/tower uses the project tower.

> kb inject
#1 note: The lamp is lit.
#2 finding: The lens has a crack. …
#3 note: hypothesis The crack grows
#4 hypothesis: It grows.
#5 question: Why?
#6 question: When?
#7 hypothesis: It stops.

The model gets this with your next input.

> kb export --format xml
refused: --format: expected markdown or jsonl, got "xml".

> kb export out.md
BASE/tower/out.md has 7 observations of 2 projects, not encrypted.

> kb export out.md
refused: BASE/tower/out.md exists. --force replaces it.

> kb export out.md --force
BASE/tower/out.md has 7 observations of 2 projects, not encrypted.

> kb export out.JSONL
BASE/tower/out.JSONL has 7 observations of 2 projects, not encrypted.

> kb export lines.txt --format jsonl
BASE/tower/lines.txt has 7 observations of 2 projects, not encrypted.

> kb import nowhere.md
refused: There is no file BASE/tower/nowhere.md.

> kb import broken.jsonl
refused: Oxbow cannot import BASE/tower/broken.jsonl: line 1: there is no type "what". Nothing was changed.

> kb import out.JSONL
New: 0 projects, 0 observations.

> kb forget x
refused: There is no observation x. /kb search finds observations.

> kb forget 99
refused: There is no observation 99. /kb search finds observations.

> kb forget 1
Deleted #1.

> kb forget #2
Deleted #2.

> kb import out.md
New: 0 projects, 2 observations.

> kb import lines.txt
New: 0 projects, 0 observations.

> kb import marked.jsonl
refused: Oxbow cannot import BASE/tower/marked.jsonl: line 1: expected a time, got "". Nothing was changed.

> kb concept list
Optics (1): what bends light, …
Rock (1)

> kb show 2
refused: There is no observation 2. /kb search finds observations.

> kb show 8
#8 note in tower, 2026-01-01 00:00
#3 → #8: explains it

The lamp is lit.

> kb observe finding A long line. A long line. A long line. A long line. A long line. A long line. A long line. A long line. A long line. swordfish
Recorded finding #10 in tower.

> kb
1. tower (active, used here): 2 findings, 2 hypotheses, 2 notes, 2 questions
   concepts: Rock
   #10 finding: A long line. A long line. A long line. A long line. A long line. A long line. A long line. A long li…
   #9 finding: The lens has a crack. …
   #8 note: The lamp is lit.
2. Ships (concluded): no observations
   at sea, …
Concepts: Optics, Rock
`;

it("says what it did and found, and what it refuses, word for word", async () => {
  await writeFile(join(root(), "broken.jsonl"), '{"type":"what"}\n');
  await writeFile(join(root(), "marked.jsonl"), '\ufeff{"type":"project","name":"Ships"}\n');
  expect(await rerun(TRANSCRIPT, open())).toBe(TRANSCRIPT);
  expect(given).toEqual([
    ["/kb inject lens", "#2 finding (tower, 2026-01-01, concepts: Optics)\nThe lens has a crack. …"],
    ["/kb inject", expect.stringMatching(/^#1 note \(tower, 2026-01-01\)\nThe lamp is lit\.\n\n#2 [\s\S]*It stops\.$/)],
  ]);
  const [marked, lines] = await Promise.all(
    ["out.md", "out.JSONL"].map((name) => readFile(join(root(), name), "utf8")),
  );
  expect(marked?.split("\n", 3)).toEqual(["# Knowledge base", "", "## Project tower"]);
  expect(JSON.parse(lines?.split("\n")[0] ?? "")).toMatchObject({ type: "project", name: "tower" });
  expect(await readFile(join(root(), "lines.txt"), "utf8")).toBe(lines);
});

it("records the offers that the user accepts, once", async () => {
  const offer = (text: string): Offer => ({ kind: "decision", text, origin: { session: "sess_1", event: 7 } }) as Offer;
  const { say } = open();
  const some = [offer("Oil it."), offer("Paint it."), offer("Wind it.")];
  offers = some;
  expect(await say("kb accept 4")).toMatchObject({ text: "There is no offer 4: give numbers from 1 to 3." });
  expect(await say("kb accept 0")).toMatchObject({ ok: false });
  expect(await say("kb accept 3 1")).toMatchObject({
    text: "Recorded decision #1, decision #2 in tower (a new project, named after this folder).",
  });
  expect(offers).toEqual([]);
  expect([1, 2].map((id) => base.observation(id))).toMatchObject([
    { text: "Wind it.", session: "sess_1", event: 7 },
    { text: "Oil it." },
  ]);
  offers = some;
  expect(await say("kb accept")).toMatchObject({ text: "Recorded decision #3, decision #4, decision #5 in tower." });
  expect(await say("kb show 3")).toMatchObject({
    text: expect.stringContaining("from: event 7 of sess_1 (oxbow session show sess_1)"),
  });
});

it("finds and gives twenty observations at most, the newest of a project", async () => {
  const { say } = open();
  for (let at = 1; at <= 21; at++) await say(`kb observe The lamp number${at}.`);
  const found = await say("kb search lamp");
  expect(found.text.split("\n")).toHaveLength(20);
  const injected = await say("kb inject");
  expect(injected.text.split("\n").filter((line) => line.startsWith("#"))).toHaveLength(20);
  expect(given[0]?.[1]).not.toContain("number1.");
  expect(given[0]?.[1].indexOf("number2.")).toBeLessThan(given[0]?.[1].indexOf("number21.") ?? 0);
});
