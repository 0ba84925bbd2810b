/** The state of the repository: status, differences, commits, branches. Nothing here changes it. */

import type { Intent } from "../intent.js";
import { numberOf } from "../number-words.js";
import { parseCommandOutput } from "../outputs/command-output.js";
import phrases from "../phrases/git.txt";
import { PhraseBook } from "../phrases.js";
import { call, type Plan, type Steps, type Toolbox } from "../plan.js";
import type { RequestText } from "../request-text.js";
import { shellWord } from "../shell-word.js";
import { code, count, fenced, paragraphs } from "../wording.js";
import { namedPath } from "./read.js";

export type GitQuestion = "status" | "diff" | "log" | "show" | "blame" | "branch";

export interface GitSlots {
  readonly question: GitQuestion;
  readonly path?: string;
  readonly count?: number;
  readonly commit?: string;
  readonly staged?: true;
  /** "What changed": the names and the differences. */
  readonly both?: true;
}

const PHRASES = new PhraseBook(phrases);

export function parseGit(request: RequestText): GitSlots | undefined {
  for (const { meaning, traits, slots } of PHRASES.matches(request.text)) {
    const file = slots.file === undefined ? undefined : namedPath(slots.file, request);
    if (slots.file !== undefined && file === undefined) continue;
    const most = slots.n ?? traits.count;
    return {
      question: meaning as GitQuestion,
      ...(traits.both && { both: true as const }),
      ...(traits.staged && { staged: true as const }),
      ...(file !== undefined && { path: file.path }),
      ...(most !== undefined && { count: numberOf(most) }),
      ...(slots.commit !== undefined && { commit: slots.commit }),
    };
  }
  return undefined;
}

const DEFAULT_COMMITS = 10;
const MOST_DIFF_LINES = 300;

type Action = "status" | "diff" | "log" | "show" | "blame";

export function* planGit(slots: GitSlots, tools: Toolbox): Plan {
  switch (slots.question) {
    case "status":
      return yield* status(slots, tools);
    case "branch":
      return yield* branch(tools);
    case "diff":
      return yield* diff(slots, tools);
    case "log":
      return yield* log(slots, tools);
    case "show":
      return yield* show(slots, tools);
    case "blame":
      return shown(
        `Who last changed each line of ${code(slots.path ?? "")}:`,
        yield* askGit(tools, "blame", ["--", slots.path ?? ""]),
      );
  }
}

interface Answer {
  readonly text: string;
  readonly failed: boolean;
}

/** Through the `git` tool, or as a command when only that is offered. */
export function* askGit(tools: Toolbox, action: Action, args: readonly string[]): Steps<Answer> {
  if (tools.has("git") || !tools.has("bash")) {
    const fact = yield* call({ tool: "git", args: { action, args }, mayFail: true });
    return {
      text: /^(?:Nothing to report|No differences|No commits|\(empty(?: file)?\))\.?$/.test(fact.text) ? "" : fact.text,
      failed: fact.failed,
    };
  }
  const command = ["git", "--no-pager", action, ...args].map(shellWord).join(" ");
  const { output, exitCode } = parseCommandOutput(yield* call({ tool: "bash", args: { command }, mayFail: true }));
  return { text: output, failed: exitCode !== 0 };
}

