/** The state of the repository: status, differences, commits, branches. Nothing here changes it. */
import { readableShellWord } from "../../../base/shell-word.js";
import { namedPath } from "../files.js";
import { phraseIntent } from "../intent.js";
import { parseCommandOutput } from "../outputs/command-output.js";
import phrases from "../phrases/git.txt";
import type { Phrase } from "../phrases.js";
import { call, type Plan, type Steps, type Toolbox } from "../plan.js";
import { numberOf, type RequestText } from "../request-text.js";
import { code, count, fenced, paragraphs } from "../wording.js";

type Action = "status" | "diff" | "log" | "show" | "blame";

interface GitSlots {
  readonly question: Action | "branch";
  readonly path?: string;
  readonly count?: number;
  readonly commit?: string;
  /** For `log`: a time in the user's words ("this week"), and its beginning for git ("1 week ago"). */
  readonly when?: string;
  readonly since?: string;
  readonly staged?: true;
  /** "What changed": the names and the differences. */
  readonly both?: true;
}

function readSlots({ meaning, traits, slots }: Phrase, request: RequestText): GitSlots | undefined {
  const file = namedPath(slots.file, request);
  if (slots.file !== undefined && file === undefined) return undefined;
  const most = slots.n ?? traits.count;
  return {
    question: meaning as GitSlots["question"],
    ...(traits.both && { both: true }),
    ...(traits.staged && { staged: true }),
    ...(file !== undefined && { path: file.path }),
    ...(most !== undefined && { count: numberOf(most) }),
    ...(slots.commit !== undefined && { commit: slots.commit }),
    ...(slots.when !== undefined && { when: slots.when.toLowerCase(), since: sinceOf(slots) }),
  };
}

function sinceOf({ day, number = "1", unit = "day" }: Phrase["slots"]): string {
  return day === undefined ? `${numberOf(number)} ${unit.toLowerCase()} ago` : `${day.toLowerCase()} 00:00`;
}

interface Answer {
  readonly text: string;
  readonly failed: boolean;
}

/** Uses the `git` tool, or a command if only that is offered. */
export function* askGit(tools: Toolbox, action: Action, args: readonly string[]): Steps<Answer> {
  if (tools.has("git") || !tools.has("bash")) {
    const { text, failed } = yield* call({ tool: "git", args: { action, args }, mayFail: true });
    const isEmpty = /^(?:Nothing to report|No differences|No commits|\(empty(?: file)?\))\.?$/.test(text);
    return { text: isEmpty ? "" : text, failed };
  }
  const command = ["git", "--no-pager", action, ...args].map(readableShellWord).join(" ");
  const { output, exitCode } = parseCommandOutput(yield* call({ tool: "bash", args: { command }, mayFail: true }));
  return { text: output, failed: exitCode !== 0 };
}

export function gitFailed(action: Action, { text }: Answer): string {
  return paragraphs(`${code(`git ${action}`)} failed:`, fenced(text.trim() || "(no message)"));
}

/* ---- what git prints is shown as it is ---- */

interface Look {
  readonly args: readonly string[];
  /** The line above git's output. */
  title(lines: readonly string[]): string;
  /** The answer when git prints nothing. */
  readonly none: string;
}

const MOST_LINES = 300;
const DEFAULT_COMMITS = 10;
const MOST_COMMITS = 100;

const LOOKS: Readonly<Record<Exclude<Action, "status">, (slots: GitSlots) => Look>> = {
  diff: lookAtDifferences,
  log: (slots) => (slots.when === undefined ? lookAtCommits(slots) : lookAtTime(slots)),
  show({ commit = "HEAD" }) {
    const none = `Commit ${code(commit)} is empty.`;
    return { args: ["--stat", "--date=iso", commit], title: () => `Commit ${code(commit)}:`, none };
  },
  blame({ path = "" }) {
    const title = () => `Who last changed each line of ${code(path)}:`;
    return { args: ["--", path], title, none: `${code(path)} is empty.` };
  },
};

function lookAtDifferences({ path, staged, commit, count: back }: GitSlots): Look {
  const named = commit?.replace(/ (?:(?:and|to|with) )?/i, "..");
  const revision = named ?? (back === undefined ? undefined : `HEAD~${back}`);
  if (revision !== undefined) {
    const from = `ifferences from ${code(revision)}`;
    return { args: ["--stat", "-p", revision], title: () => `D${from}:`, none: `No d${from}.` };
  }
  const of = path === undefined ? "" : ` in ${code(path)}`;
  const files = path === undefined ? [] : ["--", path];
  if (staged)
    return { args: ["--cached", ...files], title: () => `Staged changes${of}:`, none: `Nothing is staged${of}.` };
  return {
    args: files,
    title: () => `Unstaged changes${of} (untracked files are not part of a diff):`,
    none: `No unstaged differences${of}. Staged changes and untracked files are not part of this; "git status" shows those.`,
  };
}

