/** The draft itself: text with pastes and images in it, the caret, and what is sent. */

import { cleanPaste } from "../../../base/pasted-text.js";
import { readTypedInput, type TypedInput } from "../../../base/typed-input.js";
import type { ImageBlock } from "../../../protocol/content.js";
import { Attachments, CLIPBOARD, type DraftPart } from "./attachments.js";
import { DraftLayout } from "./draft-layout.js";
import { baseName, imagePaths } from "./image-paths.js";
import { PromptEditor } from "./prompt-editor.js";

export interface Submission {
  /** The whole text, with pastes in full. */
  readonly text: string;
  readonly images: readonly ImageBlock[];
  readonly sent: TypedInput;
}

export interface Draft {
  readonly parts: readonly DraftPart[];
}

export interface ImageAccess {
  /** Undefined if there is no such file; a string says why the path stays text: the model accepts no images, or the file is not one. */
  read(path: string): Promise<ImageBlock | string | undefined>;
}

export interface DraftBufferOptions {
  readonly onChange: () => void;
  readonly onNotice?: (text: string) => void;
  readonly images?: ImageAccess;
}

/** A paste of more than this is shown as a block. */
const MAX_PASTED_LINES = 10;
const MAX_PASTED_CHARACTERS = 1000;
/** The same for a text that comes back from the history. */
const MAX_RECALLED_LINES = 50;
const MAX_RECALLED_CHARACTERS = 5000;
/** A longer line is too slow to edit in place. */
const MAX_LINE = 20_000;

export class DraftBuffer {
  readonly editor: PromptEditor;
  readonly #options: DraftBufferOptions;
  readonly #attachments = new Attachments();
  readonly #layout = new DraftLayout((token) => this.#attachments.label(token));
  readonly #loading = new Set<Promise<void>>();

