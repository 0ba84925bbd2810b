/**
 * `@./other.md` in an instruction file includes that file, as in other tools.
 *
 * 1. This does not apply to code: neither in a fenced block nor between backquotes.
 * 2. A name without `./` counts only if such a file exists: `@scope/package` and `@name` are words.
 * 3. Includes nest at most five deep, and no file includes itself. A note replaces an import that is left out.
 */
export interface ImportedFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
}

/** `problem` ends the sentence "FILE …"; without one the file does not exist. */
export type ImportAnswer = ImportedFile | { readonly problem: string | undefined };

/** The file at a path as `from` spells it. */
export type ImportPort = (spelled: string, from: ImportedFile) => Promise<ImportAnswer>;

const MAX_DEPTH = 5;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const IMPORT = /(^|[\s(])@((?:\.{1,2}\/|~?\/)?[\w.~+-][\w./~+-]*)/g;
const HAS_ENDING = /\.[A-Za-z]\w{0,9}$/;

export async function expandImports(file: ImportedFile, load: ImportPort): Promise<string> {
  return file.text.includes("@") ? expand(file, load, [file.path]) : file.text;
}

async function expand(file: ImportedFile, load: ImportPort, within: readonly string[]): Promise<string> {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const line of file.text.split("\n")) {
    const mark = FENCE.exec(line)?.[1];
    const isCode = fence !== undefined || mark !== undefined;
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
    lines.push(isCode || !line.includes("@") ? line : await expandLine(line, { file, load, within }));
  }
  return lines.join("\n");
}

interface Place {
  readonly file: ImportedFile;
  readonly load: ImportPort;
  readonly within: readonly string[];
}

async function expandLine(line: string, place: Place): Promise<string> {
  // Every second piece is between backquotes.
  const pieces = line.split(/(`+[^`]*`+)/);
  const expanded = await Promise.all(pieces.map((piece, at) => (at % 2 === 1 ? piece : expandWords(piece, place))));
  return expanded.join("");
}

async function expandWords(words: string, place: Place): Promise<string> {
  let text = "";
  let end = 0;
  for (const match of words.matchAll(IMPORT)) {
    const [all, before = "", raw = ""] = match;
    const spelled = raw.replace(/[.]+$/, "");
    const put = await imported(spelled, place);
    text += words.slice(end, match.index) + before + (put ?? `@${spelled}`);
    end = match.index + all.length - (raw.length - spelled.length);
  }
  return text + words.slice(end);
}

/** The text that replaces an import; undefined if it is not one. */
async function imported(spelled: string, { file, load, within }: Place): Promise<string | undefined> {
  const isPath = /^(?:\.{1,2}\/|~?\/)/.test(spelled);
  if (!isPath && !HAS_ENDING.test(spelled)) return undefined;
  if (within.length > MAX_DEPTH) return leftOut(spelled, "is nested too deeply");
  const answer = await load(spelled, file);
  if (!("problem" in answer)) {
    if (within.includes(answer.path)) return leftOut(spelled, "imports itself");
    return (await expand(answer, load, [...within, answer.path])).trimEnd();
  }
  if (answer.problem !== undefined) return leftOut(spelled, answer.problem);
  return isPath ? leftOut(spelled, "does not exist") : undefined;
}

function leftOut(spelled: string, problem: string): string {
  return `(${spelled} is left out: it ${problem})`;
}
