/** Finding the file that a request names only by its first name ("the readme"). */
import { documentGlob, globCall } from "./calls.js";
import { parsePaths } from "./outputs/search-output.js";
import { call, type Steps } from "./plan.js";

/** The nearest to the top, text before anything else, in the order of names; nothing when there is none. */
export function* lookUpDocument(name: string): Steps<string | undefined> {
  const { paths } = parsePaths((yield* call(globCall(documentGlob(name)))).text);
  const rank = (path: string): number =>
    path.split("/").length * 2 + (/(?:\.md|\.txt|\.rst|\/[^./]+|^[^./]+)$/i.test(path) ? 0 : 1);
  return [...paths].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))[0];
}
