/** Messages as text for the summary: long ones are cut, and content from outside is marked as such. */
import { capText } from "../../base/cap-text.js";
import type { Message, ResultContent, ToolResultBlock, ToolUseBlock } from "../../protocol/content.js";

/** Marks text from outside the conversation, so that no model follows it as instructions. */
export type MarkUntrusted = (text: string, source: string) => string;

export interface TranscriptOptions {
  /** The most of one tool result, in characters. */
  readonly resultChars: number;
  readonly untrusted: MarkUntrusted;
}

/** The limit for text of people and models; longer texts are usually pasted. */
const WORDS_CHARS = 12_000;
const ARGUMENT_CHARS = 2_000;
const CUT = "left out for the summary";

export function transcriptOf({ role, content }: Message, { resultChars, untrusted }: TranscriptOptions): string {
  const parts = content.flatMap((block): string[] => {
    switch (block.type) {
      case "text":
        return block.text.trim() === "" ? [] : [capText(block.text, WORDS_CHARS, CUT)];
      case "image":
        return ["[an image]"];
      case "audio":
        return ["[audio]"];
      case "tool_use":
        return [callOf(block)];
      case "tool_result":
        return [resultOf(block, { resultChars, untrusted })];
      default:
        return [];
    }
  });
  if (parts.length === 0) return "";
  const isResult = content.every((block) => block.type === "tool_result");
  return `${isResult ? "" : `[${role}]\n`}${parts.join("\n")}`;
}

/** In words: a model copies what looks like a call, and then writes calls as text. */
function callOf({ tool, args, malformed }: ToolUseBlock): string {
  const given = Object.entries(args).map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return `The assistant used ${tool}. ${capText(malformed ?? given.join("\n"), ARGUMENT_CHARS, CUT)}`.trimEnd();
}

function resultOf({ tool, content, is_error }: ToolResultBlock, options: TranscriptOptions): string {
  const own = content.filter(isOwn);
  const brought = content.filter((part) => !isOwn(part));
  const shown = [
    ...(brought.length === 0 ? [] : [options.untrusted(capText(plain(brought), options.resultChars, CUT), tool)]),
    ...(own.length === 0 ? [] : [capText(plain(own), options.resultChars, CUT)]),
  ];
  return `${is_error ? "It failed" : "Its result"} (${tool}):\n${shown.join("\n")}`;
}

function isOwn(part: ResultContent): boolean {
  return part.type === "text" && part.own === true;
}

function plain(content: readonly ResultContent[]): string {
  return content.map((block) => (block.type === "text" ? block.text : "[an image]")).join("\n");
}

/** The newest messages that fit, oldest first. */
export function newestText(messages: readonly Message[], write: (message: Message) => string, most: number): string {
  const written: string[] = [];
  let left = most;
  for (const message of [...messages].reverse()) {
    const words = write(message);
    left -= words.length;
    if (left < 0 && written.length > 0) break;
    if (words !== "") written.unshift(words.slice(0, most));
  }
  return written.join("\n\n");
}
