/** The state of the repository: status, differences, commits, branches. Nothing here changes it. */
import { readableShellWord } from "../../../base/shell-word.js";
import { phraseIntent } from "../intent.js";
import { parseCommandOutput } from "../outputs.js";
import phrases from "../phrases/git.txt";
import { call, NO_MESSAGE, type Plan, type Steps } from "../plan.js";
import { numberOf } from "../request-text.js";
import { namedPath } from "../terms.js";
import { code, count, fenced, paragraphs } from "../wording.js";

type Action = "status" | "diff" | "log" | "show" | "blame";

interface GitSlots {
  readonly question: Action | "branch";
  readonly path?: string | undefined;
  readonly count?: number | undefined;
  readonly commit?: string | undefined;
  /** For `log`: a time in the user's words ("this week"), and its beginning for git ("1 week ago"). */
  readonly when?: string | undefined;
  readonly since?: string | undefined;
  readonly staged?: true | undefined;
  /** "What changed": the names and the differences. */
  readonly both?: true | undefined;
}

export const matchGit = phraseIntent<GitSlots>({
  name: "git",
  phrases,
  read({ meaning, traits, slots }, request) {
    const path = namedPath(slots.file, request)?.path;
    if (slots.file !== undefined && path === undefined) return undefined;
    const most = slots.n ?? traits.count;
    const { when, day, number = "1", unit = "day", commit } = slots;
    const since = day === undefined ? `${numberOf(number)} ${unit.toLowerCase()} ago` : `${day.toLowerCase()} 00:00`;
    return {
      question: meaning as GitSlots["question"],
      both: traits.both ? true : undefined,
      staged: traits.staged ? true : undefined,
      path,
      count: most === undefined ? undefined : numberOf(most),
      commit,
      when: when?.toLowerCase(),
      since: when === undefined ? undefined : since,
    };
  },
  plan: planGit,
});

interface Answer {
  readonly text: string;
  readonly failed: boolean;
}

export function* askGit(action: Action, args: readonly string[]): Steps<Answer> {
  const command = ["git", "--no-pager", action, ...args].map(readableShellWord).join(" ");
  const { output, exitCode } = parseCommandOutput(yield* call({ tool: "bash", args: { command }, mayFail: true }));
  return { text: output, failed: exitCode !== 0 };
}

export function gitFailed(action: Action, { text }: Answer): string {
  return paragraphs(`${code(`git ${action}`)} failed:`, fenced(text.trim() || NO_MESSAGE));
}

function* planGit(slots: GitSlots): Plan {
  const { question } = slots;
  if (question === "status") return yield* planStatus(slots);
  if (question === "branch") {
    const answer = yield* askGit("status", ["--short", "--branch", "-uno"]);
    const branch = describeBranch(answer.text.split("\n")[0]);
    return answer.failed ? gitFailed("status", answer) : branch || "git did not say which branch is checked out.";
  }
  const [args, title, none] = LOOKS[question](slots);
  const answer = yield* askGit(question, args);
  if (answer.failed) return gitFailed(question, answer);
  if (answer.text.trim() === "") return none;
  const lines = answer.text.trimEnd().split("\n");
  const cut = lines.length > MOST_LINES && `The first ${MOST_LINES} of ${count(lines.length, "line")} are shown.`;
  const all = typeof title === "string" ? title : title(lines.length);
  return paragraphs(all, fenced(lines.slice(0, MOST_LINES).join("\n")), cut);
}

/* ---- what git prints is shown as it is ---- */

/** The arguments, the line above git's output (by the number of its lines), and the answer when git prints nothing. */
type Look = readonly [args: readonly string[], title: string | ((lines: number) => string), none: string];

const MOST_LINES = 300;
const DEFAULT_COMMITS = 10;
const COMMIT_FORMAT = ["--date=short", "--format=%h %ad %an: %s"];

const LOOKS: Readonly<Record<Exclude<Action, "status">, (slots: GitSlots) => Look>> = {
  diff({ path, staged, commit, count: back }) {
    const revision =
      commit?.replace(/ (?:(?:and|to|with) )?/i, "..") ?? (back === undefined ? undefined : `HEAD~${back}`);
    const from = `ifferences from ${code(revision ?? "")}`;
    if (revision !== undefined) return [["--stat", "-p", revision], `D${from}:`, `No d${from}.`];
    const [of, files] = path === undefined ? ["", []] : [` in ${code(path)}`, ["--", path]];
    if (staged) return [["--cached", ...files], `Staged changes${of}:`, `Nothing is staged${of}.`];
    const title = `Unstaged changes${of} (untracked files are not part of a diff):`;
    const rest = `Staged changes and untracked files are not part of this; "git status" shows those.`;
    return [files, title, `No unstaged differences${of}. ${rest}`];
  },
  log({ path, count: most = DEFAULT_COMMITS, when, since }) {
    if (when !== undefined) {
      const until = when === "yesterday" ? ["--until=today 00:00"] : [];
      const title = `The commits (${when}), newest first, with the files they changed:`;
      const none = `There are no commits (${when}). Changes that are not committed have no date; "git status" shows those.`;
      return [["-n", "100", `--since=${since}`, ...until, "--stat", ...COMMIT_FORMAT], title, none];
    }
    const [of, files] = path === undefined ? ["", []] : [` that touched ${code(path)}`, ["--", path]];
    const label = (lines: number) => (lines < most ? `There ${lines === 1 ? "is" : "are"} only` : "The last");
    const title = (lines: number) => `${label(lines)} ${count(lines, "commit")}${of}, newest first:`;
    return [["-n", String(most), ...COMMIT_FORMAT, ...files], title, `There are no commits${of}.`];
  },
  show({ commit = "HEAD" }) {
    return [["--stat", "--date=iso", commit], `Commit ${code(commit)}:`, `Commit ${code(commit)} is empty.`];
  },
  blame({ path = "" }) {
    return [["--", path], `Who last changed each line of ${code(path)}:`, `${code(path)} is empty.`];
  },
};

/* ---- the state of the working tree ---- */

function* planStatus({ both }: GitSlots): Plan {
  const answer = yield* askGit("status", ["--short", "--branch"]);
  if (answer.failed) return gitFailed("status", answer);
  const lines = answer.text.split("\n").filter((line) => line !== "");
  const entries = lines.filter((line) => !/^(?:## |\[… )/.test(line));
  const onBranch = describeBranch(lines[0]);
  if (entries.length === 0) return `${onBranch} The working tree is clean: nothing is changed or untracked.`;
  const cut = lines.some((line) => line.startsWith("[… ")) && "The list was cut; there is more.";
  const untracked = entries.filter((entry) => entry.startsWith("??"));
  const changed = entries.length - untracked.length;
  const staged = entries.filter((entry) => /^[MADRCTU]/.test(entry)).length;
  const parts = [
    changed > 0 ? `${count(changed, "changed file")} (${staged} of them with staged changes)` : "",
    untracked.length > 0 ? count(untracked.length, "untracked entry", "untracked entries") : "",
  ];
  const summary = `${onBranch} ${parts.filter(Boolean).join(" and ")}`;
  const stat = both && changed > 0 ? yield* askGit("diff", ["--stat", "HEAD"]) : undefined;
  // A repository without a commit has nothing to compare with.
  if (stat === undefined || stat.failed || stat.text.trim() === "")
    return paragraphs(`${summary}:`, fenced(entries.join("\n")), cut);
  const rest = untracked.length > 0 && paragraphs("Untracked:", fenced(untracked.join("\n")));
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
