/** The searches of `grep` and `glob` as ripgrep commands. */
import type { FoundFiles } from "./found-files.js";
import { globMatcher } from "./glob-pattern.js";
import { HIDDEN_ALWAYS } from "./ignore-rules.js";
import { RipgrepJson } from "./ripgrep-json.js";
import { type RipgrepPlace, RipgrepRefused, RipgrepUnusable, runRipgrep } from "./ripgrep-process.js";
import { compilePattern, PatternError, tolerantPattern } from "./rust-regex.js";
import { type FoundFile, MAX_COUNTED, type SearchRequest } from "./search-request.js";

export interface RipgrepTree extends RipgrepPlace {
  /** Says whether ignore files above `cwd` apply. */
  readonly parents: "obey" | "ignore";
  /** In a repository; elsewhere `.gitignore` files apply as well, but ripgrep needs a flag for that. */
  readonly isRepository: boolean;
}

/** All files that are not ignored and match the glob, relative to the place, in no particular order. */
export async function ripgrepFiles(tree: RipgrepTree, glob: string, each: (path: string) => void): Promise<void> {
  const matcher = globMatcher(glob);
  const decoder = new TextDecoder();
  let rest = "";
  await runRipgrep(tree, ["--files", "--null", ...treeOptions(tree), ...namePrefilter(glob), "--", "./"], (chunk) => {
    const paths = (rest + decoder.decode(chunk, { stream: true })).split("\0");
    rest = paths.pop() ?? "";
    for (const path of paths) {
      const inside = path.slice(2);
      if (matcher?.test(inside) === true) each(inside);
    }
    return "more";
  });
}

/** Throws `PatternError` for a pattern that ripgrep does not accept. */
export async function ripgrepSearch(tree: RipgrepTree, request: SearchRequest, found: FoundFiles): Promise<void> {
  const glob = request.glob === undefined ? undefined : globMatcher(request.glob);
  const add = (file: FoundFile): void => {
    if (file.count > 0 && (glob === undefined || glob.test(file.path))) found.add(file);
  };
  const options = [...treeOptions(tree), ...namePrefilter(request.glob)];
  const target = ["--", "./"];
  if (request.mode !== "content") return countMatches(tree, { request, args: [...options, ...target] }, add);

  const all = new RipgrepJson(request, (file, isBinary) => {
    if (!isBinary) add(file);
  });
  const end = await searchLines(tree, { request, args: [...options, ...target] }, (chunk) => {
    all.take(chunk);
    return found.totalCount + all.pending > MAX_COUNTED ? "enough" : "more";
  });
  if (end === "ended") return;
  // Too many results. The first by path must not depend on the fastest thread, so it searches again, in order.
  found.startOver();
  const first = new RipgrepJson(request, (file, isBinary) => {
    if (!isBinary) add(file);
  });
  await searchLines(tree, { request, args: [...options, "--sort", "path", ...target] }, (chunk) => {
    first.take(chunk);
    return found.totalCount + first.pending >= request.limit ? "enough" : "more";
  });
  first.flush();
}

/** Searches one file through the child's standard input. Undefined if it is binary. */
export async function ripgrepOne(place: RipgrepPlace, request: SearchRequest): Promise<FoundFile | undefined> {
  let result: FoundFile | undefined = { path: "", count: 0, lines: [] };
  const json = new RipgrepJson(request, (file, isBinary) => {
    result = isBinary ? undefined : file;
  });
  await searchLines(place, { request, args: ["--", "-"] }, (chunk) => {
    json.take(chunk);
    return request.mode === "content" && json.pending > MAX_COUNTED ? "enough" : "more";
  });
  json.flush();
  return result;
}

interface Command {
  readonly request: SearchRequest;
  readonly args: readonly string[];
}

function searchLines(
  place: RipgrepPlace,
  { request, args }: Command,
  take: (chunk: Buffer) => "more" | "enough",
): Promise<"ended" | "stopped"> {
  const context = request.mode === "content" && request.context > 0 ? ["--context", String(request.context)] : [];
  return runRipgrep(place, ["--json", ...context, ...patternOptions(request), ...args], take).catch(explain(request));
}

async function countMatches(
  place: RipgrepPlace,
  { request, args }: Command,
  add: (file: FoundFile) => void,
): Promise<void> {
  const what = request.multiline ? "--count-matches" : "--count";
  const output = [what, "--null", "--with-filename", ...patternOptions(request), ...args];
  const decoder = new TextDecoder();
  let rest = "";
  await runRipgrep(place, output, (chunk) => {
    const text = rest + decoder.decode(chunk, { stream: true });
    let end = 0;
    // A path may hold anything but the NUL after it. Older versions end the line as --crlf says.
    for (const [whole, path = "", count] of text.matchAll(/\.\/([^\0]*)\0(\d+)\r?\n/g)) {
      add({ path, count: Number(count), lines: NONE });
      end += whole.length;
    }
    rest = text.slice(end);
    return "more";
  }).catch(explain(request));
}

const NONE: FoundFile["lines"] = [];

/** The same files on every machine, independent of the user's own settings; see also ignore-rules and tree-walk. */
function treeOptions({ parents, isRepository }: RipgrepTree): readonly string[] {
  return [
    ...COMMON,
    "--hidden",
    ...(isRepository ? [] : ["--no-require-git"]),
    "--no-ignore-global",
    "--no-ignore-exclude",
    ...(parents === "ignore" ? ["--no-ignore-parent"] : []),
    ...[...HIDDEN_ALWAYS].flatMap((name) => ["--glob", `!${name}`]),
  ];
}

const COMMON = ["--no-config", "--no-messages", "--no-ignore-messages", "--color=never", "--no-follow"];

function patternOptions(request: SearchRequest): readonly string[] {
  return [
    ...COMMON,
    "--no-mmap",
    "--crlf",
    "--line-number",
    request.ignoreCase ? "--ignore-case" : "--case-sensitive",
    ...(request.multiline ? ["--multiline", "--multiline-dotall"] : []),
    "--regexp",
    tolerantPattern(request.pattern),
  ];
}

/**
 * Narrows the search by the last name of a glob. `--glob` itself would include ignored files; a file type does not, and
 * the exact test of the whole path comes afterwards.
 */
function namePrefilter(glob: string | undefined): readonly string[] {
  const name = glob?.slice(glob.lastIndexOf("/") + 1) ?? "";
  const isPlain = /^[\w.*?-]+$/.test(name) || /^[\w.*?-]*\{[\w.*?,-]+\}[\w.*?-]*$/.test(name);
  if (!isPlain || name.includes("**") || /[{][^}]*[/]/.test(glob ?? "")) return [];
  return ["--type-add", `wanted:${name}`, "--type", "wanted"];
}

function explain(request: SearchRequest): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof RipgrepRefused)) throw error;
    if (!/regex|pattern|look-around|backreference|not allowed/i.test(error.message))
      throw new RipgrepUnusable(error.message);
    // Our own parser usually has a clearer message.
    compilePattern(request.pattern, { unit: request.multiline ? "text" : "line", ignoreCase: request.ignoreCase });
    const reason = /error: (.*)/.exec(error.message)?.[1] ?? error.message.trim().split("\n").at(-1);
    throw new PatternError(
      `The pattern is not a valid regular expression: ${reason}. Write \\ before each of ( ) [ ] { } that is text.`,
    );
  };
}
