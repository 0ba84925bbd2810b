import { join } from "node:path";
import type { Tool } from "../engine/ports.js";
import { CATALOG } from "./catalog.js";
import type { Arguments } from "./file-tool.js";
import { ArgumentError, counted, done, failed, fileTool, formatCount, noted } from "./file-tool.js";
import { printable } from "./files/printable.js";
import { globMatcher } from "./search/glob-pattern.js";
import {
  type FoundFile,
  type FoundLine,
  MAX_COUNTED,
  type SearchMode,
  type SearchRequest,
} from "./search/search-request.js";
import type { Searcher, SearchResult } from "./search/searcher.js";
import type { Workspace } from "./workspace.js";

const MODES: readonly SearchMode[] = ["content", "files", "count"];
const DEFAULT_LIMIT: Readonly<Record<SearchMode, number>> = { content: 200, files: 500, count: 500 };
const MAX_LIMIT = 2000;
const MAX_CONTEXT = 20;
const MAX_CHARACTERS = 50_000;

export function createGrepTool(workspace: Workspace, searcher: Searcher): Tool {
  return fileTool(CATALOG.grep, async (args, context) => {
    const request = requestFrom(args);
    const result = await searcher.search(args.optionalText("path") ?? ".", request, context.signal);
    const shown = printable(result.start.display);
    if (result.isBinary) return failed(`${shown} is a binary file: its content is not searched.`);
    const { text, notes, shownCount } = render(request, result, (path) =>
      printable(workspace.display(join(result.start.absolute, path))),
    );
    const details = {
      path: result.start.display,
      pattern: request.pattern,
      mode: request.mode,
      files: result.totalFiles,
      matches: result.totalCount,
      shown: shownCount,
      ...(isTooBroad(request, result) ? { partial: true } : {}),
    };
    return result.totalFiles === 0 ? noted("No matches.", details) : done(text, details, notes);
  });
}

function requestFrom(args: Arguments): SearchRequest {
  const pattern = args.text("pattern");
  if (pattern === "") throw new ArgumentError('"pattern" must not be empty.');
  const mode = args.choice("mode", MODES, "content");
  const glob = args.optionalText("glob");
  return {
    pattern,
    mode,
    ignoreCase: args.flag("ignore_case"),
    multiline: args.flag("multiline"),
    context: args.integer("context", { least: 0, most: MAX_CONTEXT, otherwise: 0 }),
    limit: args.integer("limit", { least: 1, most: MAX_LIMIT, otherwise: DEFAULT_LIMIT[mode] }),
    ...(glob === undefined || glob === "" ? {} : { glob: pathGlob(glob) }),
  };
}

/** A glob without a slash matches names at any depth. */
function pathGlob(given: string): string {
  const glob = given.replace(/^(\.?\/+)+/, "");
  const whole = given.includes("/") ? glob : `**/${glob}`;
  if (globMatcher(whole) === undefined)
    throw new ArgumentError(`"${given}" is not a well-formed glob: check its brackets and braces.`);
  return whole;
}

function isTooBroad(request: SearchRequest, result: SearchResult): boolean {
  return result.isPartial || (request.mode === "content" && result.totalCount > MAX_COUNTED);
}

interface Rendered {
  readonly text: string;
  readonly notes: readonly string[];
  /** The number of matching lines or files in the text. */
  readonly shownCount: number;
}

function render(request: SearchRequest, result: SearchResult, display: (path: string) => string): Rendered {
  const blocks =
    request.mode === "content"
      ? contentBlocks(request, result.files, display)
      : result.files.map((file) => ({
          text: request.mode === "count" ? `${display(file.path)}:${file.count}` : display(file.path),
          count: 1,
        }));
  const kept: string[] = [];
  let characters = 0;
  let shownCount = 0;
  for (const block of blocks) {
    characters += block.text.length + 1;
    if (characters > MAX_CHARACTERS && kept.length > 0) break;
    kept.push(block.text);
    shownCount += block.count;
  }
  return { text: kept.join("\n"), notes: leftOut(request, result, shownCount), shownCount };
}

/** One block per line, so that the limit of characters can cut anywhere. A blank line between files, `--` between distant lines. */
function contentBlocks(
  request: SearchRequest,
  files: readonly FoundFile[],
  display: (path: string) => string,
): readonly { text: string; count: number }[] {
  const blocks: { text: string; count: number }[] = [];
  let left = request.limit;
  for (const file of files) {
    const lines = firstMatches(file.lines, left, request.context);
    const title = `${blocks.length > 0 ? "\n" : ""}${display(file.path)}\n`;
    lines.forEach((line, index) => {
      const before = lines[index - 1];
      const isApart = request.context > 0 && before !== undefined && line.number > before.number + 1;
      const lead = index === 0 ? title : isApart ? "--\n" : "";
      blocks.push({
        text: `${lead}${line.number}${line.isMatch ? ":" : "-"}${line.text}`,
        count: line.isMatch ? 1 : 0,
      });
    });
    left -= lines.filter((line) => line.isMatch).length;
  }
  return blocks;
}

/** Up to the `most`th matching line and the context that follows it. */
function firstMatches(lines: readonly FoundLine[], most: number, context: number): readonly FoundLine[] {
  let seen = 0;
  let last = 0;
  for (const [index, line] of lines.entries()) {
    if (line.isMatch && ++seen > most) return lines.slice(0, index).filter((each) => each.number <= last + context);
    if (line.isMatch) last = line.number;
  }
  return lines;
}

function leftOut(request: SearchRequest, result: SearchResult, shown: number): readonly string[] {
  const isByLimit = shown >= request.limit && request.limit < MAX_LIMIT;
  const advice = `Narrow the pattern, path or glob${isByLimit ? ", or raise limit" : ""}.`;
  if (isTooBroad(request, result)) {
    return [`[The first ${formatCount(shown)} of more than ${formatCount(MAX_COUNTED)} matching lines. ${advice}]`];
  }
  const total = request.mode === "content" ? result.totalCount : result.totalFiles;
  if (shown >= total) return [];
  const noun = request.mode === "content" ? "matching line" : "file";
  const where =
    request.mode === "content" && result.kind === "folder" ? ` in ${counted(result.totalFiles, "file")}` : "";
  return [`[The first ${formatCount(shown)} of ${counted(total, noun)}${where}. ${advice}]`];
}