  constructor(options: DraftBufferOptions) {
    this.#options = options;
    this.editor = new PromptEditor(this.#layout, options.onChange);
  }

  get text(): string {
    return this.#attachments.expand(this.editor.text);
  }

  get draft(): Draft {
    return { parts: this.#attachments.parts(this.editor.text) };
  }

  /** When all images have been read; undefined when none is being read. */
  get settled(): Promise<unknown> | undefined {
    return this.#loading.size === 0 ? undefined : Promise.all(this.#loading);
  }

  restore({ parts }: Draft): void {
    this.editor.setText(parts.map((part) => this.#token(part)).join(""));
  }

  setText(text: string): void {
    this.editor.setText(this.#foldLongLines(cleanPaste(text)));
  }

  /** Sets the text after the user edited it elsewhere: an image whose label is still there stays an image. */
  setEdited(text: string): void {
    let edited = this.#foldLongLines(cleanPaste(text));
    for (const { token, label } of this.#attachments.imageLabels()) edited = edited.replaceAll(label, token);
    this.editor.setText(edited);
  }

  /** Sets a text of the history; a long one is a block. */
  recall(text: string): void {
    this.editor.setText(this.#recalled(text));
  }

  insert(text: string): void {
    this.editor.insert(this.#foldLongLines(cleanPaste(text)));
  }

  /** Inserts a text that was sent; a long one is a block. */
  insertSent(text: string): void {
    this.editor.insert(this.#recalled(cleanPaste(text)));
  }

  paste(pasted: string): void {
    const text = cleanPaste(pasted);
    if (text === "" || this.#expandSame(text)) return;
    this.editor.insert(this.#pastedImages(text) ?? this.#folded(text));
  }

  /** Inserts a token at once, and removes it if there is no image. */
  pasteClipboard(): void {
    this.editor.insert(this.#addImage(CLIPBOARD, "") ?? "");
  }

  /** Turns the paste at the caret into text; false if there is none. */
  expandHere(): boolean {
    const { line, column } = this.editor.caret;
    return this.#expandAt(line, column - 1) || this.#expandAt(line, column);
  }

  /** What would be sent now; undefined if there is only white space. */
  submission(): Submission | undefined {
    const raw = this.editor.text;
    if (raw.trim() === "") return undefined;
    const text = trimBlankLines(this.#attachments.expand(raw));
    return { text, images: this.#attachments.images(raw), sent: this.#expanded(readTypedInput(raw)) };
  }

  clear(): void {
    this.editor.reset((text) => this.#attachments.expand(text));
    this.#attachments.clear();
    this.#layout.forget();
  }

  #expandAt(line: number, column: number): boolean {
    const found = this.#attachments.get(this.editor.lines[line]?.charAt(column) ?? "");
    if (found?.kind !== "paste") return false;
    const text = this.#foldLongLines(found.text);
    if (text.length === 1)
      this.#options.onNotice?.("This line is too long to edit here. Ctrl-G opens it in your editor.");
    else this.editor.replaceInLine(column, column + 1, text);
    return true;
  }

  /** Expands a paste if the user pastes the same text again right after it. */
  #expandSame(text: string): boolean {
    const { line, column } = this.editor.caret;
    const found = this.#attachments.get(this.editor.lines[line]?.charAt(column - 1) ?? "");
    return found?.kind === "paste" && found.text === text && this.#expandAt(line, column - 1);
  }

  #pastedImages(text: string): string | undefined {
    const paths = this.#options.images === undefined ? [] : imagePaths(text);
    if (paths.length === 0) return undefined;
    const source = (path: string) => (paths.length === 1 ? text : path);
    return paths.map((path) => this.#addImage(path, source(path)) ?? source(path)).join(" ");
  }

  #addImage(path: string, source: string): string | undefined {
    const image = { name: path === CLIPBOARD ? "clipboard" : baseName(path), path, source };
    const token = this.#attachments.addImage(image);
    if (token === undefined) return undefined;
    const loading = this.#load(token, path).finally(() => {
      this.#loading.delete(loading);
      this.#options.onChange();
    });
    this.#loading.add(loading);
    return token;
  }

  async #load(token: string, path: string): Promise<void> {
    const found = await this.#options.images?.read(path).catch((error: unknown) => String(error));
    const attachment = this.#attachments.get(token);
    // The draft may have been sent or emptied meanwhile.
    if (attachment?.kind !== "image" || attachment.path !== path) return;
    if (typeof found === "object") {
      this.#attachments.replace(token, { ...attachment, image: found });
      return;
    }
    if (found !== undefined) this.#options.onNotice?.(found);
    this.#attachments.replace(token, { kind: "paste", text: attachment.source });
    this.#layout.forget();
    this.editor.replaceToken(token, attachment.source);
  }

  #recalled(text: string): string {
    const isCommand = /^\s*[/!]/.test(text);
    const long = !isCommand && isLong(text, { lines: MAX_RECALLED_LINES, characters: MAX_RECALLED_CHARACTERS });
    return long ? (this.#attachments.addPaste(text) ?? text) : this.#foldLongLines(text);
  }

  #folded(text: string): string {
    const long = isLong(text, { lines: MAX_PASTED_LINES, characters: MAX_PASTED_CHARACTERS });
    return long ? (this.#attachments.addPaste(text) ?? text) : text;
  }

  #foldLongLines(text: string): string {
    if (text.length <= MAX_LINE) return text;
    const fold = (line: string) => (line.length > MAX_LINE ? (this.#attachments.addPaste(line) ?? line) : line);
    return text.split("\n").map(fold).join("\n");
  }

  #token(part: DraftPart): string {
    if (typeof part === "string") return this.#foldLongLines(cleanPaste(part));
    if ("paste" in part) return this.#attachments.addPaste(cleanPaste(part.paste)) ?? "";
    const source = cleanPaste(part.source);
    if (this.#options.images === undefined) return source;
    return this.#addImage(part.image, source) ?? source;
  }

  #expanded(sent: TypedInput): TypedInput {
    const expand = (text: string) => this.#attachments.expand(text);
    if (sent.kind === "prompt") return { ...sent, text: trimBlankLines(expand(sent.text)) };
    if (sent.kind === "slash") return { ...sent, rest: expand(sent.rest) };
    return { ...sent, command: expand(sent.command) };
  }
}

function isLong(text: string, { lines, characters }: { readonly lines: number; readonly characters: number }): boolean {
  return text.length > characters || text.trimEnd().split("\n", lines + 1).length > lines;
}

/** The first line keeps its indent. */
function trimBlankLines(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, "").trimEnd();
}
