/** Shows which changes of a command pass, which need a person, and what is applied of a set that is not applied as a whole. */
import { describe, expect, it } from "vitest";
import type { HeldChange, HeldEntry } from "../../system/overlay/change-set.js";
import { type GateOptions, isOnlyGit, judgeChanges, withoutMissing } from "./change-gate.js";

const entry = (kind: HeldEntry["kind"], target?: string): HeldEntry => ({
  ...{ kind, mode: 0o644, size: 1, mtimeMs: 1, ctimeMs: 1, ino: 1 },
  ...(target !== undefined && { target }),
});
const file = entry("file");
const folder = entry("folder");
const made = (path: string, after = file): HeldChange => ({ path, before: undefined, after, recorded: true });
const gone = (path: string, before = file): HeldChange => ({ path, before, after: undefined, recorded: true });

function judge(changes: readonly HeldChange[], options: Partial<GateOptions> = {}) {
  return judgeChanges({
    ...{ root: "/no/such/root", changes, granted: [], records: "guarded" },
    ...{ reason: () => undefined, refusal: () => undefined, deletions: () => undefined, text: () => undefined },
    ...{ isHidden: () => false, mayLead: () => false },
    ...options,
  });
}

async function asked(path: string, options: Partial<GateOptions>, after = file): Promise<boolean> {
  return (await judge([made(path, after)], options)).asking.length === 1;
}

describe("[P16 P18] a path in a git folder", () => {
  const PASSING = [
    ...["index", "HEAD", "ORIG_HEAD", "packed-refs", "refs/heads/config", "logs/refs/heads/main", "objects/ab/cdef"],
    ...[
      "objects/pack/pack-1.idx",
      "objects/info/packs",
      "COMMIT_EDITMSG",
      "rebase-merge/head-name",
      "rebase-apply/0001",
    ],
  ];
  const ASKING = [
    ...["config", "config.worktree", "hooks/pre-commit", "info/attributes", "info/exclude", "modules/x/HEAD"],
    ...["objects/info/alternates", "objects/ab/cd/HEAD", "objects/x/HEAD", "refs/x/.git/config", "commondir", "gitdir"],
    ...["worktrees/x/gitdir", "description", "INDEX", "refs.txt", "Hooks/x"],
  ];

  it.each(PASSING)("passes where git was allowed: %s", async (inner) => {
    expect(await asked(`.git/${inner}`, { records: "pass" })).toBe(false);
    expect(await asked(`.git/${inner}`, {})).toBe(true);
    expect(await asked(`sub/.GIT/${inner}`, { records: "pass" })).toBe(true);
    expect(await asked(`.git/${inner}`, { records: "pass" }, entry("link", "x"))).toBe(true);
  });

  it.each(ASKING)("is asked about, whatever was allowed: %s", async (inner) => {
    expect(await asked(`.git/${inner}`, { records: "pass" })).toBe(true);
  });

  it.each([".git", "a/.git", ".GIT", ".git.", ".git ", "git~1", ".g\u200cit", ".git::$INDEX_ALLOCATION"])(
    "is found under another spelling: %j",
    async (name) => {
      expect(await asked(`${name}/x`, {})).toBe(true);
      expect(await asked(name, {}, entry("link", "elsewhere"))).toBe(true);
    },
  );

  const TEXTS: readonly (readonly [string, string | undefined, boolean])[] = [
    ["rebase-merge/git-rebase-todo", "pick 1 a\nfixup 2 b\n", false],
    ["rebase-merge/git-rebase-todo", "pick 1 a\n  exec ./x\n", true],
    ["rebase-merge/git-rebase-todo", "x ./x\n", true],
    ["rebase-merge/git-rebase-todo", undefined, true],
    ["sequencer/todo", "exec ./x\n", true],
    ["rebase-merge/strategy", "ort\n", false],
    ["rebase-merge/strategy", "mine\n", true],
    ["sequencer/opts", "[options]\n\tstrategy = mine\n", true],
    ["sequencer/opts", "[options]\n\tsignoff = true\n", false],
  ];
  it.each(TEXTS)("%s with %j", async (inner, text, isAsked) => {
    expect(await asked(`.git/${inner}`, { records: "pass", text: () => text })).toBe(isAsked);
  });
});

