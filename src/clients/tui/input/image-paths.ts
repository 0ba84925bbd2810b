/**
 * Finds image files in dropped or pasted text. Terminals write the path in quotation marks, with backslashes before spaces, or as a
 * `file://` address, and several in a row. If the text contains anything else, it is ordinary text.
 */

const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;
const WORD = /\s*(?:'([^']*)'|"([^"]*)"|((?:\\.|[^\s\\'"])+))(?=\s|$)/y;
const MAX_CHARACTERS = 10_000;

/** Empty if the text contains anything except paths of images. */
export function imagePaths(text: string): readonly string[] {
  const trimmed = text.trim();
  if (trimmed.length > MAX_CHARACTERS) return [];
  const words = wordsOf(trimmed)?.map(pathOf);
  if (words?.every(isImagePath)) return words;
  // Some terminals write a path with spaces unquoted.
  return isImagePath(trimmed) && !trimmed.includes("\n") ? [trimmed] : [];
}

function wordsOf(text: string): string[] | undefined {
  const words: string[] = [];
  WORD.lastIndex = 0;
  while (WORD.lastIndex < text.length) {
    const found = WORD.exec(text);
    if (found === null) return undefined;
    words.push(found[1] ?? found[2] ?? withoutEscapes(found[3] ?? ""));
  }
  return words.length === 0 ? undefined : words;
}

/** A backslash before a letter belongs to a Windows path. */
function withoutEscapes(word: string): string {
  return word.replace(/\\([^A-Za-z0-9])/g, "$1");
}

function pathOf(word: string): string {
  if (!/^file:\/\//i.test(word)) return word;
  try {
    const { host, pathname } = new URL(word);
    return host === "" || host === "localhost" ? decodeURIComponent(pathname) : "";
  } catch {
    return "";
  }
}

function isImagePath(path: string): boolean {
  return IMAGE.test(path) && /^(?:\/|~\/|[A-Za-z]:[\\/])/.test(path) && !/[\x00-\x1f]/.test(path);
}

export function baseName(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}
