import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import type { Envelope } from "../../src/protocol/envelope.js";
import type { SessionRecord } from "../../src/sessions/store.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { approve } from "../support/approve.js";
import { oxbow, type ProgramResult, providerEnvironment } from "../support/program.js";
import { savedFolders } from "../support/saved-folders.js";
import { verifies } from "../verifies.js";

let mock: MockModel;
let home = "";
let cwd = "";
let id = "";
afterEach(() => mock.close());

const TWO_TURNS = `
reply
  text: I write it.
  tool write {"path": "poem.txt", "content": "a rose\\n"}
reply
  text: A poem about a rose is in poem.txt.
reply
  tool bash {"command": "echo 'a tulip' > poem.txt; mkdir made; echo x > made/x"}
reply
  text: Now it is about a tulip.
`;
const LAST_REPLY = `
reply
  text: Anything else?
`;

function run(args: readonly string[], env: Record<string, string> = {}): Promise<ProgramResult> {
  return oxbow(args, { cwd, env: { OXBOW_HOME: home, ...env } });
}

async function session(...args: string[]): Promise<ProgramResult> {
  return run(["session", ...args]);
}

async function json<T>(...args: string[]): Promise<T> {
  const result = await session(...args, "--json");
  expect(result.stderr).toBe("");
  return JSON.parse(result.stdout) as T;
}

function prompt(words: string, ...flags: string[]): Promise<ProgramResult> {
  return run(["run", "--permission-mode", "allow", ...flags, words], providerEnvironment("anthropic", mock.url));
}

async function exported(which = id): Promise<{ header: Record<string, unknown>; events: Envelope[] }> {
  const lines = (await session("export", which)).stdout.trim().split("\n");
  const [header, ...events] = lines.map((line) => JSON.parse(line) as never);
  return { header: header as never, events: events as Envelope[] };
}

savedFolders(["home", "cwd"], async (made) => {
  mock = await startMockModel({ script: TWO_TURNS });
  home = made.home ?? "";
  cwd = made.cwd ?? "";
  await prompt("write a poem about a rose");
  await prompt("make it a tulip", "--continue");
  id = (await json<SessionRecord[]>("list"))[0]?.id ?? "";
  await mock.close();
});

beforeEach(async () => {
  mock = await startMockModel({ script: LAST_REPLY });
});