it.each([
  ["git rebase -i HEAD~3", true],
  ["cd sub && git add -A && git commit -m 'x'", true],
  ["GIT_SEQUENCE_EDITOR=true git rebase -i main", true],
  ["git commit -m \"$(cat <<'EOF'\nmessage\nEOF\n)\"", true],
  ["git status; ./x", false],
  ["make release", false],
  ['git commit -m "$(./x)"', false],
  ["$GIT commit", false],
  ["echo x > .git/config", false],
  ["git log |", false],
])("[P18] knows whether a line is only git: %s", (line, isIt) => {
  expect(isOnlyGit(line)).toBe(isIt);
});

it.each(["/proc/self/exe", "/proc/self/fd/9", "/dev/fd/9", "/proc/self/cwd/src"])(
  "[P18] a link whose place depends on the process is asked about: %s",
  async (target) => {
    expect(await asked("x", { mayLead: (place) => !place.startsWith("/proc") }, entry("link", target))).toBe(true);
  },
);

describe("[P18] a set of which something is missing", () => {
  it("loses nothing: no deletion, no rename, no exchange, no repository, nothing in a missing folder", () => {
    const all: readonly HeldChange[] = [
      ...[gone("src/a"), made("plain"), { ...made("moved"), from: "src/b" }, gone("src/b"), made(".git/index")],
      { path: "exchanged", before: file, after: folder, recorded: true },
      ...[made("exchanged/x"), made("new", folder), made("new/x")],
      { path: "node_modules/p", before: folder, after: folder, recorded: false, whole: true },
      made("node_modules/p/x"),
      { path: "changed", before: file, after: file, recorded: true },
    ];
    const kept = (missing: readonly { path: string }[]) => withoutMissing(all, missing).map(({ path }) => path);
    expect(kept([])).toHaveLength(all.length);
    const packages = ["node_modules/p", "node_modules/p/x"];
    expect(kept([{ path: ".vscode/a" }])).toEqual(["plain", "new", "new/x", ...packages, "changed"]);
    expect(kept([{ path: "new" }])).toEqual(["plain", ...packages, "changed"]);
  });

  it("changes a folder of packages as a whole or not at all, and never removes one", () => {
    const all = [
      ...[
        made("a/node_modules/new"),
        gone("a/node_modules/old"),
        { ...made("a/node_modules/b"), from: "a/node_modules/c" },
      ],
      ...[made("fresh/.venv", folder), made("fresh/.venv/x"), gone("node_modules", folder), gone("src/.venv2/x")],
    ];
    const kept = (path: string) => withoutMissing(all, [{ path }]).map((change) => change.path);
    const inA = ["a/node_modules/new", "a/node_modules/old", "a/node_modules/b"];
    expect(kept(".husky/_")).toEqual([...inA, "fresh/.venv", "fresh/.venv/x"]);
    expect(kept("a/node_modules/p/.git")).toEqual(["fresh/.venv", "fresh/.venv/x"]);
    // Nothing goes with these.
    expect(kept("fresh/.venv/.git")).toEqual([...inA, "fresh/.venv", "fresh/.venv/x"]);
  });

  it("names what path permissions forbid, and what many deletions need", async () => {
    const verdict = await judge([made("a"), gone("b"), made("c")], {
      refusal: (path, access) => (path.endsWith("/a") ? `no ${access}` : undefined),
      deletions: (removed) => (removed.length > 0 ? "many" : undefined),
    });
    expect(verdict.refused).toMatchObject([{ change: { path: "a" }, reason: "no write" }]);
    expect(verdict.asking).toMatchObject([{ change: { path: "b" }, reason: "many" }]);
    expect(verdict.passing).toMatchObject([{ path: "c" }]);
  });
});
