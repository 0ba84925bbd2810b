/** What this project is, from facts that can be looked up. */
import type { Intent } from "../intent.js";
import phrases from "../phrases/project.txt";
import { PhraseBook } from "../phrases.js";
import { planProject } from "../plans/project.js";
import type { RequestText } from "../request-text.js";

export type ProjectQuestion = "summary" | "scripts" | "dependencies" | "version" | "licence" | "name";

export interface ProjectSlots {
  readonly question: ProjectQuestion;
}

const PHRASES = new PhraseBook(phrases);

export function parseProject(request: RequestText): ProjectSlots | undefined {
  for (const { meaning } of PHRASES.matches(request.text)) return { question: meaning as ProjectQuestion };
  return undefined;
}

export const projectIntent: Intent<ProjectSlots> = { name: "project", parse: parseProject, plan: planProject };
