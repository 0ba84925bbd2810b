/** The state of the repository: status, differences, commits, branches. Nothing here changes it. */
import type { Intent } from "../intent.js";
import { planGit } from "../plans/git.js";
import type { RequestText } from "../request-text.js";
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

interface Form {
  readonly pattern: RegExp;
  readonly question: GitQuestion;
  readonly both?: true;
  readonly staged?: true;
  readonly count?: number;
}

const SHOW =
  "(?:(?:show|run|do|do a|run a|show me|list|print|display|give me|see|view|get|what is|what's|what are|which are)(?: me)? )?(?:the |all |my |our )*";
const CHANGED = "(?:changed|modified|edited|uncommitted|touched|dirty|new|untracked)";
const CHANGES =
  "(?:uncommitted |local |pending |current |recent |working (?:tree|copy) )?(?:changes|modifications|edits)";
const N = "(?:(?<n>\\d{1,3}|two|three|four|five|ten|twenty) )?";
const FILE = "(?:the )?(?:file )?(?<file>\\S+?)";
const SINCE =
  "(?: (?:since (?:the )?last commit|in (?:this|the) (?:repo|repository|project|working tree|folder)|here|so far|in git|locally))?";

function form(pattern: string, question: GitQuestion, more: Omit<Form, "pattern" | "question"> = {}): Form {
  return { pattern: new RegExp(`^${pattern}$`, "i"), question, ...more };
}

