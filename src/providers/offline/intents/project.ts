/** What this project is, from facts that can be looked up. */
import type { Intent } from "../intent.js";
import phrases from "../phrases/project.txt";
import { PhraseBook } from "../phrases.js";
import { planProject } from "../plans/project.js";
import type { RequestText } from "../request-text.js";

export interface ProjectSlots {
  readonly question: "summary";
}

const PHRASES = new PhraseBook(phrases);

export function parseProject(request: RequestText): ProjectSlots | undefined {
  return PHRASES.matches(request.text).next().done ? undefined : { question: "summary" };
}

export const projectIntent: Intent<ProjectSlots> = { name: "project", parse: parseProject, plan: planProject };
