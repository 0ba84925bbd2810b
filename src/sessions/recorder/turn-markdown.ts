/**
 * The events of a session as Markdown.
 *
 * 1. A text is redacted whole: an answer's block when it is complete, a result before it is cut. So a secret that arrives in two
 *    deltas, or lies on a boundary, is found.
 * 2. For any text, the next `### Turn N` is a heading (sessions/markdown.ts), and control characters are harmless.
 * 3. Only turns are recorded: what happens before the first, or between two, is not.
 */
import { groupDigits } from "../../base/group-digits.js";
import { safeLine, safeText } from "../../base/terminal-text.js";
import { turnStats } from "../../base/turn-stats.js";
import { AnswerEnds } from "../../protocol/answer-ends.js";
import type { InputContent, ResultContent } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventPayloads } from "../../protocol/events.js";
import type { CallId } from "../../protocol/ids.js";
import type { JsonObject } from "../../protocol/json.js";
import { closeOpenBlocks, codeBlock, codeSpan, escapeTurnLines, quote } from "../markdown.js";

export type Redact = (text: string) => string;

const RESULT_LINES = 10;
const RESULT_CHARACTERS = 1000;
const ARGUMENT_CHARACTERS = 200;
/** The rest of a result is ignored: only its beginning is shown. */
const REDACTED_CHARACTERS = 100_000;

export class TurnMarkdown {
  readonly #redact: Redact;
  #turn: number;
  #inTurn = false;
  #text = "";
  readonly #calls = new Map<CallId, number>();
  readonly #models = new Set<string>();
  readonly #ends = new AnswerEnds();

  constructor(redact: Redact, lastTurn: number) {
    this.#redact = redact;
    this.#turn = lastTurn;
  }

  get turn(): number {
    return this.#turn;
  }

  /** The text to add for this event; usually none yet. */
  take(event: Envelope): string {
    const end = this.#ends.take(event);
    if (event.kind === "TurnStarted") return this.#started(event.payload);
    if (!this.#inTurn) return "";
    switch (event.kind) {
      case "TextDelta":
        this.#text += event.payload.text;
        return "";
      case "ThinkingDelta":
        return this.#endBlock();
      case "AnswerEnded":
      case "CostIncremented":
        this.#models.add(`${event.payload.provider}:${event.payload.model}`);
        return end === undefined ? "" : this.#endBlock();
      case "AnswerRetracted":
        this.#text = "";
        return "";
      case "ContextAdded": {
        const { source, text } = event.payload;
        return `${this.#endBlock()}${quote(this.#clean(`${source}:\n${text}`).trimEnd())}\n\n`;
      }
      case "InputSteered":
        return `${this.#endBlock()}${quote(this.#clean(blockText(event.payload.input)).trimEnd())}\n\n`;
      case "TurnEnded":
        return this.#endBlock() + this.#ended(event.payload);
      case "ToolCallStarted":
        return this.#endBlock() + this.#called(event.payload);
      case "ToolResult":
        return this.#endBlock() + this.#returned(event.payload);
      default: {
        const note = describe(event);
        return note === undefined ? "" : `${this.#endBlock()}*${this.#line(note)}*\n\n`;
      }
    }
  }

  /** The rest, when the recording stops; during a turn it says so. */
  end(): string {
    if (!this.#inTurn) return "";
    this.#inTurn = false;
    return `${this.#endBlock()}*The recording stopped before the turn ended.*\n\n`;
  }

  #started({ input }: EventPayloads["TurnStarted"]): string {
    const before = this.#inTurn ? `${this.#endBlock()}*This turn has no end in the log.*\n\n` : "";
    this.#inTurn = true;
    this.#turn++;
    this.#calls.clear();
    this.#models.clear();
    const words = this.#clean(blockText(input)).trimEnd();
    return `${before}### Turn ${this.#turn}\n\n${words === "" ? "" : `${quote(words)}\n\n`}`;
  }

  #endBlock(): string {
    const text = this.#text;
    this.#text = "";
    if (text.trim() === "") return "";
    // An indented line would be code and a leading blank line nothing, so only the end is trimmed.
    return `${closeOpenBlocks(escapeTurnLines(this.#clean(text).trimEnd()))}\n\n`;
  }

  #called({ call, tool, args }: EventPayloads["ToolCallStarted"]): string {
    const number = this.#calls.size + 1;
    this.#calls.set(call, number);
    const shown = short(this.#line(argumentText(args)), ARGUMENT_CHARACTERS);
    return `**Call ${number}: ${codeSpan(this.#line(tool))}** ${codeSpan(shown)}`.trimEnd().concat("\n\n");
  }

  #returned({ call, tool, status, content }: EventPayloads["ToolResult"]): string {
    const number = this.#calls.get(call);
    const name = number === undefined ? codeSpan(this.#line(tool)) : String(number);
    const words = this.#clean(blockText(content).slice(0, REDACTED_CHARACTERS)).trimEnd();
    const body = words === "" ? "" : `${codeBlock(beginning(words))}\n\n`;
    return `**Result ${name}: ${status}**\n\n${body}`;
  }

  #ended({ outcome, iterations, usage, failure, truncated }: EventPayloads["TurnEnded"]): string {
    this.#inTurn = false;
    const { promptTokens, replyTokens } = turnStats(usage, 0);
    const facts = [
      outcome,
      `${iterations} model call${iterations === 1 ? "" : "s"}`,
      `${count(promptTokens)} in, ${count(replyTokens)} out`,
      ...this.#models,
    ];
    const why = failure === undefined ? "" : `${quote(this.#clean(failure.message))}\n\n`;
    const cut = truncated ? "*The answer was cut off at the model's output limit.*\n\n" : "";
    return `${cut}${why}*${this.#line(facts.join(" · "))}*\n\n`;
  }

  /** Harmless first: an escape sequence in the middle of a secret must not hide it. */
  #clean(text: string): string {
    return this.#redact(safeText(text));
  }

  #line(text: string): string {
    return safeLine(this.#clean(text));
  }
}

function describe(event: Envelope): string | undefined {
  switch (event.kind) {
    case "PermissionResolved": {
      const { tool, decision, decided_by } = event.payload;
      return `Permission for ${tool}: ${decision === "deny" ? "denied" : "allowed"} (${decided_by})`;
    }
    case "CompactionTriggered":
      return `The conversation was compacted: ${event.payload.reason}`;
    case "StreamGap":
      return `Events ${event.payload.from}–${event.payload.to} are missing: ${event.payload.reason}`;
    default:
      return undefined;
  }
}

function blockText(blocks: readonly (ResultContent | InputContent)[]): string {
  return blocks.map((block) => (block.type === "text" ? block.text : `[${block.media_type}]`)).join("\n");
}

function argumentText(args: JsonObject): string {
  const given = Object.entries(args).filter(([, value]) => value !== undefined);
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  return given.map(([name, value]) => (given.length === 1 ? text(value) : `${name}=${text(value)}`)).join(" ");
}

function beginning(text: string): string {
  const lines = text.split("\n");
  const head = short(lines.slice(0, RESULT_LINES).join("\n"), RESULT_CHARACTERS);
  const more = lines.length - RESULT_LINES;
  return more > 0 ? `${head}\n… ${count(more)} more line${more === 1 ? "" : "s"}` : head;
}

function short(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.charCodeAt(most - 1);
  const isHalf = end >= 0xd800 && end <= 0xdbff;
  return `${text.slice(0, isHalf ? most - 1 : most)}…`;
}

function count(value: number): string {
  return groupDigits(value);
}
