/** A block of the conversation as lines: safe, within the width, without trailing spaces. */
import { formatDuration } from "../../../base/duration.js";
import { groupDigits } from "../../../base/group-digits.js";
import { safeLine, safeText } from "../../../base/terminal-text.js";
import { textWidth } from "../../../base/text-width.js";
import { counted } from "../../sdk/shown/tool-words.js";
import type { Role, Theme } from "../theme.js";
import { renderMarkdown } from "./answer-stream.js";
import type { Block } from "./block.js";
import { DOT, ELLIPSIS } from "./marks.js";
import { paintSpan, type Span, span } from "./spans.js";
import { lineCount, tailOf } from "./tail.js";
import { beforeLine, outputLines, renderTool } from "./tool-view.js";
import { type ContentTools, plainTools } from "./tools.js";
import { clipSpans, wrapSpans } from "./wrap.js";

export interface RenderOptions {
  readonly width: number;
  readonly theme: Theme;
  /** Show everything instead of a short form. */
  readonly expanded: boolean;
  /** By the client's clock. */
  readonly now: number;
  /** Plain ones until the real ones are loaded. */
  readonly tools?: ContentTools;
  /** Long lines without indentation are left to the terminal's own wrap. */
  readonly soft?: boolean | undefined;
  /** The address that a click on the name of a file opens. */
  readonly fileUrl?: (path: string) => string;
}

type Of<K extends Block["kind"]> = Extract<Block, { kind: K }>;

const PROMPT_LINES = 20;
const PROMPT_CHARACTERS = 4000;
const SHELL_LINES = 20;
/** A notice is a sentence; a longer one is cut. */
const MAX_NOTICE = 2000;
const NOTICE_LINES = 12;
const EXPAND_KEY = "ctrl+o";

export function renderBlock(block: Block, options: RenderOptions): string[] {
  switch (block.kind) {
    case "prompt":
      return renderPrompt(block, options);
    case "answer":
      return [...renderMarkdown(block.markdown, { ...options, tools: options.tools ?? plainTools })];
    case "thinking":
      return renderThinking(block, options);
    case "tool":
      return renderTool(block, options);
    case "command":
      return renderCommand(block, options);
    case "shell":
      return renderShell(block, options);
    case "notice":
      return renderNotice(block, options);
    case "turn-end":
      return renderTurnEnd(block, options);
  }
}

function renderPrompt({ text, images, audio = 0, steered }: Of<"prompt">, options: RenderOptions): string[] {
  const { expanded } = options;
  const whole = text.trimEnd();
  const { shown, left } = expanded ? { shown: whole, left: 0 } : beginningOf(whole);
  const extra = [
    ...(images > 0 ? [`[${counted(images, "image", "images")}]`] : []),
    ...(audio > 0 ? [`[${counted(audio, "audio file", "audio files")}]`] : []),
    ...(steered === true ? ["(sent while the model works)"] : []),
  ].join(" ");
  const spans = [
    span(safeText(shown), "user"),
    ...(extra === "" ? [] : [span(`${whole === "" ? "" : " "}${extra}`, "dim")]),
  ];
  const lines = marked(spans, options, { mark: "› ", role: "user" });
  if (left === 0) return lines;
  const more = left === 1 ? "1 more line" : `${groupDigits(left)} more lines`;
  const hint = [span(`  ${ELLIPSIS} ${more}`, "dim"), DOT, span(EXPAND_KEY, "key"), span(" shows them", "dim")];
  return [...lines, clipSpans(hint, options)];
}

/** The first lines of a long text, and how many lines follow. */
function beginningOf(text: string): { shown: string; left: number } {
  const lines = text.split("\n", PROMPT_LINES + 2);
  const isLong = lines.length > PROMPT_LINES + 1;
  const shown = isLong ? lines.slice(0, PROMPT_LINES).join("\n") : text;
  if (shown.length > PROMPT_CHARACTERS)
    return { shown: cut(shown, PROMPT_CHARACTERS), left: lineCount(text.slice(PROMPT_CHARACTERS)) };
  return { shown, left: isLong ? lineCount(text.slice(shown.length + 1)) : 0 };
}

