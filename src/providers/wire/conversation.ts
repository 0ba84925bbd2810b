/**
 * The canonical conversation in the form that every provider requires.
 *
 * 1. User and assistant alternate; consecutive messages of one role are joined, and empty ones are dropped.
 * 2. The result of every tool call directly follows the message of the call. A missing result becomes one that says so, and a
 *    result without a call is left out.
 * 3. Blank text is left out, and so is thinking without the text or the calls that it led to.
 */
import type {
  AssistantBlock,
  ImageBlock,
  InputContent,
  Message,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
} from "../../protocol/content.js";
import { text } from "../../protocol/content.js";

export interface UserTurn {
  readonly role: "user";
  readonly results: readonly ToolResultBlock[];
  readonly content: readonly InputContent[];
}

export interface AssistantTurn {
  readonly role: "assistant";
  readonly blocks: readonly AssistantBlock[];
  /** Written since the newest input, whose answer is not finished. */
  readonly current: boolean;
}

export type ConversationTurn = UserTurn | AssistantTurn;

/** `keep` decides on the blocks a family may or may not see: thinking and opaque ones. */
export function arrange(
  messages: readonly Message[],
  keep: (block: AssistantBlock) => boolean,
): readonly ConversationTurn[] {
  const turns: MutableTurn[] = [];
  let open: readonly ToolUseBlock[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (message.role === "assistant") {
      const blocks = message.content.filter((block) => isSent(block) && keep(block));
      if (blocks.every((block) => block.type === "thinking")) continue;
      open = blocks.filter(isCall);
      // Content after an unanswered call cannot be in the same message: the result has to come first.
      if (last?.role === "assistant" && !last.blocks.some(isCall)) last.blocks.push(...blocks);
      else turns.push({ role: "assistant", blocks, current: false });
      continue;
    }
    const results = message.content.filter((block) => block.type === "tool_result");
    const answers = results.filter((result) => open.some((call) => call.call === result.call));
    const content = message.content.filter((block) => block.type !== "tool_result").filter(isSent);
    if (answers.length + content.length === 0) continue;
    if (last?.role === "user") {
      last.results.push(...answers);
      last.content.push(...content);
    } else {
      turns.push({ role: "user", results: answers, content });
    }
  }
  return markCurrent(answerAll(turns));
}

interface MutableUserTurn {
  role: "user";
  results: ToolResultBlock[];
  content: InputContent[];
}

interface MutableAssistantTurn {
  role: "assistant";
  blocks: AssistantBlock[];
  current: boolean;
}

type MutableTurn = MutableUserTurn | MutableAssistantTurn;

/** One result for each call, in the order of the calls. */
function answerAll(turns: readonly MutableTurn[]): MutableTurn[] {
  return turns.flatMap((turn, index) => {
    if (turn.role === "user") return index === 0 ? [turn] : [];
    const calls = turn.blocks.filter(isCall);
    const next = turns[index + 1];
    const given: MutableUserTurn = next?.role === "user" ? next : { role: "user", results: [], content: [] };
    const results = calls.map((call) => answerTo(call, given.results));
    return results.length + given.content.length === 0 ? [turn] : [turn, { ...given, results }];
  });
}

function answerTo(call: ToolUseBlock, results: readonly ToolResultBlock[]): ToolResultBlock {
  const found = results.find((result) => result.call === call.call);
  if (found !== undefined) return found;
  const content = [text("No result was recorded for this call.")];
  return { type: "tool_result", call: call.call, tool: call.tool, content, is_error: true };
}

function markCurrent(turns: MutableTurn[]): readonly ConversationTurn[] {
  for (const turn of turns.toReversed()) {
    if (turn.role === "assistant") turn.current = true;
    else if (turn.content.length > 0) break;
  }
  return turns;
}

function isCall(block: AssistantBlock): block is ToolUseBlock {
  return block.type === "tool_use";
}

function isSent(block: { readonly type: string; readonly text?: string }): boolean {
  if (block.type === "text") return block.text?.trim() !== "";
  return block.type !== "yield";
}

/** For wires without audio, which never get a request with some: the provider refuses it before. */
export function withoutAudio(content: readonly InputContent[]): readonly (TextBlock | ImageBlock)[] {
  return content.filter((block) => block.type !== "audio");
}

/** Separates text from images, for wires that need them apart. */
export function splitContent(content: readonly (TextBlock | ImageBlock)[]): {
  readonly text: string;
  readonly images: readonly ImageBlock[];
} {
  const texts: string[] = [];
  const images: ImageBlock[] = [];
  for (const block of content) {
    if (block.type === "image") images.push(block);
    else if (block.text.trim() !== "") texts.push(block.text);
  }
  return { text: texts.join("\n\n"), images };
}

/** Replaces invalid names: models invent them, and providers refuse a whole conversation because of one. */
export function callName(tool: string): string {
  return tool.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 128) || "unknown";
}
