/** Turns of a stored session run again: in a worktree of its own, or against the recorded results. */
import { execFileSync } from "node:child_process";
import { readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import type { Comparison } from "../../src/protocol/queries.js";
import type { SessionRecord } from "../../src/sessions/store.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { approve } from "../support/approve.js";
import { oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const mocks: MockModel[] = [];
const trees: string[] = [];
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
  for (const tree of trees.splice(0)) await rm(dirname(tree), { recursive: true, force: true });
});

const FIRST = `
reply
  tool write {"path": "b.txt", "content": "hello\\n"}
reply
  text: Turn one is done.
reply
  tool edit {"path": "a.txt", "old": "one", "new": "two"}
  tool write {"path": "c.txt", "content": "new\\n"}
reply
  text: Turn two is done.
`;

/** A repository with a session of two turns; a person edits a file between them. */
async function machine(instructions?: string) {
  const home = await temporaryFolder();
  const cwd = await realpath(await temporaryFolder());
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd, encoding: "utf8" });
  git("init", "-q");
  await writeFile(join(cwd, ".gitignore"), "ignored\n");
  await writeFile(join(cwd, "a.txt"), "one\n");
  await writeFile(join(cwd, "deleted.txt"), "in the last commit\n");
  if (instructions !== undefined) {
    await writeFile(join(cwd, "AGENTS.md"), instructions);
    await approve(cwd, { home });
  }
  git("add", ".");
  git("commit", "-q", "-m", "first");
  await rm(join(cwd, "deleted.txt"));
  await writeFile(join(cwd, "ignored"), "not copied");
  const run = async (script: string, ...args: readonly string[]) => {
    const mock = await startMockModel({ script: script || "reply\n  text: none\n" });
    mocks.push(mock);
    const env = { OXBOW_HOME: home, ...providerEnvironment("anthropic", mock.url) };
    const result = await oxbow(args, { cwd, env });
    return { ...result, requests: mock.requests, failures: mock.failures };
  };
  const sessions = async () =>
    JSON.parse((await run("", "session", "list", "--all", "--json")).stdout) as SessionRecord[];
  const mock = await startMockModel({ script: FIRST });
  mocks.push(mock);
  const env = { OXBOW_HOME: home, ...providerEnvironment("anthropic", mock.url) };
  const mode = ["--permission-mode", "allow"];
  expect((await oxbow(["run", ...mode, "first"], { cwd, env })).code).toBe(0);
  await writeFile(join(cwd, "b.txt"), "by hand\n");
  expect((await oxbow(["run", "--continue", ...mode, "second"], { cwd, env })).stdout).toContain("Turn two");
  const id = (await sessions())[0]?.id ?? "";
  const newest = async () => {
    const [made] = await sessions();
    if (made !== undefined && made.cwd !== cwd) trees.push(made.cwd);
    return made as SessionRecord;
  };
  return { cwd, git, run, sessions, id, newest, mode };
}

const OTHER = `
reply
  tool read {"path": "a.txt"}
  tool read {"path": "b.txt"}
reply
  tool write {"path": "d.txt", "content": "other\\n"}
reply
  text: Something else.
`;

