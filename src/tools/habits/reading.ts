/** Describes how models of other harnesses read, list and search files. */
import type { Conversion, ToolHabits } from "../../engine/ports.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import {
  entriesIn,
  FOLDER,
  isFalse,
  isTrue,
  listIn,
  numberIn,
  PATH,
  plainPath,
  same,
  WORDS,
  without,
  words,
} from "./shared.js";

/* ---- read ---- */

export const READ: ToolHabits = {
  names: words(`
    read_file read_files read_many_files read_multiple_files read_text_file read_media_file view view_file
    view_image view_files read_image open_file open cat cat_file get_file_contents get_file_content file_read
    fs_read show_file read_resource load_file view_range read_notebook notebook_read read_pdf read_code
  `),
  parameters: {
    // `absolute_path` counts lines from 0, so it is converted below.
    path: PATH.filter((name) => name !== "absolute_path"),
    offset: words(`
      start_line line_start startline from_line first_line line_offset line_number line start_line_one_indexed
      start_line_number begin_line from start start_line_number_base_one
    `),
    limit: words("line_limit max_lines num_lines lines_to_read line_count count head number_of_lines length"),
  },
  unused: {
    ...WORDS,
    ...same(
      `
      shouldreadentirefile shouldreadwholefile includelinenumbers shownumbers withlinenumbers
      includesummaryofotherlines usedefaultexcludes recursive sudo
      `,
      "",
    ),
    detail: "an image is shown as it is.",
    pages: "the file is read by lines.",
  },
  convert: readRange,
};

