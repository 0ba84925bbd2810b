/** How the person wants what was found: counted, by file, with lines, ignoring case. Said at the end of a request. */

import phrases from "../phrases/search-options.txt";
import { PhraseBook } from "../phrases.js";
import type { SearchGoal } from "./search.js";

export interface SearchOptions {
  goal?: SearchGoal;
  ignoreCase?: true;
  wholeWord?: true;
}

const TAILS = new PhraseBook(phrases, { match: "ending" });

/** What a line of the table sets. The first one taken sets the goal. */
function optionOf(meaning: string, options: SearchOptions): SearchOptions {
  if (meaning === "ignoreCase" || meaning === "wholeWord") return { [meaning]: true };
  return meaning === "nothing" ? {} : { goal: options.goal ?? (meaning as SearchGoal) };
}

export interface WithoutOptions {
  readonly text: string;
  readonly options: SearchOptions;
}

export function takeOptions(text: string): WithoutOptions {
  const options: SearchOptions = {};
  let rest = text;
  for (let before = ""; before !== rest; ) {
    before = rest;
    for (const { meaning, slots, index } of TAILS.matches(rest)) {
      // "…which file has the most of them" may repeat the word; another word would be another question.
      const again = slots.again?.replace(/s$/, "").toLowerCase();
      if (again !== undefined && !rest.slice(0, index).toLowerCase().includes(again)) continue;
      const shorter = rest.slice(0, index) + (slots.keep ?? "");
      // A tail that is all there is left was no tail.
      if (!shorter.includes(" ")) continue;
      rest = shorter;
      Object.assign(options, optionOf(meaning, options));
      break;
    }
  }
  return { text: rest, options };
}