describe("oxbow session", () => {
  verifies(["S10"], "lists, names, pins and deletes", async () => {
    expect((await session("list")).stdout).toContain("write a poem about a rose");
    expect((await session("list", "--cwd", home)).stdout).toContain("This folder has no sessions");
    expect(await json<SessionRecord[]>("list", "--all", "--cwd", home)).toHaveLength(1);
    const piece = id.slice(-8).toLowerCase();
    await session("pin", piece);
    await session("rename", piece, "About", "flowers");
    expect(await json<SessionRecord[]>("list", "--pinned")).toMatchObject([
      { id, title: "About flowers", pinned: true },
    ]);
    const refused = await session("delete", id, "--yes");
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("pinned")]);
    await session("unpin", id);
    expect((await session("delete", id)).stderr).toContain("--yes");
    expect((await session("delete", id, "--yes")).code).toBe(0);
    expect(await json("list", "--all")).toEqual([]);
    expect(await readdir(join(home, "data", "undo"))).toEqual([]);
  });

  verifies(["S10", "S6"], "shows the conversation and the calls, whole or by turns", async () => {
    const { stdout } = await session("show", id);
    for (const words of ["write a poem", "A poem about a rose", "Turn 2", "Now it is about a tulip."]) {
      expect(stdout).toContain(words);
    }
    const second = (await session("show", id, "--turn", "2")).stdout;
    expect(second).not.toContain("write a poem");
    expect(second).toContain("make it a tulip");
    const { turns } = await json<{ turns: { number: number; outcome: string; toolCalls: number }[] }>("show", id);
    expect(turns).toMatchObject([
      { number: 1, outcome: "answered", toolCalls: 1 },
      { number: 2, outcome: "answered", toolCalls: 1 },
    ]);
  });

  verifies(["S10"], "finds words in conversations, and reports when there are none", async () => {
    const hits = await json<{ session: string; turn: number; snippet: string }[]>("search", "tulip", '"now it is"');
    expect(hits).toMatchObject([{ session: id, turn: 2 }]);
    const nothing = await session("search", "chrysanthemum");
    expect([nothing.code, nothing.stderr]).toEqual([1, "oxbow: Nothing was found.\n"]);
  });

  verifies(["S6"], "replays without a terminal by printing every step, and runs nothing", async () => {
    const before = mock.requests.length;
    await rm(join(cwd, "poem.txt"));
    const { stdout, code } = await session("replay", id);
    expect(code).toBe(0);
    expect(stdout).toContain("nothing is executed");
    expect(stdout).toContain("Now it is about a tulip.");
    expect(mock.requests).toHaveLength(before);
    expect(await readdir(cwd)).toEqual(["made"]);
  });

  verifies(["S6", "S10"], "branches after a turn; both sessions continue separately", async () => {
    const branch = await json<SessionRecord>("branch", id, "--turn", "1");
    const source = await exported();
    const copy = await exported(branch.id);
    const end = source.events.findIndex((event) => event.kind === "TurnEnded") + 1;
    expect(branch).toMatchObject({ last_event: end, branch_of: { session: id, event: end } });
    expect(copy.events.map(({ kind }) => kind)).toEqual(source.events.slice(0, end).map(({ kind }) => kind));
    const calls = (events: readonly Envelope[]) =>
      events.flatMap((event) => (event.kind === "ToolCallStarted" ? [event.payload.call] : []));
    expect(calls(copy.events)).toHaveLength(1);
    expect(calls(copy.events)[0]).not.toBe(calls(source.events)[0]);
    expect((await json<SessionRecord>("branch", id, "--turn", "1")).id).not.toBe(branch.id);
    expect((await prompt("go on", "--resume", branch.id)).stdout).toBe("Anything else?\n");
    expect(JSON.stringify(mock.requests.at(-1)?.body)).not.toContain("tulip");
    const parted = await json<{ same_turns: number }>("diff", id, branch.id);
    expect(parted.same_turns).toBe(1);
    expect((await session("verify", "--all")).code).toBe(0);
    expect((await session("branch", id, "--turn", "7")).stderr).toContain("has no turn 7");
  });

  verifies(["S6"], "exports to a file and imports it again, under new ids", async () => {
    const file = join(home, "kept.jsonl");
    expect((await session("export", id, "-o", file)).code).toBe(0);
    expect((await session("export", id, "-o", file)).stderr).toContain("already exists");
    const markdown = (await session("export", id, "--format", "markdown")).stdout;
    expect(markdown).toContain("### Turn 2");
    const [imported] = await json<{ id: string; kind: string; events: number }[]>("import", file);
    expect(imported).toMatchObject({ kind: "oxbow" });
    const original = await exported();
    const copy = await exported(imported?.id);
    expect(copy.events.map(({ kind, ts }) => [kind, ts])).toEqual(original.events.map(({ kind, ts }) => [kind, ts]));
    expect((await prompt("go on", "--resume", imported?.id ?? "")).stdout).toBe("Anything else?\n");
    const strange = join(home, "strange.jsonl");
    await writeFile(strange, '{"some": "thing"}\n');
    const refused = await session("import", strange);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/not|no/);
  });

  verifies(["S6"], "imports a transcript of Claude Code, and continues it", async () => {
    const project = join(home, ".claude", "projects", "-w");
    await mkdir(project, { recursive: true });
    const line = (uuid: string, parentUuid: string | null, message: unknown) => {
      const type = (message as { role: string }).role;
      const timestamp = "2026-03-01T10:00:00.000Z";
      return JSON.stringify({ type, uuid, parentUuid, timestamp, sessionId: "s", cwd, isSidechain: false, message });
    };
    const lines = [
      line("1", null, { role: "user", content: "what is in a.txt?" }),
      line("2", "1", {
        role: "assistant",
        model: "claude-x",
        content: [{ type: "tool_use", id: "toolu_1", name: "Read", input: { file_path: "a.txt" } }],
      }),
      line("3", "2", {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "a dandelion" }],
      }),
      line("4", "3", { role: "assistant", model: "claude-x", content: [{ type: "text", text: "A dandelion." }] }),
    ];
    await writeFile(join(project, "old.jsonl"), `${lines.join("\n")}\n`);
    const found = await json<{ path: string; title?: string }[]>("import", "--list");
    expect(found).toMatchObject([{ kind: "claude-code", title: "what is in a.txt?" }]);
    const [imported] = await json<{ id: string }[]>("import", found[0]?.path ?? "");
    expect((await prompt("and?", "--resume", imported?.id ?? "", "--model", "anthropic:m")).stdout).toBe(
      "Anything else?\n",
    );
    const sent = JSON.stringify(mock.requests.at(-1)?.body);
    for (const words of ["what is in a.txt?", "a dandelion", "A dandelion.", "and?"]) expect(sent).toContain(words);
    // A file may not choose the folder that a resumed session works in.
    const elsewhere = join(home, "elsewhere.jsonl");
    await writeFile(elsewhere, lines.join("\n").replaceAll(JSON.stringify(cwd), JSON.stringify(home)));
    const notes = [expect.stringContaining(`The file names the folder ${home}.`)];
    expect(await json("import", elsewhere)).toMatchObject([{ folder: cwd, notes }]);
    expect(await json("import", "--there", elsewhere)).toMatchObject([{ folder: home }]);
  });

  verifies(["T10"], "undoes what files and commands changed, turn by turn, and again", async () => {
    expect(await readFile(join(cwd, "poem.txt"), "utf8")).toBe("a tulip\n");
    const shown = await session("undo", id, "--dry-run");
    expect(shown.stdout).toContain("-a tulip");
    expect(shown.stdout).toContain("+a rose");
    expect((await session("undo", id)).stderr).toContain("--yes");
    expect((await session("undo", id, "--yes")).code).toBe(0);
    expect(await readFile(join(cwd, "poem.txt"), "utf8")).toBe("a rose\n");
    expect(await readdir(cwd)).toEqual(["poem.txt"]);
    await session("undo", id, "--yes");
    expect(await readdir(cwd)).toEqual([]);
    await session("undo", id, "--redo", "--yes");
    expect(await readFile(join(cwd, "poem.txt"), "utf8")).toBe("a rose\n");
    expect((await session("undo", id, "--turn", "9", "--yes")).stderr).toContain("no turn 9");
  });

  verifies(["T10", "U1"], "undoes within a conversation, after it was shown", async () => {
    const env = { OXBOW_HOME: home, ...providerEnvironment("anthropic", mock.url) };
    const input = "/undo\n!cat poem.txt\n/undo yes\n!cat poem.txt\n/undo 9\n/unapply redo yes\n/undo that\n";
    const { stdout, stderr } = await oxbow(["--plain", "--permission-mode", "allow", "--resume", id], {
      cwd,
      env,
      input,
    });
    expect(stdout).toMatch(/Undo of turn 2: .*\/undo yes does it.*a tulip\n.*Reverted .*a rose\n.*Restored/s);
    expect(stderr).toContain("has no turn 9");
    expect(stderr).toContain("Use /undo, /undo TURN or /undo redo");
    expect(await readFile(join(cwd, "poem.txt"), "utf8")).toBe("a tulip\n");
  });

  verifies(["T10"], "does not overwrite what others did since", async () => {
    await writeFile(join(cwd, "poem.txt"), "mine now\n");
    const refused = await session("undo", id, "--yes");
    expect(refused.code).toBe(1);
    expect(`${refused.stdout}${refused.stderr}`).toContain("poem.txt");
    expect(await readFile(join(cwd, "poem.txt"), "utf8")).toBe("mine now\n");
    expect(await readdir(cwd)).toContain("made");
    expect((await session("undo", id, "--yes", "--skip-conflicts")).code).toBe(0);
    expect(await readFile(join(cwd, "poem.txt"), "utf8")).toBe("mine now\n");
    expect(await readdir(cwd)).not.toContain("made");
  });

  verifies(["S5", "S10"], "has nothing to collect that was not announced", async () => {
    const result = await json<{ expired: unknown[]; due_soon: unknown[] }>("gc", "--dry-run");
    expect(result).toMatchObject({ dry_run: true, expired: [], due_soon: [] });
    expect((await session("gc")).stdout).toContain("No announced content");
  });

  verifies(["U6", "S10"], "has the same commands in a conversation, with their values", async () => {
    const slash = async (line: string) => {
      const env = providerEnvironment("anthropic", mock.url);
      const { stdout, stderr, code } = await run(["--continue", "--output-format", "json", line], env);
      expect([code, stderr], line).toEqual([0, ""]);
      return JSON.parse(stdout) as { text: string; value: never };
    };
    const [text, value] = [(await session("list")).stdout, await json("list")];
    for (const line of ["/sessions:list", "/session list", "/sessions"]) {
      const said = await slash(line);
      expect(said, line).toMatchObject({ text: expect.stringContaining(id), value: [{ id }] });
      expect(said.text.split("\n")[0]?.split(/\s+/)).toEqual(text.split("\n")[0]?.split(/\s+/));
      expect(Object.keys(said.value[0])).toEqual(Object.keys((value as object[])[0] ?? {}));
    }
    expect((await slash("/session show --turn 2")).value).toMatchObject({ id, turns: [{ number: 2 }] });
    expect((await slash('/sessions:search tulip "now it is"')).text).toContain(`${id}  turn 2`);
    expect((await slash("/session pin")).value).toEqual({ id, pinned: true });
    expect((await slash("/session:rename this About flowers")).value).toEqual({ id, title: "About flowers" });
    expect((await run(["/session resume x"])).stderr).toContain("too short");
    expect((await run(["/session delete x"])).stderr).toContain("too short");
  });

  verifies(["S10"], "explains itself and typing mistakes", async () => {
    const help = await session("--help");
    expect(help.code).toBe(0);
    for (const name of ["list", "show", "search", "replay", "branch", "undo", "export", "import", "verify", "gc"]) {
      expect(help.stdout).toContain(name);
    }
    expect((await session("undo", "--help")).stdout).toContain("Usage: oxbow session undo");
    expect((await session("lst")).stderr).toContain("Did you mean 'oxbow session list'?");
    expect((await session("show")).stderr).toContain("Which session?");
    expect((await session("show", "zzzzzz")).stderr).toContain("No session id contains");
  });
});

