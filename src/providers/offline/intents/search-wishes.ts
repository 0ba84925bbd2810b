/** How the person wants what was found: counted, by file, with lines, ignoring case. Said at the end of a request. */

import phrases from "../phrases/wishes.txt";
import { PhraseBook } from "../phrases.js";
import type { SearchGoal } from "./search.js";

export interface Wishes {
  goal?: SearchGoal;
  ignoreCase?: true;
  wholeWord?: true;
}

const TAILS = new PhraseBook(phrases, { match: "ending" });

/** What a line of the table sets. The first one taken sets the goal. */
function wishOf(meaning: string, wishes: Wishes): Wishes {
  if (meaning === "ignoreCase" || meaning === "wholeWord") return { [meaning]: true };
  return meaning === "nothing" ? {} : { goal: wishes.goal ?? (meaning as SearchGoal) };
}

export interface WithoutWishes {
  readonly text: string;
  readonly wishes: Wishes;
}

export function takeWishes(text: string): WithoutWishes {
  const wishes: Wishes = {};
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
      Object.assign(wishes, wishOf(meaning, wishes));
      break;
    }
  }
  return { text: rest, wishes };
}