const COMMIT_FORMAT = ["--date=short", "--format=%h %ad %an: %s"];

function lookAtCommits({ path, count: most = DEFAULT_COMMITS }: GitSlots): Look {
  const of = path === undefined ? "" : ` that touched ${code(path)}`;
  return {
    args: ["-n", String(most), ...COMMIT_FORMAT, ...(path === undefined ? [] : ["--", path])],
    title({ length }) {
      const label = length < most ? `There ${length === 1 ? "is" : "are"} only` : "The last";
      return `${label} ${count(length, "commit")}${of}, newest first:`;
    },
    none: `There are no commits${of}.`,
  };
}

/** The commits of a time, with the files that each one changed. */
function lookAtTime({ when = "", since = "" }: GitSlots): Look {
  const until = when === "yesterday" ? ["--until=today 00:00"] : [];
  return {
    args: ["-n", String(MOST_COMMITS), `--since=${since}`, ...until, "--stat", ...COMMIT_FORMAT],
    title: () => `The commits (${when}), newest first, with the files they changed:`,
    none: `There are no commits (${when}). Changes that are not committed have no date; "git status" shows those.`,
  };
}

/* ---- the state of the working tree ---- */

function* planStatus({ both }: GitSlots, tools: Toolbox): Plan {
  const answer = yield* askGit(tools, "status", ["--short", "--branch"]);
  if (answer.failed) return gitFailed("status", answer);
  const lines = answer.text.split("\n").filter((line) => line !== "");
  const entries = lines.filter((line) => !/^(?:## |\[… )/.test(line));
  const onBranch = describeBranch(lines[0]);
  if (entries.length === 0) return `${onBranch} The working tree is clean: nothing is changed or untracked.`;
  const cut = lines.some((line) => line.startsWith("[… ")) ? "The list was cut; there is more." : undefined;
  const summary = `${onBranch} ${describeEntries(entries)}`;
  const untracked = entries.filter((entry) => entry.startsWith("??"));
  const stat =
    both === true && untracked.length < entries.length ? yield* askGit(tools, "diff", ["--stat", "HEAD"]) : undefined;
  // A repository without a commit has nothing to compare with.
  if (stat === undefined || stat.failed || stat.text.trim() === "")
    return paragraphs(`${summary}:`, fenced(entries.join("\n")), cut);
  const rest = untracked.length === 0 ? undefined : paragraphs("Untracked:", fenced(untracked.join("\n")));
  return paragraphs(`${summary}.`, "Compared with the last commit:", fenced(stat.text), rest, cut);
}

function describeBranch(header = ""): string {
  const match = /^## (?:No commits yet on |Initial commit on )?(.+?)(?:\.\.\.(\S+))?(?: \[(.+)\])?$/.exec(header);
  if (match === null) return "";
  const [, name = "", remote, distance] = match;
  if (name === "HEAD (no branch)") return "No branch is checked out (detached HEAD).";
  const follows = remote === undefined ? "" : `, which follows ${code(remote)}`;
  return `On branch ${code(name)}${follows}${distance === undefined ? "" : ` (${distance})`}.`;
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

function* planGit(slots: GitSlots, tools: Toolbox): Plan {
  const { question } = slots;
  if (question === "status") return yield* planStatus(slots, tools);
  if (question === "branch") {
    const answer = yield* askGit(tools, "status", ["--short", "--branch", "-uno"]);
    const branch = describeBranch(answer.text.split("\n")[0]);
    return answer.failed ? gitFailed("status", answer) : branch || "git did not say which branch is checked out.";
  }
  const { args, title, none } = LOOKS[question](slots);
  const answer = yield* askGit(tools, question, args);
  if (answer.failed) return gitFailed(question, answer);
  if (answer.text.trim() === "") return none;
  const lines = answer.text.trimEnd().split("\n");
  const cut =
    lines.length > MOST_LINES ? `The first ${MOST_LINES} of ${count(lines.length, "line")} are shown.` : undefined;
  return paragraphs(title(lines), fenced(lines.slice(0, MOST_LINES).join("\n")), cut);
}

export const matchGit = phraseIntent({ name: "git", phrases, read: readSlots, plan: planGit });