/** The first characters, without splitting one. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const unit = text.charCodeAt(most - 1);
  return text.slice(0, unit >= 0xd800 && unit <= 0xdbff ? most - 1 : most);
}

function renderThinking({ text, elapsedMs }: Of<"thinking">, options: RenderOptions): string[] {
  if (options.expanded) {
    return safeText(text.trim())
      .split("\n")
      .flatMap((line) => wrapSpans([span(line, "dim")], hard(options)));
  }
  const seconds = Math.max(1, Math.round((elapsedMs ?? 0) / 1000));
  const words = elapsedMs === undefined ? `thinking${ELLIPSIS}` : `thought for ${seconds} s`;
  const hint = text.trim() === "" ? [] : [DOT, span(EXPAND_KEY, "key"), span(" shows it", "dim")];
  return [clipSpans([span(words, "dim"), ...hint], options)];
}

function renderCommand({ line, text, failed }: Of<"command">, options: RenderOptions): string[] {
  const output = safeText(text.trimEnd());
  const roles: Role[] = failed === true ? ["danger"] : [];
  const head = clipSpans([span(safeLine(cut(line, MAX_NOTICE)), "user")], options);
  const shown = output === "" ? [] : output.split("\n").flatMap((each) => hanging(each, roles, options));
  return [...(line === "" ? [] : [head]), ...shown];
}

/** A line of two columns or more: its last column stays aligned where it wraps. */
const COLUMNS = /^(.*\S {2,}| +)(?=\S)/;

function hanging(line: string, roles: readonly Role[], { width, theme }: RenderOptions): string[] {
  const before = textWidth(line) <= width ? undefined : COLUMNS.exec(line)?.[0];
  const cells = textWidth(before ?? "");
  if (before === undefined || cells * 2 > width) return wrapSpans([span(line, ...roles)], { width, theme });
  const first = { text: paintSpan(span(before, ...roles), theme), width: cells };
  const rest = { text: " ".repeat(cells), width: cells };
  return wrapSpans([span(line.slice(before.length), ...roles)], { width, theme, first, rest });
}

function renderShell({ command, unshared, output, exitCode }: Of<"shell">, options: RenderOptions): string[] {
  const { theme, expanded, width, soft } = options;
  const failed = exitCode !== undefined && exitCode !== 0;
  const facts = failed ? [DOT, span(`exit code ${exitCode}`, "danger")] : [];
  const head = marked([span(safeText(expanded ? command : beginningOf(command).shown), "user"), ...facts], options, {
    mark: unshared ? "!! " : "! ",
    role: "accent",
  });
  if (expanded) return [...head, ...outputLines(output, options)];
  const { lines, before } = tailOf(output, SHELL_LINES);
  const left = before > 0 ? [beforeLine(before, options)] : [];
  return [...head, ...left, ...lines.flatMap((line) => wrapSpans([span(line, "dim")], { width, theme, soft }))];
}

const NOTICES: Readonly<Record<Of<"notice">["level"], { mark: string; role: Role }>> = {
  info: { mark: "·", role: "dim" },
  warning: { mark: "!", role: "warning" },
  error: { mark: "✗", role: "danger" },
};

function renderNotice({ level, text }: Of<"notice">, options: RenderOptions): string[] {
  const { mark, role } = NOTICES[level];
  const words = text.trim();
  const shown = options.expanded || words.length <= MAX_NOTICE ? words : cut(words, MAX_NOTICE) + ELLIPSIS;
  const lines = tailless(safeText(shown), options);
  return marked([span(lines, role)], options, { mark: `${mark} `, role });
}

/** A notice of very many lines is cut too. */
function tailless(text: string, { expanded }: RenderOptions): string {
  const lines = text.split("\n");
  return expanded || lines.length <= NOTICE_LINES ? text : `${lines.slice(0, NOTICE_LINES).join("\n")}${ELLIPSIS}`;
}

const OUTCOMES: Readonly<Record<Of<"turn-end">["outcome"], string>> = {
  answered: "",
  limit: "Stopped at a limit.",
  denied: "Denied.",
  stopped: "Stopped.",
  cancelled: "Cancelled.",
  failed: "Failed.",
};

function renderTurnEnd({ outcome, elapsedMs, summary, failure }: Of<"turn-end">, options: RenderOptions): string[] {
  const facts = wrapSpans(
    [span(safeLine(cut(summary, MAX_NOTICE)) || formatDuration(elapsedMs), "dim")],
    hard(options),
  );
  if (outcome === "answered") return facts;
  const words = failure === undefined || failure === "" ? OUTCOMES[outcome] : failure;
  const level = outcome === "cancelled" ? "warning" : "error";
  return [...renderNotice({ kind: "notice", level, text: words }, options), ...facts];
}

/** Words of the program break between words. */
function hard({ width, theme }: RenderOptions) {
  return { width, theme };
}

/** Text after a mark; its other lines are aligned with the first. */
function marked(
  spans: readonly Span[],
  { width, theme }: RenderOptions,
  { mark, role }: { readonly mark: string; readonly role: Role },
): string[] {
  const cells = textWidth(mark);
  const rest = { text: " ".repeat(cells), width: cells };
  return wrapSpans(spans, { width, theme, first: { text: theme[role](mark), width: cells }, rest });
}
