/** The state of the repository: status, differences, commits, branches. Nothing here changes it. */
import type { Intent } from "../intent.js";
import { numberOf } from "../number-words.js";
import phrases from "../phrases/git.txt";
import { PhraseBook } from "../phrases.js";
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

export const gitIntent: Intent<GitSlots> = { name: "git", parse: parseGit, plan: planGit };