describe("sessions as files", () => {
  verifies(["S7", "S1", "M7"], "are edited by a person between two turns, and move to another provider", async () => {
    const env = { ...providerEnvironment("anthropic", mock.url), ...providerEnvironment("openai", mock.url) };
    for (const name of await readdir(cwd)) await rm(join(cwd, name), { recursive: true });
    await mkdir(join(cwd, ".oxbow", "sessions"), { recursive: true });
    await approve(cwd, { home });
    await mock.close();
    mock = await startMockModel({ script: `${TWO_TURNS}${LAST_REPLY}` });
    const again = { ...env, ANTHROPIC_BASE_URL: mock.url, OPENAI_BASE_URL: `${mock.url}/v1` };
    const ask = (...args: string[]) => run(["run", "--permission-mode", "allow", ...args], again);
    expect((await ask("--provider", "anthropic", "write a poem about a rose")).code).toBe(0);
    const [name = ""] = (await readdir(join(cwd, ".oxbow", "sessions"))).filter((entry) => entry.startsWith("sess_"));
    const messages = join(cwd, ".oxbow", "sessions", name, "messages");
    expect(await readdir(messages)).toEqual([
      "0001-user.md",
      "0002-assistant.md",
      "0003-tool_result.md",
      "0004-assistant.md",
    ]);
    const answer = join(messages, "0004-assistant.md");
    await writeFile(answer, (await readFile(answer, "utf8")).replace("a rose is in", "an edited rose is in"));
    expect((await ask("--continue", "--provider", "openai", "make it a tulip")).code).toBe(0);
    const sent = mock.requests[2];
    expect(sent?.wire).toBe("openai");
    expect(JSON.stringify(sent?.body)).toContain("an edited rose is in");
    const { messages: moved } = (sent?.body ?? { messages: [] }) as { messages: { role: string }[] };
    expect(moved.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "assistant", "user"]);
    const branch = await json<SessionRecord>("branch", name);
    expect((await ask("--resume", branch.id, "--provider", "anthropic", "go on")).stdout).toBe("Anything else?\n");
    expect(JSON.stringify(mock.requests.at(-1)?.body)).toContain("an edited rose is in");
    // The files of the session changed with every call as well, and are none of the commands' doing.
    const plan = (await session("undo", name, "--dry-run", "--json")).stdout;
    expect(plan).toContain("made/x");
    expect(plan).not.toContain(".oxbow");
  });
});
