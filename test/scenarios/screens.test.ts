/** docs/screens.md: what a person sees, taken from the virtual terminal, so that the page cannot become stale. */
import { readFileSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { EngineCompletion } from "../../src/clients/sdk/completion/engine-completion.js";
import { reply, script, startMockModel } from "../../src/testkit/index.js";
import { hostEngine } from "../support/hosted-engine.js";
import { temporaryFolder } from "../support/program.js";
import { TuiClient } from "../support/tui-client.js";
import { verifies } from "../verifies.js";

const PAGE = fileURLToPath(new URL("../../docs/screens.md", import.meta.url));
const [COLUMNS, ROWS] = [90, 28];
const ALT_W = "\x1bw";

const CODE = `export interface Item {
  readonly price: number;
  readonly count: number;
}

/** The sum of all items. */
export function total(items: readonly Item[]): number {
  let sum = 0;
  for (const item of items) sum += item.price * item.count;
  return sum;
}
`;

/** Text that differs from run to run, and the words for it. */
const MASKS: readonly (readonly [RegExp, string])[] = [
  [/(?<=out · )\d+(?:\.\d+)? s\b/g, "4.1 s"],
  [/root-\w{6}/g, "shop"],
  [/\/\S*\/shop\b/g, "~/shop"],
  [/sess_\w{26}/g, "sess_01K8Z5T0XH2QF4N9A7YB3CDEMR"],
  [/\b[0-9A-Z]{8}(?= · |$)/gm, "B3CDEMR0"],
  // Times of calls and turns on a busy machine.
  [/^([✓●] .*?) · \d+s$/g, "$1"],
  [/ \[\d+s\]/g, ""],
  [/ +\d+(?:ms|\.?\d*s)$/g, "  1s"],
  [/after \d+ s\./g, "after 60 s."],
  [/ {2}(?:now|\d+[sm])(?= |$)/g, "  2m"],
  [/tools \(\d+\)/g, "tools (14)"],
  [/: [\d,]+ of 1,000,000 tokens/g, ": 2,773 of 1,000,000 tokens"],
];

/** The sizes of texts that change often. */
const SIZES: Readonly<Record<string, string>> = {
  "prompt of Oxbow": "301",
  "tools (14)": "1,935",
  "skills and folders": "44",
  "your inputs": "8",
  answers: "256",
  "results of tools": "229",
  free: "997,227",
};

/** A row of the table with another number, as wide as the real one. */
function withSize(row: string): string {
  const [, label = "", blanks = "", size = ""] = /^(\S.*?)( {2,})([\d,]+)(?= )/.exec(row) ?? [];
  const known = SIZES[label];
  if (known === undefined) return row;
  return label + known.padStart(blanks.length + size.length) + row.slice(label.length + blanks.length + size.length);
}

interface Screen {
  readonly title: string;
  readonly about: string;
  readonly rows: readonly string[];
}

function masked(row: string): string {
  return withSize(MASKS.reduce((text, [pattern, words]) => text.replace(pattern, words), row)).trimEnd();
}

const REPLIES = [
  reply()
    .tool("todo", {
      todos: [
        { content: "Read the code", status: "completed" },
        { content: "Add the discount", status: "in_progress" },
        { content: "Run the tests", status: "pending" },
      ],
    })
    .usage({ input: 2400, output: 60 }),
  reply().tool("read", { path: "src/total.ts" }).usage({ input: 2500, output: 30 }),
  reply()
    .tool("edit", {
      path: "src/total.ts",
      old: "for (const item of items) sum += item.price * item.count;",
      new: "for (const item of items) sum += item.price * item.count * (1 - item.discount);",
    })
    .usage({ input: 2600, output: 80 }),
  reply().tool("bash", { command: "seq -f 'test %g passed' 1 40" }).usage({ input: 2700, output: 30 }),
  reply()
    .text(
      "`total` takes a **discount** of each item now. All 40 tests pass.\n\n- The sum stays the same where `discount` is 0.\n",
    )
    .usage({ input: 2800, output: 50 }),
  reply()
    .tool("agent", { type: "general", description: "look for callers", prompt: "find the callers of total" })
    .usage({ input: 3000, output: 40 }),
  reply().when("find the callers").text("I search the folder.").tool("ls", {}).usage({ input: 900, output: 20 }),
  reply().text("Working on it. ").delay(60_000).text("Done.").usage({ input: 950, output: 20 }),
  reply().text("Stopped.").usage({ input: 3000, output: 10 }).times(3),
];

async function screens(): Promise<readonly Screen[]> {
  const mock = await startMockModel({ script: script(REPLIES) });
  const hosted = await hostEngine(await temporaryFolder(), mock, { flags: ["--permission-mode", "auto"] });
  onTestFinished(async () => {
    await hosted.engine.close();
    await mock.close();
  });
  await mkdir(join(hosted.root, "src"));
  await writeFile(join(hosted.root, "src/total.ts"), CODE);
  const person = hosted.connectPerson();
  const completion = new EngineCompletion({ client: person, session: () => client.session, clock: systemClock });
  const size = { columns: COLUMNS, rows: ROWS };
  const client: TuiClient = await TuiClient.over(person, { composer: { completion: completion.source }, ...size });
  completion.start();
  const taken: Screen[] = [];
  const take = async (title: string, about: string, wanted: string | RegExp) => {
    await client.until(wanted);
    const rows = await client.process.shown();
    // What has scrolled half away depends on when the screen is taken.
    const prompt = rows.findLastIndex((row) => row.startsWith("› add a discount"));
    const from = prompt === -1 ? rows.findIndex((row) => row !== "") : prompt;
    // The engine of a test has no sandbox.
    const shown = rows.slice(from).filter((row) => !row.includes("Sandbox: none"));
    taken.push({ title, about, rows: shown.map(masked) });
  };

  const closed = async (words: string) => {
    client.type("\x1b");
    await client.until(new RegExp(`^(?![\\s\\S]*${words})`));
  };

  await take("The start", "`oxbow` in a folder.", /\/init writes[\s\S]*^auto · .*0%/m);
  client.type(..."/");
  await take("Commands", "`/` lists them, daily ones first.", "/model [NAME]");
  client.type("\x15", ..."add a discount to total()", "\r");
  await take("A question", "It stands beside the draft, and takes no key while you type.", "not again this session");
  client.type("y");
  await take(
    "A turn",
    "The model works: its list stays above the draft, changes show as a difference, commands with their last lines.",
    /40 tests pass[\s\S]*out · /,
  );
  client.type("\x1b", "\x1b");
  await take("Going back", "Esc Esc: the conversation, the files, or both, from before a prompt.", "Go back before:");
  await closed("Go back before:");
  client.type(..."/context", "\r");
  await take("What fills the window", "`/context`.", /PART +TOKENS[\s\S]*Ask for something/);
  client.type(..."/sessions", "\r");
  await take(
    "Sessions",
    "`/sessions`, or `oxbow resume`: type to search titles and contents.",
    /^(?![\s\S]*esc interrupts)[\s\S]*Resume:\n.*\n +› add a discount/,
  );
  await closed("Resume:");
  client.type(..."who calls total()?", "\r");
  await client.until("look for callers");
  await mock.waitForRequest(8);
  client.type(ALT_W);
  await take(
    "Beside the conversation",
    "Alt-W: subagents and background commands. Enter looks into one.",
    /Working:[\s\S]*1 call/,
  );
  client.type("\x18");
  await client.until("Stopped.");
  await closed("Working:");
  client.type("?");
  await take("Keys", "`?` in an empty draft.", "shift+tab");
  await closed("shift.tab");
  await client.leave();
  return taken;
}

function pageOf(all: readonly Screen[]): string {
  const parts = all.map(
    ({ title, about, rows }) => `## ${title}\n\n${about}\n\n\`\`\`text\n${rows.join("\n")}\n\`\`\`\n`,
  );
  return `# Screens of the terminal client

Use this when you want to see [the terminal client](terminal.md) before you install it. \`npm run screens\` takes these screens from a virtual terminal, and a test fails when they are stale. A terminal adds colours.

${parts.join("\n")}`;
}

verifies(["U2"], "docs/screens.md shows what the client shows: npm run screens", async () => {
  const page = pageOf(await screens());
  if (process.env.OXBOW_WRITE_SCREENS) writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, "utf8")).toBe(page);
});
