/** Removes files that hold secrets from git's output: only the header of a patch names its files. */
import { sensitiveReason } from "../../base/sensitive-path.js";

/** The text without the patches of such files; a line replaces each of them. `words` are those of the command. */
export function withoutSecrets(text: string, words: readonly string[] = []): string {
  const filter = new PatchFilter(words);
  return filter.push(text) + filter.end();
}

/** A longer line is judged by its beginning. */
const MOST_OF_LINE = 16 * 1024;

/** The same for text that comes in pieces; a line is held back until it ends. */
export class PatchFilter {
  /** Each line of a patch begins with a sign that tells it from what follows the patch. */
  readonly #isMarked: boolean;
  #line = "";
  /** The beginning of the line was judged. */
  #isInLine = false;
  #leftOut: "no" | "marked" | "unmarked" = "no";

  constructor(words: readonly string[]) {
    this.#isMarked = !words.some((word) => /^--(word-diff|color-words)/.test(word));
  }

  push(piece: string): string {
    const [first = "", ...rest] = piece.split("\n");
    let kept = "";
    this.#line += first;
    for (const next of rest) {
      kept += this.#take("\n");
      this.#line = next;
    }
    return this.#line.length > MOST_OF_LINE ? kept + this.#take("") : kept;
  }

  end(): string {
    return this.#line === "" ? "" : this.#take("");
  }

  #take(end: string): string {
    const line = this.#line;
    const notice = this.#isInLine ? "" : this.#judge(plainLine(line));
    this.#isInLine = end === "";
    this.#line = "";
    return this.#leftOut === "no" ? line + end : notice;
  }

  /** The notice that begins a patch that is left out. */
  #judge(line: string): string {
    const paths = patchedPath(line);
    if (paths === undefined) {
      if (this.#leftOut === "marked" && /^[|/\\ *]*GIT binary patch/.test(line)) this.#leftOut = "unmarked";
      if (this.#leftOut === "marked" ? !isPatchLine(line) : endsPatch(line)) this.#leftOut = "no";
      return "";
    }
    const reason = paths.map(sensitiveReason).find((each) => each !== undefined);
    this.#leftOut = reason === undefined ? "no" : this.#isMarked ? "marked" : "unmarked";
    return reason === undefined ? "" : `[the changes of ${paths.at(-1)} are left out: ${reason}]\n`;
  }
}

/** Without colours and the end of a terminal's line. */
function plainLine(line: string): string {
  return line.replace(/\u001b\[[0-9;]*[mK]|\r$/g, "");
}

function isPatchLine(line: string): boolean {
  return /^[|/\\ *]*([-+@ \\]|$|(index|old mode|new mode|new file|deleted file|(dis)?similarity|rename|copy|Binary files) )/.test(
    line,
  );
}

/** Tells whether the arguments name such a file: then the user agreed to see it. Of `HEAD:a/b` the path counts. */
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
