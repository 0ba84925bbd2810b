/** Removes files that hold secrets from git's output: only the header of a patch names its files. */
import { sensitiveReason } from "../../base/sensitive-path.js";

/** The text without the patches of such files; a line replaces each of them. */
export function withoutSecrets(text: string): string {
  let isLeftOut = false;
  const kept: string[] = [];
  for (const line of text.split("\n")) {
    const path = patchedPath(line);
    if (path !== undefined) {
      const reason = path.map(sensitiveReason).find((each) => each !== undefined);
      isLeftOut = reason !== undefined;
      if (isLeftOut) kept.push(`[the changes of ${path.at(-1)} are left out: ${reason}]`);
    } else if (isLeftOut && endsPatch(line)) isLeftOut = false;
    if (!isLeftOut) kept.push(line);
  }
  return kept.join("\n");
}

/** Whether the arguments name such a file: then the user agreed to see it. Of `HEAD:a/b` the path counts. */
export function namesSecrets(words: readonly string[]): boolean {
  return words.some(
    (word) => !word.startsWith("-") && sensitiveReason(word.slice(word.lastIndexOf(":") + 1)) !== undefined,
  );
}

/** The paths that a patch is about, when the line begins one. */
function patchedPath(line: string): readonly string[] | undefined {
  const combined = /^(?:[|/\\ *]*)diff --(?:cc|combined) (.+)$/.exec(line)?.[1];
  if (combined !== undefined) return [unquoted(combined)];
  const both = /^(?:[|/\\ *]*)diff --git (.+)$/.exec(line)?.[1];
  if (both === undefined) return undefined;
  // `a/x y b/x y`: where the two are the same, half of it; otherwise every way to cut it counts.
  return both
    .split(" ")
    .flatMap((_, index, words) => [words.slice(0, index + 1).join(" "), words.slice(index).join(" ")])
    .map((path) => unquoted(path).replace(/^[abciwo]\//, ""));
}

/** A new commit of a log begins; lines of a patch are indented or marked. */
function endsPatch(line: string): boolean {
  return /^(?:[|/\\ ]*\* )?(commit [0-9a-f]{7,}|[0-9a-f]{7,40} )/.test(line);
}

function unquoted(path: string): string {
  return path.replace(/^"|"$/g, "");
}
