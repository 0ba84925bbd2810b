/**
 * The body of a message file: Markdown, in which everything but text is in its own fence.
 *
 *     ```tool_call id=call_… name=bash          the arguments, a JSON object
 *     ```thinking provider=… sum=… opaque={…}   a thought; `opaque` is JSON to the end of the line
 *     ```opaque provider=…                      JSON
 *     ```yield
 *     ```image type=image/png                   base64
 *     ```verbatim                               text that could be mistaken for something else
 *
 * 1. Reading gives back the blocks that were written, for any text. A fence is longer than any in its content; text that
 *    holds a line like the ones above, or nothing a reader could see, or follows other text, goes into a `verbatim` fence.
 * 2. Between two blocks stands an empty line. People may leave it out, or use more where no text is between.
 * 3. `encoding=json` on a fence: its content is a JSON string, for what UTF-8 or an editor cannot hold.
 * 4. `sum` is of the thought's text. A provider refuses a thought that was changed, so its opaque part is dropped then.
 */
import { createHash } from "node:crypto";
import type { AssistantBlock, MediaBlock } from "../../protocol/content.js";
import { text as textBlock } from "../../protocol/content.js";
import type { CallId } from "../../protocol/ids.js";
import { isJsonObject, type JsonValue } from "../../protocol/json.js";

export type BodyBlock = AssistantBlock | MediaBlock;
export type BodyRole = "user" | "assistant" | "tool_result";

export interface BodyPlace {
  readonly role: BodyRole;
  /** Names a call that the user wrote without an id; `index` counts the blocks. */
  readonly callName: (index: number) => CallId;
}

/** Describes what is wrong with a body, and in which of its lines, from 0. */
export class BodyError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

type Word = "tool_call" | "thinking" | "opaque" | "yield" | "image" | "audio" | "verbatim";

const WORDS: Readonly<Record<BodyRole, readonly Word[]>> = {
  user: ["image", "audio", "verbatim"],
  assistant: ["tool_call", "thinking", "opaque", "yield", "verbatim"],
  tool_result: ["image", "verbatim"],
};

interface Opener {
  readonly ticks: number;
  readonly word: Word;
  readonly attributes: ReadonlyMap<string, string>;
  /** JSON to the end of the line. */
  readonly opaque: string | undefined;
}

const OPENER = /^(`{3,})([a-z_]+)((?:[ \t]+[a-z_]+=(?:"(?:[^"\\]|\\.)*"|[^\s"`{[]+))*?)(?:[ \t]+opaque=(.*))?[ \t]*$/s;
const ATTRIBUTE = /([a-z_]+)=("(?:[^"\\]|\\.)*"|[^\s"]+)/gs;
const BARE = /^[A-Za-z0-9_.:/+@-]+$/;
/** Half a surrogate pair has no UTF-8, and a NUL makes a text file a binary one. */
const NEEDS_JSON = /\0|\p{Surrogate}/u;

export function renderBody(blocks: readonly BodyBlock[], role: BodyRole): string {
  let afterText = false;
  return blocks
    .map((block) => {
      const plain = block.type === "text" && !afterText && isPlain(block.text, role);
      afterText = plain;
      return plain ? block.text : renderFence(block);
    })
    .join("\n\n");
}

function isPlain(text: string, role: BodyRole): boolean {
  if (text.trim() === "" || NEEDS_JSON.test(text)) return false;
  return !text.includes("```") || !text.split("\n").some((line) => openerOf(line, role) !== undefined);
}

function renderFence(block: BodyBlock): string {
  switch (block.type) {
    case "text":
      return withText("verbatim", {}, block.text);
    case "image":
    case "audio":
      return withText(block.type, { type: block.media_type }, block.data);
    case "thinking": {
      const { provider, text, opaque } = block;
      if (opaque === undefined) return withText("thinking", { provider }, text);
      return withText("thinking", { provider, sum: sumOf(text) }, text, ` opaque=${noTicks(JSON.stringify(opaque))}`);
    }
    case "tool_use": {
      const { call, tool, args, malformed } = block;
      return fence("tool_call", { id: call, name: tool, malformed }, JSON.stringify(args));
    }
    case "opaque":
      return fence("opaque", { provider: block.provider }, JSON.stringify(block.data));
    case "yield":
      return "```yield\n```";
  }
}

type Attributes = Readonly<Record<string, string | undefined>>;

function withText(word: Word, attributes: Attributes, text: string, rest = ""): string {
  if (!NEEDS_JSON.test(text)) return fence(word, attributes, text, rest);
  return fence(word, { ...attributes, encoding: "json" }, JSON.stringify(text), rest);
}

