/** The rules in order: the first one that understands a request handles it. */
import type { Match, Matcher } from "./intent.js";
import { ABOUT, matchAbout } from "./intents/about.js";
import { matchEdit } from "./intents/edit.js";
import { matchFact } from "./intents/fact.js";
import { matchGit } from "./intents/git.js";
import { matchList } from "./intents/list.js";
import { matchMeasure } from "./intents/measure.js";
import { matchProject } from "./intents/project.js";
import { matchRead } from "./intents/read.js";
import { matchRemember } from "./intents/remember.js";
import { matchCommand, matchQuotedCommand } from "./intents/run.js";
import { matchScript } from "./intents/script.js";
import { matchSearch } from "./intents/search.js";
import type { RequestText } from "./request-text.js";

const MATCHERS: readonly Matcher[] = [
  // The words behind it are the user's note, whatever they are about.
  matchRemember,
  // A literal command or edit before anything that might read words inside it.
  matchEdit,
  matchScript,
  matchGit,
  matchFact,
  // One file before many; reading it before a command that would do the same.
  matchMeasure,
  matchRead,
  matchQuotedCommand,
  matchCommand,
  matchProject,
  matchList,
  matchSearch,
];

/** Rules cannot understand a longer request. Quoted text does not count. */
const MOST_CHARACTERS = 1_000;

/** Always gives an answer: if no rule matches, it explains what the offline model is and what it can do. */
export function matchIntent(request: RequestText): Match {
  for (const match of request.text.length > MOST_CHARACTERS ? [] : MATCHERS) {
    const found = match(request);
    if (found !== undefined) return found;
  }
  return matchAbout(request);
}

export function isUnderstood(match: Match): boolean {
  return match.intent !== ABOUT;
}
