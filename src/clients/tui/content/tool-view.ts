/** A tool call: one line with its purpose and result, and below it the output that the user needs. */
import { roundTokens } from "../../../base/budget-text.js";
import { commandFailure } from "../../../base/command-failure.js";
import { formatDuration } from "../../../base/duration.js";
import { safeLine, safeText } from "../../../base/terminal-text.js";
import { textWidth } from "../../../base/text-width.js";
import { parseHunks } from "../../sdk/shown/hunks.js";
import { languageOfFile } from "../../sdk/shown/languages.js";
import type { ToolBlock } from "../../sdk/shown/tool-block.js";
import { argumentWords, counted, patchedFiles, pathOf, resultWords } from "../../sdk/shown/tool-words.js";
import type { Theme } from "../theme.js";
import { renderDiff } from "./diff/render-diff.js";
import { DOT, ELLIPSIS, toolMark } from "./marks.js";
import type { RenderOptions } from "./render-block.js";
import { plainText, type Span, span } from "./spans.js";
import { lineCount, tailOf } from "./tail.js";
import { todoLines } from "./todo.js";
import { clipSpans, clipText, wrapSpans } from "./wrap.js";

/** Output lines of a running command. */
const LIVE_LINES = 5;
/** Output lines of a command that has ended: results, errors and summaries are at the end. */
const SUCCESS_LINES = 5;
const FAILURE_LINES = 10;
/** The most rows for a long line of output, unless the output is expanded. */
const ROWS_PER_LINE = 4;
const DIFF_LINES = 24;
const CHILDREN = 6;
const INDENT = "  ";
/** With fewer cells, arguments are left out. */
const MIN_WORDS = 4;
const MAX_WORDS = 1000;
const DEEPEST = 6;

export function renderTool(block: ToolBlock, options: RenderOptions, depth = 0): string[] {
  const indent = options.width > 8 ? INDENT : "";
  const inner = { ...options, width: options.width - indent.length };
  const body = [...bodyOf(block, inner), ...childLines(block, inner, depth)];
  return [headLine(block, options), ...body.map((line) => (line === "" ? "" : indent + line))];
}

/** If space is short, the arguments are cut before the facts after them. */
function headLine(block: ToolBlock, options: RenderOptions): string {
  const { width, theme } = options;
  const name = span(safeLine(block.tool), "strong");
  const lead = [toolMark(block.result?.status ?? "running"), span(" "), name];
  const { facts, time } = factsOf(block, options);
  const said = safeLine(oneLine(argumentWords(block), theme));
  const room = (shown: readonly Span[]) => width - textWidth(plainText([...lead, ...shown])) - 1;
  const all = [...facts, ...time].flatMap((fact) => [DOT, fact]);
  // The time is the least important part.
  const behind = room(all) >= textWidth(said) ? all : facts.flatMap((fact) => [DOT, fact]);
  const shown = room(behind) < MIN_WORDS ? "" : clipText(said, room(behind));
  const words = shown === "" ? [] : [span(" "), ...withFile(shown, block, options)];
  return clipSpans([...lead, ...words, ...behind], options);
}

/** The words with the name of their file as a link. */
function withFile(words: string, block: ToolBlock, { fileUrl }: RenderOptions): readonly Span[] {
  const path = pathOf(block);
  if (fileUrl === undefined || path === undefined || path === "" || !words.startsWith(path)) return [span(words)];
  return [{ ...span(path), file: fileUrl(path) }, span(words.slice(path.length))];
}

function oneLine(words: string, _theme: Theme): string {
  return words
    .slice(0, MAX_WORDS)
    .trim()
    .replace(/\s*\n\s*/g, " ⏎ ");
}

interface Facts {
  readonly facts: readonly Span[];
  readonly time: readonly Span[];
}

function factsOf(block: ToolBlock, { now }: RenderOptions): Facts {
  const { result, startedAt } = block;
  const agent = agentSpans(block);
  if (result === undefined) return { facts: [...agent, ...elapsed(now - startedAt)], time: [] };
  const time = elapsed(durationOf(block));
  if (result.status !== "ok") {
    const role = result.status === "error" || result.status === "timeout" ? "danger" : "warning";
    return { facts: [span(safeLine(commandFailure(result)?.ending ?? result.status), role)], time };
  }
  if (agent.length > 0) return { facts: agent, time };
  const words = resultWords(block) ?? counted(lineCount(contentText(block)), "line", "lines");
  return { facts: words === undefined ? [] : [span(safeLine(words), "dim")], time };
}

/** What a subagent used so far. */
function agentSpans({ agent }: ToolBlock): Span[] {
  if (agent === undefined) return [];
  const calls = agent.calls === 0 ? [] : [span(counted(agent.calls, "call", "calls") ?? "", "dim")];
  return agent.tokens === 0 ? calls : [...calls, span(`${roundTokens(agent.tokens)} tokens`, "dim")];
}

function durationOf({ result, startedAt }: ToolBlock): number {
  const measured = result?.details?.duration_ms;
  return typeof measured === "number" ? measured : (result?.endedAt ?? startedAt) - startedAt;
}