function* status({ both }: GitSlots, tools: Toolbox) {
  const answer = yield* askGit(tools, "status", ["--short", "--branch"]);
  if (answer.failed) return failed("status", answer);
  const lines = answer.text.split("\n").filter((line) => line !== "");
  const entries = lines.filter((line) => !/^(?:## |\[… )/.test(line));
  const onBranch = describeBranch(lines[0]);
  if (entries.length === 0) return `${onBranch} The working tree is clean: nothing is changed or untracked.`;
  const cut = lines.some((line) => line.startsWith("[… ")) ? "The list was cut; there is more." : undefined;
  const summary = `${onBranch} ${describeEntries(entries)}`;
  const untracked = entries.filter((entry) => entry.startsWith("??"));
  if (both === true && untracked.length < entries.length) {
    const stat = yield* askGit(tools, "diff", ["--stat", "HEAD"]);
    // A repository without a commit has nothing to compare with.
    if (!stat.failed && stat.text.trim() !== "") {
      const rest = untracked.length === 0 ? undefined : paragraphs("Untracked:", fenced(untracked.join("\n")));
      return paragraphs(`${summary}.`, "Compared with the last commit:", fenced(stat.text), rest, cut);
    }
  }
  return paragraphs(`${summary}:`, fenced(entries.join("\n")), cut);
}

function describeBranch(header: string | undefined): string {
  const match = /^## (?:No commits yet on |Initial commit on )?(.+?)(?:\.\.\.(\S+))?(?: \[(.+)\])?$/.exec(header ?? "");
  if (match === null) return "";
  if (match[1] === "HEAD (no branch)") return "No branch is checked out (detached HEAD).";
  const remote =
    match[2] === undefined ? "" : `, which follows ${code(match[2])}${match[3] === undefined ? "" : ` (${match[3]})`}`;
  return `On branch ${code(match[1] ?? "")}${remote}.`;
}

function describeEntries(entries: readonly string[]): string {
  const untracked = entries.filter((entry) => entry.startsWith("??")).length;
  const changed = entries.length - untracked;
  const staged = entries.filter((entry) => /^[MADRCTU]/.test(entry)).length;
  const parts = [
    ...(changed > 0 ? [`${count(changed, "changed file")} (${staged} of them with staged changes)`] : []),
    ...(untracked > 0 ? [count(untracked, "untracked entry", "untracked entries")] : []),
  ];
  return parts.join(" and ");
}

function* branch(tools: Toolbox) {
  const answer = yield* askGit(tools, "status", ["--short", "--branch", "-uno"]);
  if (answer.failed) return failed("status", answer);
  return describeBranch(answer.text.split("\n")[0]) || "git did not say which branch is checked out.";
}

function* diff({ path, staged, commit, count: back }: GitSlots, tools: Toolbox) {
  const revision =
    commit?.replace(/ (?:(?:and|to|with) )?/i, "..") ?? (back === undefined ? undefined : `HEAD~${back}`);
  if (revision !== undefined) {
    const changes = yield* askGit(tools, "diff", ["--stat", "-p", revision]);
    if (changes.failed) return failed("diff", changes);
    const text = changes.text.trim() === "" ? `No differences from ${code(revision)}.` : undefined;
    return text ?? shown(`Differences from ${code(revision)}:`, changes);
  }
  const args = [...(staged ? ["--cached"] : []), ...(path === undefined ? [] : ["--", path])];
  const answer = yield* askGit(tools, "diff", args);
  if (answer.failed) return failed("diff", answer);
  const of = path === undefined ? "" : ` in ${code(path)}`;
  if (answer.text.trim() === "") {
    return staged
      ? `Nothing is staged${of}.`
      : `No unstaged differences${of}. Staged changes and untracked files are not part of this; "git status" shows those.`;
  }
  return shown(
    staged ? `Staged changes${of}:` : `Unstaged changes${of} (untracked files are not part of a diff):`,
    answer,
  );
}

function* log({ path, count: asked }: GitSlots, tools: Toolbox) {
  const most = asked ?? DEFAULT_COMMITS;
  const args = [
    "-n",
    String(most),
    "--date=short",
    "--format=%h %ad %an: %s",
    ...(path === undefined ? [] : ["--", path]),
  ];
  const answer = yield* askGit(tools, "log", args);
  if (answer.failed) return failed("log", answer);
  const commits = answer.text.split("\n").filter((line) => line !== "");
  const of = path === undefined ? "" : ` that touched ${code(path)}`;
  if (commits.length === 0) return path === undefined ? "There are no commits." : `There are no commits${of}.`;
  const label = commits.length < most ? `There ${commits.length === 1 ? "is" : "are"} only` : "The last";
  return shown(`${label} ${count(commits.length, "commit")}${of}, newest first:`, answer);
}

function* show({ commit }: GitSlots, tools: Toolbox) {
  const name = commit ?? "HEAD";
  const answer = yield* askGit(tools, "show", ["--stat", "--date=iso", name]);
  return answer.failed ? failed("show", answer) : shown(`Commit ${code(name)}:`, answer);
}

function shown(label: string, { text, failed: isFailure }: Answer): string {
  if (isFailure) return failed("blame", { text, failed: true });
  const lines = text.replace(/\s+$/, "").split("\n");
  const cut =
    lines.length > MOST_DIFF_LINES
      ? `The first ${MOST_DIFF_LINES} of ${count(lines.length, "line")} are shown.`
      : undefined;
  return paragraphs(label, fenced(lines.slice(0, MOST_DIFF_LINES).join("\n")), cut);
}

function failed(action: string, { text }: Answer): string {
  return paragraphs(`${code(`git ${action}`)} failed:`, fenced(text.trim() || "(no message)"));
}

export const gitIntent: Intent<GitSlots> = { name: "git", parse: parseGit, plan: planGit };