describe("a turn that runs again", () => {
  verifies(
    ["S12"],
    "finds the files of its moment in a worktree, and changes neither the workspace nor the original",
    async () => {
      const { cwd, git, run, id, newest, sessions, mode } = await machine();
      const before = git("status", "--short");
      const again = await run(OTHER, "session", "rerun", id, "--from", "2", ...mode, "--effort", "high");
      expect([again.code, again.stdout]).toEqual([0, "Something else.\n"]);
      const sent = JSON.stringify(again.requests[1]?.body);
      expect(sent, "a.txt is as the second turn found it").toContain("one");
      expect(sent, "b.txt is as the person left it between the turns").toContain("by hand");
      const { cwd: tree, branch_of, id: copy, title } = await newest();
      expect([branch_of?.session, title]).toEqual([id, "first (turn 2 again)"]);
      expect((await readdir(tree)).sort()).toEqual([".git", ".gitignore", "a.txt", "b.txt", "d.txt"]);
      expect(git("status", "--short")).toBe(before);
      expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("two\n");
      const compared = await run("", "session", "compare", id, copy, "--json");
      const { same_turns, turns, sessions: sides } = JSON.parse(compared.stdout) as Comparison;
      expect(same_turns).toBe(1);
      expect(turns).toMatchObject([
        {
          number: 2,
          same: false,
          sides: [
            {
              files: [
                { path: "a.txt", change: "changed" },
                { path: "c.txt", change: "new" },
              ],
              calls: 2,
            },
            { files: [{ path: "d.txt", change: "new", added: 1 }], calls: 3 },
          ],
        },
      ]);
      expect(sides[1]?.branch_of?.session).toBe(id);
      const script = 'reply\n  tool read {"path": "d.txt"}\nreply\n  text: Again.\n';
      const deeper = await run(script, "session", "rerun", copy, "--from", "2", "--prompt", "look", ...mode);
      expect([deeper.code, deeper.stdout]).toEqual([0, "Again.\n"]);
      expect(JSON.stringify(deeper.requests[1]?.body), "d.txt is of a later moment").not.toContain("other\\n");
      const below = await newest();
      const beside = JSON.parse((await run("", "session", "branch", below.id, "--json")).stdout) as SessionRecord;
      await run("", "session", "delete", below.id, "--yes");
      expect(await readdir(below.cwd), "another session works there").toContain("a.txt");
      await run("", "session", "delete", beside.id, "--yes");
      await expect(readdir(below.cwd)).rejects.toThrow("ENOENT");
      const gone = await run("", "session", "delete", copy, "--yes");
      expect(gone.code).toBe(0);
      expect((await sessions()).map((each) => each.id)).toEqual([id]);
      expect(git("worktree", "list").trim().split("\n")).toHaveLength(1);
      expect(git("branch", "--list", "oxbow/*")).toBe("");
      await expect(readdir(dirname(tree))).rejects.toThrow("ENOENT");
    },
  );

  verifies(["S12"], "takes another prompt and other instructions, which need no approval", async () => {
    const { cwd, run, id, newest, mode } = await machine("Say everything twice.\n");
    const file = join(cwd, "ignored");
    await writeFile(file, "Say it once.\n");
    const script = "reply\n  text: Other.\n";
    const again = await run(
      script,
      "session",
      "rerun",
      id,
      "--from",
      "1",
      "--prompt",
      "instead",
      "--instructions",
      file,
      ...mode,
    );
    await newest();
    expect([again.code, again.stdout]).toEqual([0, "Other.\n"]);
    const sent = JSON.stringify(again.requests[0]?.body);
    expect(sent).toContain("Say it once.");
    expect(sent).not.toContain("Say everything twice.");
    expect(sent).toContain("instead");
    expect(again.requests, "only the turn with the prompt runs").toHaveLength(1);
    const reads = await run(
      script,
      "session",
      "rerun",
      id,
      "--from",
      "2",
      "--tool-set",
      "read",
      "--model",
      "claude-opus-4-1",
      ...mode,
    );
    await newest();
    const asked = reads.requests[0]?.body as { tools: { name: string }[]; model: string };
    expect(asked.tools.map(({ name }) => name)).not.toContain("write");
    expect(asked.model).toBe("claude-opus-4-1");
    const denied = await run(OTHER, "session", "rerun", id, "--from", "2", "--deny", "write: d.txt", ...mode);
    const { cwd: tree } = await newest();
    expect([denied.code, (await readdir(tree)).includes("d.txt")], "another rule holds there").toEqual([0, false]);
    const kept = await run(script, "session", "rerun", id, "--from", "2", "--prompt", "more", ...mode);
    await newest();
    expect(JSON.stringify(kept.requests[0]?.body), "what was approved is approved in the copy").toContain(
      "Say everything twice.",
    );
  });

  verifies(["S12", "S6"], "is exported as a page, without the parts that the person names", async () => {
    const { run, id, cwd } = await machine();
    const file = join(cwd, "ignored");
    expect((await run("", "session", "export", id, "--html", "--without", "all")).stderr).toContain(
      "--without: expected thinking, calls",
    );
    expect((await run("", "session", "export", id, "--without", "costs")).stderr).toContain("--without is for --html");
    const shown = await run("", "session", "export", id, "--html", "--without", "results,costs", "--without", "folder");
    expect(shown.stdout).toMatch(
      /^<!doctype html>[\s\S]*Left out<\/dt><dd>results, costs, folder<\/dd>[\s\S]*<\/html>\n$/,
    );
    expect(shown.stdout).not.toContain(cwd);
    await rm(file);
    await run("", "session", "export", id, "-o", `${file}.html`);
    expect(await readFile(`${file}.html`, "utf8")).toContain("<b>edit</b> a.txt");
  });

  verifies(["S12"], "needs a repository and a turn that is there", async () => {
    const { run, id, cwd, git, sessions } = await machine();
    const fails = async (...args: readonly string[]) => (await run("", "session", "rerun", ...args)).stderr;
    expect(await fails(id)).toContain("Which turn?");
    expect(await fails(id, "--from", "3")).toContain("has no turn 3; the last one is 2");
    expect(await fails(id, "--from", "2", "--to", "1")).toContain("--to is before --from");
    expect(await fails(id, "--from", "1", "--output-format", "xml")).toContain("--output-format: expected");
    expect(git("worktree", "list").trim().split("\n"), "what could not start leaves nothing").toHaveLength(1);
    await rm(join(cwd, ".git"), { recursive: true });
    expect(await fails(id, "--from", "1")).toContain("is in no git repository");
    expect(await sessions()).toHaveLength(1);
  });
});

