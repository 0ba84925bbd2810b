/** How the person wants what was found: counted, by file, with lines, ignoring case. Said at the end of a request. */
import type { SearchGoal } from "./search.js";

export interface Wishes {
  goal?: SearchGoal;
  ignoreCase?: true;
  wholeWord?: true;
}

interface Tail {
  /** What its group `keep` matched is left standing; its group `again` must have been said before. */
  readonly pattern: RegExp;
  readonly set: Wishes;
}

const LEAD =
  ",?;?(?: (?:and|then|but))*(?: (?:please|also))?(?: (?:tell|show|give) me| say| report| let me know| list| print| see)?";
export const MOST =
  "(?:the )?(?:most|highest (?:number|count)|largest number|greatest number)(?: of (?:them|those|these|matches))?(?: of all)?(?: (?:occurrences|matches|hits))?";

/** Wishes at the end of a request, in any number: each is taken off and remembered. The first one taken sets the goal. */
const TAILS: readonly Tail[] = [
  {
    pattern: new RegExp(
      `${LEAD} (?:which|what|in which|the)(?: one)?(?: of the)? (?:files?|one|of them)(?: that)? (?:has|have|contains?|holds|with) ${MOST}(?: (?<again>\\S+))?$`,
      "i",
    ),
    set: { goal: "most" },
  },
  { pattern: new RegExp(`${LEAD} where (?:most of them are|there are (?:the )?most)$`, "i"), set: { goal: "most" } },
  {
    pattern: new RegExp(
      `${LEAD} (?:count (?:them|those|it)|how many(?: of them)?(?: there are| are there| they are)?) (?:per|by|in each|for each|in every) file$`,
      "i",
    ),
    set: { goal: "per-file" },
  },
  {
    pattern: new RegExp(
      `${LEAD}(?: (?:grouped|broken down|counted|sorted|split))? (?:per|by|for each|in each|for every|in every) file$`,
      "i",
    ),
    set: { goal: "per-file" },
  },
  {
    pattern:
      /(?: and count them)? (?:per|by|for each|in each|for every|in every) file(?<keep> (?:in|inside|within|under) .+)$/i,
    set: { goal: "per-file" },
  },
  { pattern: /,? file by file$/i, set: { goal: "per-file" } },
  {
    pattern: new RegExp(
      `${LEAD} (?:count (?:them|those|it)|how many(?: of them)?(?: there are| are there| they are)?|(?:the )?(?:total|number|count)(?: of them)?)$`,
      "i",
    ),
    set: { goal: "count" },
  },
  {
    pattern: new RegExp(
      `${LEAD} (?:in )?(?:which|what|the) files?(?: (?:they are in|contain them|have them|names?|it is in))?$`,
      "i",
    ),
    set: { goal: "files" },
  },
  {
    pattern:
      /(?:,|;| and| then)+(?: (?:also|please))?(?: (?:tell|show|give) me| say| report| let me know| list| print| see)? (?:where(?: (?:they|it) (?:are|is))?|them|(?:the |all )?(?:matching )?lines|the (?:matches|results|locations))$/i,
    set: { goal: "lines" },
  },
  {
    pattern:
      /,? (?:with|including|along with)(?: the| their)? (?:files? names?|files? and lines?|line numbers?|lines?|locations?|paths?)$/i,
    set: { goal: "lines" },
  },
  {
    pattern:
      /,? (?:\(?(?:ignoring|ignore|regardless of|no matter the) (?:the )?(?:upper |lower )?case\)?|\(?case[- ]?insensitive(?:ly)?\)?|in (?:any|upper or lower) case)$/i,
    set: { ignoreCase: true },
  },
  { pattern: /,? \(?(?:case[- ]?sensitive(?:ly)?|(?:with|matching) (?:the )?exact case)\)?$/i, set: {} },
  { pattern: /,? \(?(?:as )?(?:a )?whole words?(?: only)?\)?$/i, set: { wholeWord: true } },
  { pattern: /,? (?:at all|anywhere|somewhere|currently|right now|in total|altogether|overall)$/i, set: {} },
];

export interface WithoutWishes {
  readonly text: string;
  readonly wishes: Wishes;
}

export function takeWishes(text: string): WithoutWishes {
  const wishes: Wishes = {};
  let rest = text;
  for (let before = ""; before !== rest; ) {
    before = rest;
    for (const { pattern, set } of TAILS) {
      const match = pattern.exec(rest);
      // "…which file has the most of them" may repeat the word; another word would be another question.
      const again = match?.groups?.again?.replace(/s$/, "").toLowerCase();
      if (again !== undefined && !rest.slice(0, match?.index).toLowerCase().includes(again)) continue;
      const shorter = match === null ? rest : rest.slice(0, match.index) + (match.groups?.keep ?? "");
      // A tail that is all there is left was no tail.
      if (shorter === rest || !shorter.includes(" ")) continue;
      rest = shorter;
      const goal = wishes.goal ?? set.goal;
      Object.assign(wishes, set, goal === undefined ? {} : { goal });
    }
  }
  return { text: rest, wishes };
}