function fence(word: Word, attributes: Attributes, content: string, rest = ""): string {
  const longest = Math.max(2, ...(content.match(/`{3,}/g) ?? []).map((run) => run.length));
  const ticks = "`".repeat(longest + 1);
  let line = `${ticks}${word}`;
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) line += ` ${name}=${BARE.test(value) ? value : noTicks(JSON.stringify(value))}`;
  }
  return `${line}${rest}\n${content}\n${ticks}`;
}

/** Markdown allows no backticks beside a fence; in JSON they only occur in strings. */
function noTicks(json: string): string {
  return json.replaceAll("`", "\\u0060");
}

function sumOf(text: string): string {
  return createHash("sha256").update(JSON.stringify(text)).digest("hex").slice(0, 16);
}

export function parseBody(body: string, place: BodyPlace): BodyBlock[] {
  const lines = body.split("\n");
  const blocks: BodyBlock[] = [];
  let from = 0;
  for (let at = 0; at < lines.length; at++) {
    const opener = openerOf(lines[at] as string, place.role);
    if (opener === undefined) continue;
    takeText(lines.slice(from, at), { after: from > 0, before: true }, blocks);
    const close = closerAfter(lines, at, opener);
    blocks.push(readFence(opener, { line: at, content: lines.slice(at + 1, close).join("\n"), place, blocks }));
    at = close;
    from = close + 1;
  }
  takeText(lines.slice(from), { after: from > 0, before: false }, blocks);
  return blocks;
}

/** The text between two fences, without the empty line that divides it from each. */
function takeText(
  lines: readonly string[],
  fences: { readonly after: boolean; readonly before: boolean },
  blocks: BodyBlock[],
): void {
  const start = fences.after && lines[0] === "" ? 1 : 0;
  const end = fences.before && lines.length > start && lines.at(-1) === "" ? lines.length - 1 : lines.length;
  const text = lines.slice(start, end).join("\n");
  if (text.trim() !== "") blocks.push(textBlock(text));
}

function openerOf(line: string, role: BodyRole): Opener | undefined {
  const [start] = /^`{3,}[a-z_]+/.exec(line) ?? [];
  const known = WORDS[role].find((each) => start?.endsWith(`\`${each}`));
  if (known === undefined) return undefined;
  const [whole, ticks = "", , attributes = "", opaque] = OPENER.exec(line) ?? [];
  if (whole === undefined || (opaque !== undefined && known !== "thinking")) return undefined;
  const values = new Map<string, string>();
  for (const [, name = "", value = ""] of attributes.matchAll(ATTRIBUTE)) values.set(name, value);
  return { ticks: ticks.length, word: known, attributes: values, opaque };
}

function closerAfter(lines: readonly string[], at: number, { ticks, word }: Opener): number {
  for (let i = at + 1; i < lines.length; i++) {
    const found = /^(`{3,})[ \t]*$/.exec(lines[i] as string)?.[1];
    if (found !== undefined && found.length >= ticks) return i;
  }
  throw new BodyError(at, `the ${word} block has no end. Close it with a line of ${ticks} backticks`);
}

interface FenceContent {
  readonly line: number;
  readonly content: string;
  readonly place: BodyPlace;
  readonly blocks: readonly BodyBlock[];
}

function readFence(opener: Opener, fence: FenceContent): BodyBlock {
  const { line, content, place, blocks } = fence;
  const attribute = (name: string) => readAttribute(opener.attributes.get(name), line);
  const required = (name: string): string => {
    const value = attribute(name);
    if (value === undefined) throw new BodyError(line, `the ${opener.word} block needs ${name}=…`);
    return value;
  };
  switch (opener.word) {
    case "verbatim":
      return textBlock(readText(content, attribute("encoding"), line));
    case "image":
    case "audio":
      return { type: opener.word, media_type: required("type"), data: readText(content, attribute("encoding"), line) };
    case "thinking": {
      const text = readText(content, attribute("encoding"), line);
      const sum = attribute("sum");
      const intact = opener.opaque !== undefined && (sum === undefined || sum === sumOf(text));
      const opaque = intact ? { opaque: readJson(opener.opaque ?? "", line, "opaque=…") } : {};
      return { type: "thinking", text, provider: required("provider"), ...opaque };
    }
    case "tool_call": {
      const args = readJson(content.trim() === "" ? "{}" : content, line, "the arguments");
      if (!isJsonObject(args)) throw new BodyError(line, "the arguments of the call are not a JSON object");
      const call = (attribute("id") as CallId | undefined) ?? place.callName(blocks.length);
      const malformed = attribute("malformed");
      return { type: "tool_use", call, tool: required("name"), args, ...(malformed !== undefined && { malformed }) };
    }
    case "opaque":
      return { type: "opaque", provider: required("provider"), data: readJson(content, line, "the content") };
    case "yield":
      return { type: "yield" };
  }
}

function readAttribute(value: string | undefined, line: number): string | undefined {
  return value?.startsWith('"') ? String(readJson(value, line, value)) : value;
}

function readText(content: string, encoding: string | undefined, line: number): string {
  if (encoding === undefined) return content;
  const value = encoding === "json" ? readJson(content, line, "the content") : undefined;
  if (typeof value !== "string") throw new BodyError(line, "with encoding=json the content must be a JSON string");
  return value;
}

function readJson(json: string, line: number, what: string): JsonValue {
  try {
    return JSON.parse(json) as JsonValue;
  } catch (error) {
    throw new BodyError(line, `${what} is not JSON: ${(error as Error).message}`);
  }
}
