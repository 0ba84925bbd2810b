/** How often text occurs in each file: the exact number, or the number of matching lines with that unit. */
import type { JsonObject } from "../../../protocol/json.js";
import { grepCall, readCall } from "../calls.js";
import { joinedText, parseFileText } from "../outputs/file-text.js";
import { type CountList, parseCounts } from "../outputs/search-output.js";
import { call, type Steps } from "../plan.js";
import { looksLikeFile, type Scope } from "../scope.js";

export interface MatchCounts extends CountList {
  /** What one of the numbers stands for: "occurrence" or "matching line". */
  readonly unit: string;
}

export interface Counting {
  readonly pattern: string;
  readonly scope: Scope;
  /** For `grep`: whether case counts. */
  readonly options: JsonObject;
  /** The pattern is literal text or nearly so, and means the same here as in the search. */
  readonly portable: boolean;
}

const MOST_FILES = 2000;

export function* countMatches(counting: Counting): Steps<MatchCounts> {
  const { scope, pattern, options } = counting;
  if (scope.path !== undefined && looksLikeFile(scope.path)) return yield* countInFile(scope.path, counting);
  // Over whole files a search counts every occurrence; line by line, two on one line are one.
  const whole = { mode: "count", multiline: true, ...options, limit: MOST_FILES };
  const counts = parseCounts((yield* call(grepCall(pattern, scope, whole))).text);
  // The name did not look like a file, but it is one.
  if (counts.files.length === 1 && counts.files[0]?.path === scope.path)
    return yield* countInFile(scope.path ?? "", counting);
  return { ...counts, unit: "occurrence" };
}

/** A search within one file counts lines, so this counts in the text of a file that one read shows whole. */
function* countInFile(path: string, { pattern, options, portable }: Counting): Steps<MatchCounts> {
  const fact = yield* call({ ...readCall(path), mayFail: true });
  const text = fact.failed ? undefined : parseFileText(fact.text);
  if (text?.whole && portable && !path.endsWith(".ipynb")) {
    const flags = options.ignore_case === true ? "giu" : "gu";
    const count = [...joinedText(text).matchAll(new RegExp(pattern, flags))].length;
    return { files: count === 0 ? [] : [{ path, count }], unit: "occurrence" };
  }
  const lines = parseCounts((yield* call(grepCall(pattern, { path }, { mode: "count", ...options }))).text);
  return { ...lines, unit: "matching line" };
}
