/**
 * A prompt of the editor as input for the model.
 *
 * 1. The user's own words and images pass as they are.
 * 2. Text that the editor adds from files and pages is data: it is delimited as untrusted.
 * 3. A link names a file. The model reads it with its own tools, under the permissions of the session.
 */

import type { ContentBlock, EmbeddedResource } from "@agentclientprotocol/sdk";
import { safeLine } from "../../../base/terminal-text.js";
import { type InputContent, text } from "../../../protocol/content.js";
import { readSlashLine, type SlashLine } from "../../../protocol/slash-command.js";
import { invalid } from "./errors.js";

/** Delimits text from outside. */
export type Delimit = (outside: { readonly source: string; readonly text: string }) => string;

export function inputOf(blocks: readonly ContentBlock[], delimit: Delimit): readonly InputContent[] {
  if (blocks.length === 0) throw invalid("The prompt is empty.");
  return joined(blocks.map((block) => inputBlock(block, delimit)));
}

function inputBlock(block: ContentBlock, delimit: Delimit): InputContent {
  switch (block.type) {
    case "text":
      return text(block.text);
    case "image":
      return image(block.mimeType, block.data);
    case "audio":
      return audio(block.mimeType, block.data);
    case "resource_link":
      return text(linkText(block));
    case "resource":
      return embedded(block, delimit);
  }
}

function linkText({ name, uri }: { readonly name: string; readonly uri: string }): string {
  // `encodeURIComponent` leaves parentheses as they are.
  const address = safeLine(uri).replace(/[()\s]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  return `[@${safeLine(name).replace(/[[\]]/g, "")}](${address})`;
}

function embedded({ resource }: EmbeddedResource, delimit: Delimit): InputContent {
  if ("text" in resource) return text(`\n${delimit({ source: resource.uri, text: resource.text })}\n`);
  const { mimeType, blob, uri } = resource;
  if (mimeType?.startsWith("image/")) return image(mimeType, blob);
  if (mimeType?.startsWith("audio/")) return audio(mimeType, blob);
  return text(`\n(${safeLine(uri)} is binary, so its content is left out.)\n`);
}

const IMAGES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

function image(mediaType: string, data: string): InputContent {
  const type = mediaType.toLowerCase().replace("image/jpg", "image/jpeg");
  if (!IMAGES.has(type)) throw invalid(`Oxbow takes PNG, JPEG, GIF and WebP images, not ${safeLine(mediaType)}.`);
  if (!isBase64(data)) throw invalid("The data of an image must be base64.");
  return { type: "image", media_type: type, data };
}

function audio(mediaType: string, data: string): InputContent {
  if (!/^audio\/[a-z0-9.+-]+$/i.test(mediaType)) throw invalid(`${safeLine(mediaType)} is no type of audio.`);
  if (!isBase64(data)) throw invalid("The data of audio must be base64.");
  return { type: "audio", media_type: mediaType.toLowerCase(), data };
}

function isBase64(data: string): boolean {
  return data !== "" && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
}

/** Neighbouring texts are one: the editor cuts a sentence where the user mentions a file. */
function joined(content: readonly InputContent[]): readonly InputContent[] {
  const out: InputContent[] = [];
  for (const block of content) {
    const last = out.at(-1);
    if (block.type === "text" && last?.type === "text") out[out.length - 1] = text(last.text + block.text);
    else out.push(block);
  }
  return out;
}

/** A prompt that is a slash command; undefined if it is not. */
export function commandOf(blocks: readonly ContentBlock[]): SlashLine | undefined {
  const [first] = blocks;
  if (first?.type !== "text" || !first.text.trimStart().startsWith("/")) return undefined;
  const words = blocks.map((block) => {
    if (block.type === "text") return block.text;
    return block.type === "resource_link" ? pathOf(block.uri) : undefined;
  });
  const line = readSlashLine(words.join("").trim());
  if (line !== undefined && words.includes(undefined))
    throw invalid("A slash command takes text and file mentions only.");
  return line;
}

function pathOf(uri: string): string {
  if (!uri.startsWith("file://")) return uri;
  try {
    return decodeURIComponent(new URL(uri).pathname);
  } catch {
    return uri;
  }
}
