/** The fenced blocks of an answer: code to write to a file, and blocks that name their file. */

export interface CodeBlock {
  /** The words after the fence: `ts src/a.ts`. */
  readonly info: string;
  readonly content: string;
}

export interface TaggedBlock {
  readonly path: string;
  readonly content: string;
}

const FENCE = /^( {0,3})(`{3,}|~{3,})(.*)$/;

/** A block without an end is not complete, so it is left out. */
export function codeBlocks(answer: string): readonly CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open:
    | { readonly fence: string; readonly indent: number; readonly info: string; readonly lines: string[] }
    | undefined;
  for (const line of answer.split(/\r?\n/)) {
    const [, indent = "", fence = "", info = ""] = FENCE.exec(line) ?? [];
    if (open === undefined) {
      // An info string with a backtick is inline code.
      if (fence !== "" && !(fence.startsWith("`") && info.includes("`")))
        open = { fence, indent: indent.length, info: info.trim(), lines: [] };
      continue;
    }
    const closes = fence.startsWith(open.fence[0] ?? " ") && fence.length >= open.fence.length && info.trim() === "";
    if (!closes) {
      open.lines.push(line.replace(new RegExp(`^ {0,${open.indent}}`), ""));
      continue;
    }
    blocks.push({ info: open.info, content: open.lines.map((each) => `${each}\n`).join("") });
    open = undefined;
  }
  return blocks;
}

/**
 * Blocks whose fence names a file: `ts src/a.ts`, `src/a.ts`, `ts:src/a.ts`, `ts title="src/a.ts"`. If two blocks name one file, the
 * last one wins.
 */
export function taggedBlocks(answer: string): readonly TaggedBlock[] {
  const found = new Map<string, TaggedBlock>();
  for (const { info, content } of codeBlocks(answer)) {
    const path = pathIn(info);
    if (path === undefined) continue;
    found.delete(path);
    found.set(path, { path, content });
  }
  return [...found.values()];
}

const NAMED = /(?:title|file|filename|path)=(?:"([^"]+)"|'([^']+)'|(\S+))/;

function pathIn(info: string): string | undefined {
  const [, double, single, plain] = NAMED.exec(info) ?? [];
  const named = double ?? single ?? plain;
  if (named !== undefined) return named;
  const words = info.split(/\s+/).filter((word) => word !== "" && !word.startsWith("{"));
  const [first = "", second] = words;
  const colon = /^[\w+#.-]+:(.+)$/.exec(first)?.[1];
  return [second, colon, first].find((word) => word !== undefined && looksLikePath(word));
}

const NAMES: ReadonlySet<string> = new Set(
  "Makefile Dockerfile Containerfile Justfile justfile Procfile Gemfile Rakefile LICENSE CODEOWNERS".split(" "),
);

/** `src/a`, `README.md`, `Makefile`. Another name without a dot is a language, and a number is a version. */
export function looksLikePath(word: string): boolean {
  if (!/^[^\s`"'<>|*?:]+$/.test(word) || word.endsWith("/") || /^v?[\d.]+$/.test(word)) return false;
  return (
    NAMES.has(word) || word.includes("/") || /^\.?[\w@-][\w@.-]*\.[A-Za-z0-9]+$/.test(word) || /^\.[a-z]\w*$/.test(word)
  );
}
