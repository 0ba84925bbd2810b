/**
 * Pastes and images in a draft. The draft holds one token for each, so that the editor moves over it, deletes it and undoes it as
 * one character. A token is a lone surrogate: no text that a terminal sends can hold one.
 */
import { safeLine } from "../../../base/terminal-text.js";
import type { ImageBlock } from "../../../protocol/content.js";

export type Attachment =
  | { readonly kind: "paste"; readonly text: string }
  | {
      readonly kind: "image";
      readonly number: number;
      readonly name: string;
      readonly path: string;
      /** The words that were pasted. */
      readonly source: string;
      readonly image?: ImageBlock;
    };

/** A draft as it is stored: a string for text, an object for an attachment. */
export type DraftPart = string | { readonly paste: string } | { readonly image: string; readonly source: string };

const FIRST = 0xd800;
const MAX_ATTACHMENTS = 1024;
const TOKEN = /\p{Surrogate}/gu;

export class Attachments {
  readonly #byToken = new Map<string, Attachment>();
  #images = 0;

  /** The token that stands for it; undefined when the draft holds too many. */
  addPaste(text: string): string | undefined {
    return this.#add({ kind: "paste", text });
  }

  addImage(image: { readonly name: string; readonly path: string; readonly source: string }): string | undefined {
    const token = this.#add({ kind: "image", number: this.#images + 1, ...image });
    if (token !== undefined) this.#images++;
    return token;
  }

  get(token: string): Attachment | undefined {
    return this.#byToken.get(token);
  }

  replace(token: string, attachment: Attachment): void {
    this.#byToken.set(token, attachment);
  }

  /** What the screen shows for a token; undefined for a character that is none. */
  label(token: string): string | undefined {
    const found = this.#byToken.get(token);
    if (found === undefined) return undefined;
    return found.kind === "paste" ? pasteLabel(found.text) : `[image ${found.number}: ${safeLine(found.name)}]`;
  }

  /** The text as the model gets it: pastes in full, images by their label. */
  expand(text: string): string {
    return text.replace(TOKEN, (token) => {
      const found = this.#byToken.get(token);
      if (found === undefined) return "";
      return found.kind === "paste" ? found.text : (this.label(token) ?? "");
    });
  }

  /** The images that are in `text` and have been read, in order. */
  images(text: string): readonly ImageBlock[] {
    return [...text.matchAll(TOKEN)].flatMap(([token]) => {
      const found = this.#byToken.get(token);
      return found?.kind === "image" && found.image !== undefined ? [found.image] : [];
    });
  }

  parts(text: string): readonly DraftPart[] {
    const parts: DraftPart[] = [];
    let from = 0;
    for (const match of text.matchAll(TOKEN)) {
      if (match.index > from) parts.push(text.slice(from, match.index));
      from = match.index + 1;
      const found = this.#byToken.get(match[0]);
      if (found?.kind === "paste") parts.push({ paste: found.text });
      if (found?.kind === "image") parts.push({ image: found.path, source: found.source });
    }
    if (from < text.length) parts.push(text.slice(from));
    return parts;
  }

  clear(): void {
    this.#byToken.clear();
    this.#images = 0;
  }

  #add(attachment: Attachment): string | undefined {
    if (this.#byToken.size >= MAX_ATTACHMENTS) return undefined;
    const token = String.fromCharCode(FIRST + this.#byToken.size);
    this.#byToken.set(token, attachment);
    return token;
  }
}

function pasteLabel(text: string): string {
  const lines = countLines(text);
  return lines > 1 ? `[pasted ${lines} lines]` : `[pasted ${text.length} characters]`;
}

/** A newline at the end begins no line. */
function countLines(text: string): number {
  let lines = text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

/** Text that a draft can hold: no terminal sequences, no control characters but tab and newline, no token. */
export function cleanText(text: string): string {
  return (
    text
      // Terminals with extended keys write a pasted control character as the key that makes it.
      .replace(/\x1b\[(\d+);5u/g, (sequence, code: string) => {
        const letter = Number(code) & 0x1f;
        return letter === 9 || letter === 10 || letter === 13 ? String.fromCharCode(letter) : sequence;
      })
      .replace(/\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]/g, "")
      .replace(/\r\n?/g, "\n")
      .replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "")
      .replace(TOKEN, "\ufffd")
  );
}
