/** Deletions of many files that git tracks ask: a list of them, and what the words of a command show. */
import { describe, expect, it } from "vitest";
import { decide } from "../decide.js";
import { readCommand } from "../read-command.js";
import type { SessionRule } from "../session-rules.js";
import { bash, policyWith, READER, rulesOf } from "../test-support/sample-policy.js";
import { type Deletion, judgeDeletions } from "./deletions.js";

const files = (folder: string, count: number, end = ".ts") =>
  Array.from({ length: count }, (_, at) => `${folder}/f${at}${end}`);
const TRACKED = [
  ...files("src", 57),
  ...files("src/deep", 30),
  ...files("docs", 20, ".md"),
  ...files("test", 8),
  ...files(".github", 25, ".yml"),
  "README.md",
  "a[1].ts",
];

describe("[P8] the verdict on a list of deletions", () => {
  const tree = (path: string): Deletion => ({ path, extent: "tree" });
  const glob = (path: string, extent: Deletion["extent"] = "file"): Deletion => ({ path, extent, isGlob: true });

  it.each<[string, readonly Deletion[], number, string]>([
    ["a folder", [tree("src")], 87, "ask"],
    ["a part of it", [tree("src/deep")], 30, "ask"],
    ["several, each of them small", [tree("docs"), tree("test")], 28, "ask"],
    ["twenty files", [tree("docs")], 20, "allow"],
    ["the same files twice", [tree("docs"), glob("docs/*")], 20, "allow"],
    ["files one by one", files("src", 57).map((path) => ({ path, extent: "file" as const })), 57, "ask"],
    ["everything", [tree(".")], TRACKED.length, "ask"],
    ["a folder that git does not track", [tree("node_modules"), tree("sr")], 0, "allow"],
    ["a folder, as a file", [{ path: "src", extent: "file" }], 0, "allow"],
    ["a glob of files", [glob("src/*.ts")], 57, "ask"],
    ["a glob of folders", [glob("s*", "tree")], 87, "ask"],
    ["a glob leaves out dot names", [glob("*", "tree")], TRACKED.length - 25, "ask"],
    ["one that begins with a dot does not", [glob(".g*", "tree")], 25, "ask"],
    ["a name with a bracket is no glob", [{ path: "a[1].ts", extent: "file" }], 1, "allow"],
  ])("%s", (_, deletions, count, decision) => {
    expect(judgeDeletions(deletions, TRACKED)).toMatchObject({ files: count, decision });
  });

  it("names what goes, the largest first", () => {
    const { reason } = judgeDeletions([tree("docs"), tree("src"), tree("dist")], TRACKED);
    expect(reason).toBe("It deletes 107 files that git tracks (src, docs).");
    const many = TRACKED.slice(0, 30).map((path) => ({ path, extent: "file" as const }));
    expect(judgeDeletions(many, TRACKED).reason).toMatch(/30 files that git tracks \(.* and 26 more\)\.$/);
  });
});

const CONTAINED = { sandboxed: true, contained: true };

function judged(command: string, changes = {}, session: readonly SessionRule[] = []) {
  const facts = {
    ...bash(command, CONTAINED),
    command: readCommand(command, { ...READER, trackedFiles: () => TRACKED }),
  };
  return decide(facts, policyWith({ mode: "auto", ...changes }), session);
}

describe("[P8] a contained command asks before it deletes many tracked files", () => {
  it.each([
    "rm -rf src test docs",
    "rm -r -- src",
    "rm -Rf ./src/",
    "rm src/*.ts",
    "rm -rf {src,test}",
    'rm -rf "src"',
    "rm -rf s*",
    "rm -rf docs; rm -rf test",
    "make clean && rm -rf src",
    "cd src && rm -rf deep",
    "/bin/rm -rf src",
    "env A=1 rm -rf src",
    "sh -c 'rm -rf src'",
    "timeout 9 rm -rf src",
    "npx rimraf src",
    "find src -type f -delete",
    "find src -name '*.ts' -exec rm {} +",
    "find src docs -name '*.ts' -o -name '*.md' -delete",
    "find . -name '*.ts' -delete",
    "cd src && find -name '*.ts' -delete",
    "mv src /tmp/old",
    "mv -t /tmp src docs",
  ])("%s", (command) => {
    const verdict = judged(command);
    expect([verdict.decision, verdict.reason]).toEqual([
      "ask",
      expect.stringMatching(/^It deletes \d+ files that git tracks/),
    ]);
  });

  it.each([
    "rm -rf dist node_modules coverage",
    "rm src/f1.ts src/f2.ts",
    "rm -rf docs",
    "find src -name '*.pyc' -delete",
    "find src -name '*.ts' -print",
    "mv src lib",
    "mv src/f1.ts /tmp/",
    "cd dist && rm -rf src",
    "rm -rf src-old",
    "echo rm -rf src",
  ])("but not: %s", (command) => expect(judged(command).decision).toBe("allow"));

  it("follows a rule that the person wrote", () => {
    const rules = rulesOf({ tool: "bash", command: "rm *", decision: "allow" });
    expect(judged("rm -rf src", { rules }).decision).toBe("allow");
  });
});

describe("[P1 P8] git commands that lose work", () => {
  it.each([
    ["git checkout -- .", "discards changes that are not committed"],
    ["git checkout .", "discards changes that are not committed"],
    ["git checkout HEAD -- src", "discards changes that are not committed"],
    ["git checkout -f main", "discards changes that are not committed"],
    ["git -C sub reset --hard HEAD~1", "discards changes that are not committed"],
    ["git restore .", "discards changes that are not committed"],
    ["git restore --staged --worktree .", "discards changes that are not committed"],
    ["git switch --discard-changes main", "discards changes that are not committed"],
    ["git stash", "takes changes that are not committed out of the files"],
    ["git stash push -u", "takes changes that are not committed out of the files"],
    ["git stash drop", "deletes stashed changes"],
    ["git rm -r src", "deletes files"],
    ["git branch -D old", "deletes a branch"],
    ["git clean -fdx", "deletes files that git does not track"],
  ])("%s %s", (command, words) => {
    const verdict = judged(command);
    expect([verdict.decision, verdict.reason]).toEqual(["ask", expect.stringContaining(words)]);
  });

  it.each(["git checkout main", "git restore --staged .", "git reset HEAD~1", "git rm --cached a", "git branch new"])(
    "but not %s",
    (command) => {
      expect(judged(command).reason).toMatch(/^git \S+ writes \.git\.$/);
    },
  );

  it("a yes to a pattern for the session does not cover them", () => {
    const { offer = [] } = judged("git switch main");
    const session = offer.map((draft, index): SessionRule => ({ number: index + 1, originator: "human", draft }));
    expect(session.map(({ draft }) => draft.kind)).toEqual(["command"]);
    expect(judged("git switch other", {}, session).decision).toBe("allow");
    expect(judged("git switch -f other", {}, session).decision).toBe("ask");
    expect(judged("git switch -f other").offer?.map(({ kind }) => kind)).toEqual(["call"]);
  });
});
