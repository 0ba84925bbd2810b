/** Options at the end of a request: count the matches, list files, show lines, ignore case. */

import type { SearchGoal } from "./intents/search.js";
import phrases from "./phrases/search-options.txt";
import { PhraseBook } from "./phrases.js";

export interface SearchOptions {
  goal?: SearchGoal;
  ignoreCase?: true;
  wholeWord?: true;
}

const TAILS = new PhraseBook(phrases, "ending");

/** The options, and the request without them. */
export function takeOptions(text: string): { readonly text: string; readonly options: SearchOptions } {
  const options: SearchOptions = {};
  let rest = text;
  for (let before = ""; before !== rest; ) {
    before = rest;
    for (const { meaning, slots, index } of TAILS.matches(rest)) {
      // "…which file has the most of them" may repeat the word; another word would be another question.
      const again = slots.again?.replace(/s$/, "").toLowerCase();
      if (again !== undefined && !rest.slice(0, index).toLowerCase().includes(again)) continue;
      const shorter = rest.slice(0, index) + (slots.keep ?? "");
      // If only the option would remain, it was not an option.
      if (!shorter.includes(" ")) continue;
      rest = shorter;
      if (meaning === "ignoreCase" || meaning === "wholeWord") options[meaning] = true;
      else if (meaning !== "nothing") options.goal ??= meaning as SearchGoal;
      break;
    }
  }
  return { text: rest, options };
}
