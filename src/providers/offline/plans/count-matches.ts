/** How often something occurs, file by file, counted in a way that is exact or says what it counts instead. */
import { countingMode, grepCall, readCall } from "../calls.js";
import { joinedText, parseFileText } from "../outputs/file-text.js";
import { type CountList, parseCounts } from "../outputs/search-output.js";
import { call, type Steps, type Toolbox } from "../plan.js";
import { looksLikeFile, type Scope } from "../scope.js";

export interface MatchCounts extends CountList {
  /** What one of the numbers stands for: "occurrence" or "matching line". */
  readonly unit: string;
}

export interface Counting {
  readonly pattern: string;
  readonly scope: Scope;
  readonly ignoreCase: "ignore case" | "exact case";
  /** The pattern is literal text or nearly so, and means the same here as in the search. */
  readonly portable: "portable" | "of the search";
}

const MOST_FILES = 2000;

export function* countMatches(counting: Counting, tools: Toolbox): Steps<MatchCounts> {
  const { scope, pattern } = counting;
  if (scope.path !== undefined && looksLikeFile(scope.path)) return yield* countInFile(scope.path, counting);
  const { options, unit } = countingMode(tools);
  const fact = yield* call(grepCall(pattern, scope, { ...options, ...caseOption(counting), limit: MOST_FILES }));
  const counts = parseCounts(fact.text);
  // A file whose name did not show that it is one.
  if (counts.files.length === 1 && counts.files[0]?.path === scope.path)
    return yield* countInFile(scope.path ?? "", counting);
  return { ...counts, unit };
}

/** A search within one file counts lines, so a file that can be seen whole is counted here. */
function* countInFile(path: string, counting: Counting): Steps<MatchCounts> {
  const fact = yield* call({ ...readCall(path), mayFail: true });
  const text = fact.failed ? undefined : parseFileText(fact.text);
  if (text?.whole && counting.portable === "portable" && !path.endsWith(".ipynb")) {
    const flags = counting.ignoreCase === "ignore case" ? "giu" : "gu";
    const count = [...joinedText(text).matchAll(new RegExp(counting.pattern, flags))].length;
    return { files: count === 0 ? [] : [{ path, count }], unit: "occurrence" };
  }
  const options = { mode: "count", ...caseOption(counting) };
  const lines = parseCounts((yield* call(grepCall(counting.pattern, { path }, options))).text);
  return { ...lines, unit: "matching line" };
}

function caseOption({ ignoreCase }: Counting) {
  return ignoreCase === "ignore case" ? { ignore_case: true } : {};
}