function readRange(sent: JsonObject): Conversion | undefined {
  const address = [sent.path, sent.url].find((each) => typeof each === "string" && /^https?:\/\//i.test(each));
  if (address !== undefined) return { tool: "web_fetch", args: { ...without(sent, "path", "url"), url: address } };
  const several = severalFiles(sent);
  if (several !== undefined && !("args" in several)) return several;
  let args = several?.args ?? sent;
  // The schema of Gemini CLI with this name counts lines from 0.
  const isFromZero = args.path === undefined && args.absolutepath !== undefined;
  if (isFromZero) args = { ...without(args, "absolutepath"), path: args.absolutepath };
  args = plainPath(args);
  const isPlain = (value: JsonValue | undefined) => value === undefined || /^utf-?8$/i.test(String(value));
  if (isPlain(args.encoding)) args = without(args, "encoding");
  if (args.mode !== undefined && !/^(slice|text|r|full|lines)$/.test(String(args.mode)))
    return { refused: `read has no mode ${JSON.stringify(args.mode)}; use offset and limit. Nothing was run.` };
  if (numberIn(args.tail) !== undefined)
    return { refused: "read does not know `tail`: use `tail -n` with bash, or offset and limit. Nothing was run." };
  const [first, last] = [numberIn(args.startlinenumberbasezero), numberIn(args.endlinenumberbasezero)];
  if (first !== undefined) args = { ...args, offset: first + 1, ...(last !== undefined && { endline: last + 1 }) };
  args = without(args, "startlinenumberbasezero", "endlinenumberbasezero");
  const start = numberIn(args.offset);
  const range = rangeOf(args);
  if (typeof range === "string") return { refused: `read: ${range} Nothing was run.` };
  args = without(args, "mode", ...RANGES);
  if (range !== undefined) {
    const [first, last] = range;
    if (last !== undefined && last < first)
      return { refused: `read: the last line ${last} is before the first line ${first}. Nothing was run.` };
    args = { ...args, offset: first, ...(last !== undefined && { limit: last - first + 1 }) };
  } else if (start !== undefined && isFromZero) args = { ...args, offset: start + 1 };
  if (numberIn(args.limit) !== undefined && (numberIn(args.limit) ?? 0) <= 0) args = without(args, "limit");
  return { args };
}

const ENDS = words(`
  endline lineend endlineoneindexedinclusive endlinenumber toline lastline to end endlineinclusive
  endlinenumberbaseone
`);
const RANGES = [...ENDS, "viewrange", "linerange", "lineranges", "range", "ranges", "lines"];

/** The first and the last line, if the call names a last one. */
function rangeOf(args: JsonObject): readonly [number, number | undefined] | string | undefined {
  const given = RANGES.find((name) => args[name] !== undefined && !ENDS.includes(name));
  if (given !== undefined)
    return pairOf(args[given]) ?? `\`${given}\` must be two line numbers, the first and the last.`;
  const end = ENDS.map((name) => args[name]).find((value) => value !== undefined);
  if (end === undefined) return undefined;
  const last = numberIn(end);
  if (last === undefined) return `the last line must be a number, got ${JSON.stringify(end)}.`;
  return [Math.max(1, numberIn(args.offset) ?? 1), last === -1 ? undefined : last];
}

function pairOf(value: JsonValue | undefined): readonly [number, number | undefined] | undefined {
  const list = listIn(value);
  if (list?.length === 1 && numberIn(list[0]) === undefined) return pairOf(list[0]);
  if (list !== undefined && list.length > 2) return undefined;
  const words =
    list ?? (typeof value === "string" ? /^\s*L?(\d+)\s*[-:,]\s*L?(-?\d+)\s*$/i.exec(value)?.slice(1) : undefined);
  const only = isJsonObject(value) ? [value.start, value.end] : undefined;
  const [first, last] = (words ?? only ?? []).map((each) => numberIn(each));
  if (first === undefined) return undefined;
  return [Math.max(1, first), last === -1 ? undefined : last];
}

/** One file of a list is that file. Several need a call each. */
function severalFiles(args: JsonObject): Conversion | undefined {
  const lists = words("paths files filepaths include targetfiles filenames");
  const name = lists.find((each) => args[each] !== undefined) ?? (entriesIn(args.path) && "path");
  if (name === undefined) return undefined;
  const given = args[name] as JsonValue;
  const entries = (listIn(given) ?? [given]).map((entry) => (isJsonObject(entry) ? entry : { path: entry }));
  const [first, ...others] = entries;
  const paths = entries.map((entry) => String(entry.path ?? entry.file_path ?? entry.file ?? ""));
  if (first === undefined || others.length > 0) {
    const calls = paths.map((path) => JSON.stringify({ path })).join(" ");
    return { refused: `read takes one file a call. Nothing was run. Send these calls in one answer: ${calls}` };
  }
  const path = paths[0] ?? "";
  if (/[*?]/.test(path))
    return {
      refused: `read takes one file a call: use glob with ${JSON.stringify(path)}, then read. Nothing was run.`,
    };
  const { line_ranges: ranges = first.line_range, offset = first.start_line, limit, end_line: end } = first;
  return {
    args: {
      ...without(args, name),
      path,
      ...(ranges !== undefined && ranges !== null && { lineranges: ranges }),
      ...(offset !== undefined && offset !== null && { offset }),
      ...(limit !== undefined && limit !== null && { limit }),
      ...(end !== undefined && end !== null && { endline: end }),
    },
  };
}

/* ---- ls ---- */

export const LS: ToolHabits = {
  names: words(`
    print_tree list_dir list_directory list_files list_directory_contents list_folder list dir tree directory_tree
    view_directory view_dir list_directory_with_sizes get_directory_tree file_tree list_allowed_directories
    read_directory read_folder listdir
  `),
  parameters: { path: [...FOLDER, ...PATH], depth: ["max_depth", "maxdepth", "levels"] },
  unused: {
    ...WORDS,
    ...same(
      "skipignoredfiles respectgitignore respectgeminiignore filefilteringoptions showhidden includehidden all sortby",
      "",
    ),
    ...same("offset limit", "the list is shown whole, up to 500 entries."),
    ...same("ignore exclude excludepatterns", "ls leaves out what ignore files exclude."),
  },
  convert(sent, called) {
    const args = inPlace(sent);
    if (args.pattern !== undefined || args.glob !== undefined) {
      const pattern = args.pattern ?? args.glob ?? "";
      return { tool: "glob", args: { ...without(args, "pattern", "glob", "recursive"), pattern } };
    }
    const isWhole =
      isTrue(args.recursive) || ["directorytree", "tree", "getdirectorytree", "filetree", "printtree"].includes(called);
    const rest = without(args, "recursive");
    return { args: isWhole && rest.depth === undefined ? { ...rest, depth: 6 } : rest };
  },
};

/* ---- glob ---- */

export const GLOB: ToolHabits = {
  names: words(`
    find_files glob_files find_file find_by_name file_search find glob_search search_filenames find_path locate
    glob_file_search search_file_names file_glob_search list_files_by_pattern file_find_by_name
  `),
  parameters: {
    path: [...FOLDER, ...PATH.filter((name) => !["filename", "file_name", "file"].includes(name))],
    pattern: words("glob_pattern glob file_pattern patterns include search_pattern name_pattern"),
  },
  unused: {
    ...WORDS,
    ...same("skipignoredfiles respectgitignore respectgeminiignore filefilteringoptions", ""),
    type: "glob finds files only.",
    ...same("limit offset maxresults headlimit", "the first 500 files are shown."),
    casesensitive: "names are matched as they are written.",
    sortby: "the files are sorted by path.",
  },
  convert(sent) {
    let args = inPlace(sent);
    if (isTrue(args.noignore) || isFalse(args.respectgitignore))
      return {
        refused:
          "glob leaves out what ignore files exclude: name the folder in the pattern, or use `find` with bash. Nothing was run.",
      };
    for (const name of ["exclude", "excludepattern", "excludepatterns", "excludes"]) {
      const given = args[name];
      if (given === undefined) continue;
      if (Array.isArray(given) && given.length === 0) {
        args = without(args, name);
        continue;
      }
      return { refused: `glob does not know \`${name}\`: write a narrower pattern or path. Nothing was run.` };
    }
    const pattern = listIn(args.pattern);
    if (pattern !== undefined && pattern.length > 1) return { args: { ...args, pattern: `{${pattern.join(",")}}` } };
    if (args.pattern !== undefined) return { args };
    // A part of a name, as a person would type it.
    const name = args.query ?? args.filename ?? args.name ?? args.file;
    if (typeof name !== "string") return { args };
    const rest = without(args, "query", "filename", "name", "file");
    return { args: { ...rest, pattern: /[*?[{/]/.test(name) ? name : `**/*${name}*` } };
  },
};

/* ---- grep ---- */

/** File types as ripgrep names them. */
const TYPES: Readonly<Record<string, string>> = {
  c: "*.{c,h}",
  cpp: "*.{cc,cpp,cxx,h,hh,hpp,hxx}",
  cs: "*.cs",
  css: "*.{css,scss}",
  go: "*.go",
  html: "*.{html,htm}",
  java: "*.java",
  ...same("js javascript", "*.{js,jsx,mjs,cjs,vue}"),
  json: "*.json",
  kotlin: "*.{kt,kts}",
  lua: "*.lua",
  ...same("markdown md", "*.{md,markdown,mdx}"),
  php: "*.php",
  ...same("py python", "*.{py,pyi}"),
  ...same("rb ruby", "*.rb"),
  ...same("rust rs", "*.rs"),
  sh: "*.{sh,bash,zsh}",
  sql: "*.sql",
  swift: "*.swift",
  toml: "*.toml",
  ...same("ts typescript", "*.{ts,tsx,mts,cts}"),
  tsx: "*.tsx",
  txt: "*.txt",
  xml: "*.xml",
  yaml: "*.{yaml,yml}",
};

export const GREP: ToolHabits = {
  names: words(`
    grep_search search_file_content search_files search_text search_content search_in_files grep_files ripgrep rg
    search search_dir search_file search_code content_search find_in_files search_for_pattern search_file_contents
    regex_search grep_tool code_search search_codebase search_in_file file_find_in_content
  `),
  parameters: {
    pattern: words(
      "query queries regex search_pattern search_term search_query text search term substring_pattern regexp",
    ),
    path: [...FOLDER, ...PATH, "paths", "scope"],
    glob: words(`
      include file_pattern include_pattern includes file_glob glob_pattern glob_patterns include_globs files
      include_files paths_include_glob
    `),
    mode: ["output_mode", "output"],
    ignore_case: ["-i", "case_insensitive", "insensitive", "ignorecase", "i"],
    limit: words("head_limit max_results max_matches max_count total_max_matches -m max_num_results num_results"),
    context: ["context_lines", "-C", "lines_of_context", "around"],
  },
  values: {
    mode: {
      ...same("files_with_matches filenames paths files_only names", "files"),
      ...same("lines matches text", "content"),
    },
  },
  unused: {
    ...WORDS,
    ...same(
      `
      -n n -r -e linenumbers showlinenumbers recursive isregexp useregex respectgitignore respectgeminiignore
      filefilteringoptions contextbefore contextafter sudo
      `,
      "",
    ),
    offset: "the results begin with the first match.",
    maxmatchesperfile: "every match counts.",
  },
  convert: grepArguments,
};

function grepArguments(sent: JsonObject, called: string): Conversion | undefined {
  let args = options(inPlace(sent));
  // opencode searches the web for code by this name.
  if (args.tokensnum !== undefined)
    return { refused: `There is no search of public code; grep searches these files. Nothing was run.` };
  if (Array.isArray(args.path) && args.path.length > 1)
    return { refused: "grep takes one file or folder a call: send a call each, or use `glob`. Nothing was run." };
  // The name stands for two tools: one looks into files, the other at their names.
  if (called === "searchfiles" && sent.glob === undefined && typeof sent.pattern === "string" && isGlob(sent.pattern))
    return { tool: "glob", args: without(sent, "excludepatterns") };
  // The reference server of MCP looks for parts of names.
  if (called === "searchfiles" && sent.excludepatterns !== undefined && sent.glob === undefined)
    return { tool: "glob", args: { ...sent, pattern: `**/*${String(sent.pattern)}*` } };
  const notes =
    called === "searchfiles" && sent.glob === undefined ? ["These are lines in files; glob finds files by name."] : [];
  const before = numberIn(args["-b"] ?? args.before ?? args.beforecontext ?? args.contextbefore);
  const after = numberIn(args["-a"] ?? args.after ?? args.aftercontext ?? args.contextafter);
  const around = Math.max(before ?? 0, after ?? 0, numberIn(args.context) ?? 0);
  const names = words("-a -b after before aftercontext beforecontext contextafter contextbefore");
  args = without(args, ...names);
  if (around > 0) args = { ...args, context: around };
  const { pattern } = args;
  if (Array.isArray(pattern) && pattern.length > 1 && pattern.every((each) => typeof each === "string"))
    args = { ...args, pattern: pattern.map((each) => `(?:${each})`).join("|") };
  if (isTrue(args.namesonly) || isTrue(args["-l"]) || isTrue(args.filesonly)) args = { ...args, mode: "files" };
  if (isTrue(args["-c"]) || isTrue(args.countonly)) args = { ...args, mode: "count" };
  args = without(args, "namesonly", "-l", "filesonly", "-c", "countonly");
  if (args.casesensitive !== undefined) {
    if (isFalse(args.casesensitive)) args = { ...args, ignore_case: true };
    args = without(args, "casesensitive");
  }
  const isLiteral =
    ["fixedstrings", "literal", "-f", "literalsearch"].some((name) => isTrue(args[name])) ||
    ["isregex", "isregexp", "useregex", "regexsearch", "treatasregex"].some((name) => isFalse(args[name]));
  if (isLiteral && typeof args.pattern === "string") args = { ...args, pattern: literal(args.pattern) };
  args = without(
    args,
    "fixedstrings",
    "literal",
    "-f",
    "literalsearch",
    "isregex",
    "isregexp",
    "useregex",
    "regexsearch",
    "treatasregex",
  );
  if (isTrue(args.wholeword) || isTrue(args["-w"]) || isTrue(args.matchwholeword))
    args = { ...args, pattern: `\\b(?:${String(args.pattern)})\\b` };
  args = without(args, "wholeword", "-w", "matchwholeword");
  if (isTrue(args["-v"]) || isTrue(args.invertmatch))
    return { refused: "grep does not show the lines that do not match: use `grep -v` with bash. Nothing was run." };
  if (isTrue(args.noignore))
    return {
      refused:
        "grep leaves out what ignore files exclude: give the folder as path, or use `rg -uu` with bash. Nothing was run.",
    };
  args = without(args, "-v", "invertmatch", "noignore");
  for (const name of ["exclude", "excludepattern", "excludes", "excludepatterns", "ignore"]) {
    const given = args[name];
    if (given === undefined) continue;
    if (given !== "" && !(Array.isArray(given) && given.length === 0))
      return { refused: `grep does not know \`${name}\`: use a narrower path or glob. Nothing was run.` };
    args = without(args, name);
  }
  const globs = listIn(args.glob) ?? commaList(args.glob);
  if (globs !== undefined)
    args = { ...args, glob: globs.length === 1 ? (globs[0] as JsonValue) : `{${globs.join(",")}}` };
  const kind = args.type ?? args.filetype;
  if (kind !== undefined) {
    const type = typeof kind === "string" ? TYPES[kind.toLowerCase().replace(/^\*?\./, "")] : undefined;
    if (type === undefined || args.glob !== undefined)
      return {
        refused: `grep takes file types as glob, for example *.ts, not type ${JSON.stringify(kind)}. Nothing was run.`,
      };
    args = { ...without(args, "type", "filetype"), glob: type };
  }
  if (numberIn(args.limit) === 0) args = without(args, "limit");
  if (numberIn(args.offset) === 0) args = without(args, "offset");
  return { args, notes };
}

/** Options of the program in one word: `-nri`, or `i` as flags. */
function options(args: JsonObject): JsonObject {
  const found = Object.entries(args).flatMap(([name, value]) => {
    if (/^-[a-z]{2,}$/.test(name) && isTrue(value)) return [[name, name] as const];
    return /^(flags|options)$/.test(name) && /^-?[a-z]+$/i.test(String(value)) ? [[name, String(value)] as const] : [];
  });
  const letters = found.flatMap(([, text]) => [...text.replace("-", "")]).filter((letter) => /[inrlw]/.test(letter));
  const on = Object.fromEntries(letters.map((letter) => [letter === "i" ? "ignore_case" : `-${letter}`, true]));
  return { ...without(args, ...found.map(([name]) => name)), ...on };
}

/** `*.ts,*.md` */
function commaList(value: JsonValue | undefined): readonly string[] | undefined {
  if (typeof value !== "string" || !value.includes(",") || /[{}]/.test(value)) return undefined;
  return value.split(",").map((each) => each.trim());
}

/** An empty path is the folder itself. */
function inPlace(args: JsonObject): JsonObject {
  return args.path === "" ? without(args, "path") : plainPath(args);
}

/** Says whether a text is a pattern for names and not a regular expression. */
function isGlob(pattern: string): boolean {
  return /^(\*|\?|[\w./-]*\/?\*)/.test(pattern) && !/\.\*|[()|^$\\]/.test(pattern);
}

function literal(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