const FORMS: readonly Form[] = [
  form(
    `${SHOW}(?:git )?(?:repo(?:sitory)? )?status(?: of (?:the|this|my) (?:repo|repository|project|working tree|checkout|git repo))?`,
    "status",
  ),
  form(`${SHOW}(?:git state|state of (?:the |this )?(?:git )?(?:repo|repository|working tree|git))`, "status"),
  form(`(?:which|what) files? (?:(?:are|is|have|has|were|was)(?: been)? )?${CHANGED}${SINCE}`, "status"),
  form(`(?:which|what) files? did (?:i|we|you) (?:change|edit|modify|touch)${SINCE}`, "status"),
  form(`did (?:i|we|anything|something) (?:change|edit|modify)(?: anything| something)?${SINCE}`, "status"),
  form(`${SHOW}(?:${CHANGED}) files?${SINCE}`, "status"),
  form(
    `(?:if |whether )?(?:is|are) (?:the|my|this) (?:working (?:tree|directory|copy)|repo|repository|checkout|git|git repo)(?: state)? (?:clean|dirty)`,
    "status",
  ),
  form(
    `(?:if |whether )?(?:are there|is there|do i have|do we have|have i)(?: got)? (?:any )?${CHANGES}${SINCE}`,
    "status",
  ),
  form(`(?:if |whether )?(?:are there |do i have )?any(?:thing)? (?:uncommitted|unstaged)(?: changes)?`, "status"),

  form(
    `what (?:has |have |did |was |were )?(?:(?:i|we|you|anyone|somebody) )?(?:been )?(?:changed?|modif(?:y|ied)|edit(?:ed)?)${SINCE}`,
    "status",
    { both: true },
  ),
  form(`what(?:'s| is) (?:new|different|changed)${SINCE}`, "status", { both: true }),
  form(`${SHOW}${CHANGES}${SINCE}`, "status", { both: true }),
  form(
    `(?:git diff --(?:staged|cached)|${SHOW}staged (?:changes|diff|files)|${SHOW}(?:diff|changes) of (?:what is )?staged|what(?:'s| is) staged)`,
    "diff",
    { staged: true },
  ),
  form(`${SHOW}(?:git )?(?:diff|differences?)${SINCE}`, "diff"),
  form(`${SHOW}unstaged (?:changes|diff)`, "diff"),
  form(`${SHOW}(?:git )?(?:diff|differences?|changes) (?:of |for |in |to |from |made to )?${FILE}`, "diff"),
  form(`(?:what (?:has |have )?(?:changed|did i change|have i changed) in|how has) ${FILE}(?: changed)?`, "diff"),

  form(
    `(?:what was |what is |who made )?${SHOW}(?:last|latest|most recent|newest|previous) commit(?: message)?`,
    "log",
    { count: 1 },
  ),
  form("who committed last", "log", { count: 1 }),
  form("what (?:has |was )?(?:changed|been done|happened) (?:recently|lately)", "log"),
  form(
    `${SHOW}(?:last|latest|recent|most recent|newest|previous) ${N}commits?(?: messages)?(?: (?:of|to|for|in) (?:(?:this|the) (?:repo|repository|project)|${FILE}))?`,
    "log",
  ),
  form(`${SHOW}${N}(?:last|latest|recent|most recent|newest) commits?(?: (?:of|to|for|in) ${FILE})?`, "log"),
  form(
    `${SHOW}(?:commits|commit (?:history|log)|git (?:history|log)|history|log)(?: (?:of|for|to) (?:(?:this|the) (?:repo|repository|project)|${FILE}))?`,
    "log",
  ),
  form(`git log(?: (?:--oneline))?(?: -n? ?(?<n>\\d{1,3}))?(?: (?:-- )?${FILE})?`, "log"),
  form(
    `(?:who (?:last )?(?:changed|edited|modified|touched|committed|wrote)(?: to)?|when was|when did (?:i|we|someone) (?:last )?change) ${FILE}(?: (?:last|last changed|last modified|changed|recently|last edited))?`,
    "log",
    { count: 5 },
  ),

  form(`${SHOW}(?:git show|commit) (?<commit>[0-9a-f]{6,40}|HEAD(?:[~^]\\d*)*)`, "show"),
  form(
    `what (?:did|does|was in|is in) (?:commit )?(?<commit>[0-9a-f]{7,40}|HEAD(?:[~^]\\d*)*)(?: (?:change|do))?`,
    "show",
  ),
  form("(?:show|show me|print|display) (?<commit>HEAD(?:[~^]\\d*)*)", "show"),
  form(`git show(?: (?<commit>HEAD(?:[~^]\\d*)*))?`, "show"),
  form(
    `what (?:did|does|was in|is in) (?:the )?(?:last|latest|previous|most recent) commit(?: (?:change|do|contain))?`,
    "show",
  ),

  form(`(?:${SHOW})?(?:git )?blame(?: (?:of|for|on))? ${FILE}`, "blame"),
  form(`who wrote (?:which|what) lines? (?:of|in) ${FILE}`, "blame"),

  form(
    `(?:which|what)(?:'s| is)? ?(?:the )?(?:current )?(?:git )?branch(?: (?:am i|are we|is this|is checked out|do i have))?(?: on| in)?(?: checked out)?`,
    "branch",
  ),
  form(`${SHOW}(?:current |active )?(?:git )?branch(?:es| name)?`, "branch"),
];

const NUMBER_WORDS: Readonly<Record<string, number>> = { two: 2, three: 3, four: 4, five: 5, ten: 10, twenty: 20 };

export function parseGit(request: RequestText): GitSlots | undefined {
  for (const { pattern, question, ...fixed } of FORMS) {
    const match = pattern.exec(request.text);
    if (match === null) continue;
    const { file: slot, n, commit } = match.groups ?? {};
    const file = slot === undefined ? undefined : namedPath(slot, request);
    if (slot !== undefined && file === undefined) continue;
    return {
      question,
      ...fixed,
      ...(file !== undefined && { path: file.path }),
      ...(n !== undefined && { count: NUMBER_WORDS[n.toLowerCase()] ?? Math.max(1, Number(n)) }),
      ...(commit !== undefined && { commit }),
    };
  }
  return undefined;
}

const NEEDS =
  /\b(?:git|repo|repository|status|changed?|changes|modified|modify|modifications|edited|edits?|uncommitted|untracked|touched|touch|dirty|clean|new|staged|unstaged|diff|differences?|different|commits?|committed|history|log|blame|wrote|branch|branches|HEAD|commit [0-9a-f]+|did [0-9a-f]+|in [0-9a-f]{7,}|recently|lately|how has|when)\b/i;

export const gitIntent: Intent<GitSlots> = { name: "git", needs: NEEDS, parse: parseGit, plan: planGit };
