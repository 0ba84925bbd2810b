/**
 * Pastes and images in a draft. The draft contains one token for each, so that the editor moves over it, deletes it and undoes it like
 * one character. A token is a lone surrogate, which terminals never send.
 */
import { pasteLabel } from "../../../base/pasted-text.js";
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

/** Instead of a path: the image is the one of the clipboard. */
export const CLIPBOARD = "clipboard:";

const FIRST = 0xd800;
const MAX_ATTACHMENTS = 1024;
const TOKEN = /\p{Surrogate}/gu;

export class Attachments {
  readonly #byToken = new Map<string, Attachment>();
  #images = 0;

  /** The token for it; undefined if the draft has too many. */
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

  /** What the screen shows for a token; undefined for any other character. */
  label(token: string): string | undefined {
    const found = this.#byToken.get(token);
    if (found === undefined) return undefined;
    return found.kind === "paste" ? pasteLabel(found.text) : `[image ${found.number}: ${safeLine(found.name)}]`;
  }

  imageLabels(): readonly { readonly token: string; readonly label: string }[] {
    return [...this.#byToken].flatMap(([token, { kind }]) =>
      kind === "image" ? [{ token, label: this.label(token) ?? "" }] : [],
    );
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
      // The clipboard may have changed when the draft is restored.
      if (found?.kind === "image" && found.path !== CLIPBOARD) parts.push({ image: found.path, source: found.source });
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
