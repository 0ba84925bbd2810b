/** The result of a call as the model gets it: text, pictures and links. What comes from the server is marked as such later on. */
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { safeText } from "../../base/terminal-text.js";
import { type ImageBlock, ownText, type ResultContent, text } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";

export interface McpResult {
  readonly status: "ok" | "error";
  readonly content: readonly ResultContent[];
  readonly links: readonly JsonObject[];
}

const MOST_IMAGES = 10;
const MOST_IMAGE_CHARACTERS = 7 * 1024 * 1024;
const MOST_BLOCKS = 200;
const MOST_LINKS = 100;
/** Far more than a model gets of a result; the rest would only cost time. Both ends stay. */
const MOST_BEGINNING = 150_000;
const MOST_END = 50_000;

export function resultOf(result: CallToolResult): McpResult {
  const blocks = Array.isArray(result.content) ? result.content : [];
  const content: ResultContent[] = [];
  const links: JsonObject[] = [];
  let images = 0;
  for (const block of blocks.slice(0, MOST_BLOCKS)) {
    const made = contentOf(block);
    if (made.type === "image" && ++images > MOST_IMAGES) content.push(ownText("(A further image is left out.)"));
    else content.push(made);
    if (block.type === "resource_link" && links.length < MOST_LINKS) links.push({ uri: block.uri, name: block.name });
  }
  if (blocks.length > MOST_BLOCKS) content.push(ownText(`(${blocks.length - MOST_BLOCKS} more parts are left out.)`));
  const hasWords = content.some((block) => block.type === "text" && block.text.trim() !== "");
  // A server that has structured results should send them as text, too; not all do.
  if (!hasWords && result.structuredContent !== undefined)
    content.push(serverText(JSON.stringify(result.structuredContent, null, 2)));
  if (content.length === 0) content.push(ownText("(no output)"));
  return { status: result.isError === true ? "error" : "ok", content, links };
}

export function contentOf(block: ContentBlock): ResultContent {
  switch (block.type) {
    case "text":
      return serverText(String(block.text));
    case "image":
      return imageContent(block.data, block.mimeType);
    case "audio":
      return ownText(`(Sound of type ${plain(block.mimeType)} is left out: ${size(block.data)}.)`);
    case "resource_link":
      return serverText(linkText(block));
    case "resource":
      return resourceContent(block.resource);
    default:
      return ownText("(A part of a kind that Oxbow does not know is left out.)");
  }
}

/** Words of a server, of a length that can be handled, without control sequences. */
export function serverText(words: string): ResultContent {
  const left = words.length - MOST_BEGINNING - MOST_END;
  if (left <= 0) return text(safeText(words));
  const ends = [words.slice(0, MOST_BEGINNING), words.slice(-MOST_END)].map(safeText);
  return text(ends.join(`\n(${left} characters are left out.)\n`));
}

export interface ResourceContents {
  readonly uri: string;
  readonly mimeType?: string | undefined;
  readonly text?: string | undefined;
  readonly blob?: string | undefined;
}

export function resourceContent({ uri, mimeType = "", text: words, blob }: ResourceContents): ResultContent {
  if (typeof words === "string") return serverText(`Resource ${uri}:\n${words}`);
  if (typeof blob !== "string") return serverText(`Resource ${uri} is empty.`);
  if (mimeType.startsWith("image/")) return imageContent(blob, mimeType);
  return serverText(`Resource ${uri} is binary (${mimeType || "unknown type"}, ${size(blob)}).`);
}

function linkText({
  uri,
  name,
  description,
  mimeType,
}: {
  uri: string;
  name?: string;
  description?: string | undefined;
  mimeType?: string | undefined;
}) {
  const about = [name, mimeType, description].filter((part) => part !== undefined && part !== "").join(", ");
  return `Resource link: ${uri}${about === "" ? "" : ` (${about})`}`;
}

const BEGINNINGS: readonly (readonly [type: string, bytes: RegExp])[] = [
  ["image/png", /^iVBORw0KGgo/],
  ["image/jpeg", /^\/9j\//],
  ["image/gif", /^R0lGOD/],
  ["image/webp", /^UklGR[A-Za-z0-9+/]{6}XRUJQ|^UklGR/],
];

/** A provider refuses a request with a broken picture, and with it the whole conversation. */
export function imageContent(data: string, mimeType: string): ResultContent {
  const type = BEGINNINGS.find(([, bytes]) => bytes.test(data))?.[0];
  const isText = typeof data === "string" && data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
  if (type === undefined || !isText)
    return ownText(`(A picture of type ${plain(mimeType)} cannot be read, so it is left out.)`);
  if (data.length > MOST_IMAGE_CHARACTERS)
    return ownText(`(A picture is too large, so it is left out: ${size(data)}.)`);
  const image: ImageBlock = { type: "image", media_type: type, data };
  return image;
}

function plain(mimeType: unknown): string {
  return (
    String(mimeType)
      .replace(/[^\w/+.-]/g, "")
      .slice(0, 60) || "unknown"
  );
}

function size(base64: string): string {
  return `${Math.ceil((base64.length * 3) / 4 / 1024)} KB`;
}
