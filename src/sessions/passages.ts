/**
 * The texts of a log in pieces that can be ranked and shown: inputs, answers (their deltas joined), calls with their arguments, and results.
 * What Oxbow itself added to an input is left out. Content that has expired is left out.
 */
import { AnswerEnds } from "../protocol/answer-ends.js";
import { plainText, resultText } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import { EXPIRED } from "../protocol/events.js";
import type { JsonValue } from "../protocol/json.js";
import { RECALL_TOOL } from "./recall-tool-definition.js";

export type PassageKind = "input" | "answer" | "call" | "result";

export interface Passage {
  readonly kind: PassageKind;
  /** From 1; 0 before the first turn. */
  readonly turn: number;
  /** The event it begins with. */
  readonly event: number;
  readonly ts: string;
  /** The tool of a call or result. */
  readonly tool?: string;
  readonly text: string;
}

/** Its calls only repeat what is elsewhere. */
const RECALL = RECALL_TOOL.name;
const PIECE = 1_200;
/** Of one event; more of a huge output is hardly worth finding. */
const MOST_PIECES = 64;

type Source = Pick<Passage, "event" | "ts">;

export class PassageReader {
  readonly #ends = new AnswerEnds();
  readonly #tools = new Map<string, string>();
  #turn = 0;
  #answer = "";
  #answerFrom: Source | undefined;
  #hasAnswer = false;

  /** The passages that are complete with this event. */
  take(event: Envelope): readonly Passage[] {
    const ended = this.#ends.take(event) === undefined ? [] : this.#endAnswer();
    return [...ended, ...this.#read(event)];
  }

  end(): readonly Passage[] {
    return this.#endAnswer();
  }

  #read(event: Envelope): readonly Passage[] {
    const from = { event: event.id, ts: event.ts };
    switch (event.kind) {
      case "TurnStarted": {
        const ended = this.#endAnswer();
        this.#turn++;
        this.#hasAnswer = false;
        return [...ended, ...this.#cut("input", plainText(event.payload.input), from)];
      }
      case "ContextAdded":
        return this.#cut("input", event.payload.text, from);
      case "InputSteered":
        return this.#cut("input", plainText(event.payload.input), from);
      case "TextDelta":
        if (event.payload.text === EXPIRED) return [];
        this.#answerFrom ??= from;
        this.#answer += event.payload.text;
        this.#hasAnswer = true;
        return [];
      case "AnswerRetracted":
        this.#answer = "";
        this.#answerFrom = undefined;
        return [];
      case "ToolCallStarted": {
        const { call, tool, args } = event.payload;
        this.#tools.set(call, tool);
        if (tool === RECALL) return [];
        return this.#cut("call", stringsOf(args).join("\n"), { ...from, tool });
      }
      case "ToolResult":
      case "ToolResultChanged": {
        const { call, content } = event.payload;
        const tool = this.#tools.get(call);
        if (tool === RECALL) return [];
        return this.#cut("result", resultText(content), { ...from, ...(tool !== undefined && { tool }) });
      }
      case "TurnEnded": {
        const ended = this.#endAnswer();
        return this.#hasAnswer ? ended : [...ended, ...this.#cut("answer", event.payload.text, from)];
      }
      default:
        return [];
    }
  }

  #endAnswer(): readonly Passage[] {
    const [text, from] = [this.#answer, this.#answerFrom];
    this.#answer = "";
    this.#answerFrom = undefined;
    return from === undefined ? [] : this.#cut("answer", text, from);
  }

  #cut(kind: PassageKind, text: string, from: Source & Pick<Passage, "tool">): readonly Passage[] {
    if (text.trim() === "" || text === EXPIRED) return [];
    return pieces(text).map((piece) => ({ kind, turn: this.#turn, ...from, text: piece }));
  }
}

/** At the ends of paragraphs, lines or words, where there are some. */
function pieces(text: string): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length && found.length < MOST_PIECES; ) {
    const end = endOf(text, at);
    const piece = text.slice(at, end).trim();
    if (piece !== "") found.push(piece);
    at = end;
  }
  return found;
}

function endOf(text: string, from: number): number {
  if (text.length - from <= PIECE) return text.length;
  const least = from + PIECE / 2;
  const later = text.slice(least, from + PIECE + 2);
  for (const boundary of ["\n\n", "\n", " "]) {
    const at = later.lastIndexOf(boundary, PIECE / 2);
    if (at > 0) return least + at + boundary.length;
  }
  const end = from + PIECE;
  // A pair of surrogates stays together.
  return /[\udc00-\udfff]/.test(text.charAt(end)) ? end - 1 : end;
}

export function stringsOf(value: JsonValue | undefined): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap((each: JsonValue | undefined) => stringsOf(each));
}