/** Empty below a second. */
function elapsed(ms: number): Span[] {
  return ms >= 1000 ? [span(formatDuration(Math.floor(ms / 1000) * 1000), "dim")] : [];
}

function bodyOf(block: ToolBlock, options: RenderOptions): string[] {
  const { result } = block;
  if (result === undefined) return liveTail(block, options);
  if (result.status !== "ok") return failureLines(block, options);
  const changes = changeLines(block, options);
  if (changes.length > 0) return changes;
  if (Array.isArray(result.details?.todos)) return todoLines(result.details, options);
  if (options.expanded) return outputLines(contentText(block), options);
  return typeof block.args.command === "string" ? tailLines(contentText(block), SUCCESS_LINES, options) : [];
}

/** The last lines of an output, and how many lines are before them. */
function tailLines(output: string, most: number, options: RenderOptions): string[] {
  const { width, theme } = options;
  const { lines, before } = tailOf(output, most);
  const shown = lines.flatMap((line) => shortened(wrapSpans([span(line, "dim")], { width, theme }), options));
  return before > 0 ? [hiddenLine(before, options), ...shown] : shown;
}

function liveTail({ progress, agent }: ToolBlock, options: RenderOptions): string[] {
  const { width, theme, expanded } = options;
  const { lines, before } = tailOf(progress, expanded ? 200 : agent === undefined ? LIVE_LINES : 1);
  const head = before > 0 && expanded ? [beforeLine(before, options)] : [];
  return [...head, ...lines.map((line) => clipSpans([span(line.replaceAll("\t", "    "), "dim")], { width, theme }))];
}

function failureLines(block: ToolBlock, options: RenderOptions): string[] {
  const { result } = block;
  const failed = result === undefined ? undefined : commandFailure(result);
  const output = failed?.output ?? contentText(block);
  if (options.expanded) return outputLines(output, options);
  if (failed !== undefined) return tailLines(output, FAILURE_LINES, options);
  // A message of a tool has the important part first.
  const head = safeText(output.slice(0, 8000).trim()).split("\n").slice(0, FAILURE_LINES);
  const { width, theme } = options;
  return head.flatMap((line) => shortened(wrapSpans([span(line, "dim")], { width, theme }), options));
}

/** Keeps the end of a long line, because it is the end of the output. */
function shortened(rows: string[], { width, theme }: RenderOptions): string[] {
  return rows.length <= ROWS_PER_LINE
    ? rows
    : [clipSpans([span(ELLIPSIS, "dim")], { width, theme }), ...rows.slice(-ROWS_PER_LINE)];
}

/** The line that counts the hidden lines before. */
export function beforeLine(count: number, { width, theme }: RenderOptions, one = "line"): string {
  return clipSpans([span(`${ELLIPSIS} ${counted(count, one, `${one}s`)} before`, "dim")], { width, theme });
}

/** The line that counts the hidden lines, with the key that shows them. */
function hiddenLine(count: number, { width, theme }: RenderOptions): string {
  const words = span(`${ELLIPSIS} ${counted(count, "line", "lines")} before`, "dim");
  return clipSpans([words, DOT, span("ctrl+o", "key"), span(" shows all", "dim")], { width, theme });
}

export function outputLines(text: string, { width, theme }: RenderOptions): string[] {
  const shown = safeText(text.trimEnd());
  return shown === "" ? [] : wrapSpans([span(shown, "dim")], { width, theme, at: "anywhere" });
}

function changeLines({ result }: ToolBlock, options: RenderOptions): string[] {
  const details = result?.details;
  const files = patchedFiles(details);
  if (files.length === 0) {
    const path = typeof details?.path === "string" ? details.path : "";
    return typeof details?.diff === "string" ? diffLines(details.diff, path, options) : [];
  }
  return files.flatMap((file) => {
    const title = files.length === 1 ? [] : [span(safeLine(file.path), "strong"), DOT, span(file.words, "dim")];
    return [...(title.length === 0 ? [] : [clipSpans(title, options)]), ...diffLines(file.diff, file.path, options)];
  });
}

function diffLines(diff: string, path: string, { width, theme, expanded, tools }: RenderOptions): string[] {
  const { hunks, notes } = parseHunks(diff);
  const highlighter = tools?.highlighter(languageOfFile(path));
  const lines = renderDiff(hunks, { width, theme, highlighter, maxLines: expanded ? undefined : DIFF_LINES });
  return [...lines, ...notes.map((note) => clipSpans([span(safeLine(note), "dim")], { width, theme }))];
}

function contentText({ result }: ToolBlock): string {
  return (result?.content ?? []).map((part) => (part.type === "text" ? part.text : `[${part.media_type}]`)).join("\n");
}

function childLines({ children = [] }: ToolBlock, options: RenderOptions, depth: number): string[] {
  if (depth >= DEEPEST) return [];
  const shown = options.expanded ? children : children.slice(-CHILDREN);
  const left = children.length - shown.length;
  const before = left > 0 ? [beforeLine(left, options, "call")] : [];
  return [...before, ...shown.flatMap((child) => renderTool(child, options, depth + 1))];
}
