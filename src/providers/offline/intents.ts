/** The rules in the order they are tried: the first that understands a request takes it. */

import { factIntent } from "./facts.js";
import { type Match, type Matcher, matcher } from "./intent.js";
import { aboutIntent } from "./intents/about.js";
import { editIntent } from "./intents/edit.js";
import { gitIntent } from "./intents/git.js";
import { listIntent } from "./intents/list.js";
import { measureIntent } from "./intents/measure.js";
import { outlineIntent } from "./intents/outline.js";
import { projectIntent } from "./intents/project.js";
import { readIntent } from "./intents/read.js";
import { runIntent } from "./intents/run.js";
import { scriptIntent } from "./intents/script.js";
import { searchIntent } from "./intents/search.js";
import type { RequestText } from "./request-text.js";

const MATCHERS: readonly Matcher[] = [
  // A literal command or edit before anything that might read words inside it.
  matcher(editIntent),
  matcher(scriptIntent),
  matcher(gitIntent),
  matcher(factIntent),
  // One file before many; reading it before a command that would do the same.
  matcher(measureIntent),
  matcher(outlineIntent),
  matcher(readIntent),
  matcher(runIntent),
  matcher(projectIntent),
  matcher(listIntent),
  matcher(searchIntent),
];

/** A longer text, not counting what is quoted in it, is no request that rules could understand. */
const MOST_CHARACTERS = 1_000;

const fallback = matcher(aboutIntent);

/** Always an answer: what no rule understands is answered by saying what this is and what it can do. */
export function matchIntent(request: RequestText): Match {
  for (const match of request.text.length > MOST_CHARACTERS ? [] : MATCHERS) {
    const found = match(request);
    if (found !== undefined) return found;
  }
  const about = fallback(request);
  if (about === undefined) throw new Error("the last rule takes everything");
  return about;
}

export function isUnderstood(match: Match): boolean {
  return match.intent !== aboutIntent.name;
}