describe("a turn that runs against recorded results", () => {
  verifies(
    ["S12"],
    "runs no tool, also when the session is resumed, and ends where a call was not recorded",
    async () => {
      const { cwd, git, run, id, newest, mode } = await machine();
      await rm(join(cwd, "c.txt"));
      const before = git("status", "--short");
      const same = await run(FIRST, "session", "rerun", id, "--from", "1", "--to", "1", "--recorded", ...mode);
      expect([same.code, same.stdout]).toEqual([0, "Turn one is done.\n"]);
      const { id: copy, cwd: place } = await newest();
      expect(place).toBe(cwd);
      // The result of the second turn is in the record as well.
      const next = await run(
        FIRST.slice(FIRST.indexOf("reply\n  tool edit")),
        "run",
        "--resume",
        copy,
        ...mode,
        "second",
      );
      expect([next.code, next.stdout]).toEqual([0, "Turn two is done.\n"]);
      expect(git("status", "--short")).toBe(before);
      const other = await run(
        OTHER,
        "session",
        "rerun",
        id,
        "--from",
        "2",
        "--recorded",
        ...mode,
        "--output-format",
        "json",
      );
      expect(other.code).toBe(1);
      expect(JSON.parse(other.stdout)).toMatchObject({
        outcome: "failed",
        failure: {
          reason: "CallNotRecorded",
          message: expect.stringContaining(
            'the model called read {"path":"a.txt"}, and there is no result of such a call left (its next one: edit',
          ),
        },
      });
      expect(git("status", "--short")).toBe(before);
    },
  );

  verifies(["S12"], "gives each result once", async () => {
    const { run, id, mode } = await machine();
    const twice = 'reply\n  tool write {"path": "b.txt", "content": "hello\\n"}\n'.repeat(2);
    const again = await run(twice, "session", "rerun", id, "--from", "1", "--recorded", ...mode);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain('diverge: the model called write {"path":"b.txt","content":"hello\\n"}');
  });
});
