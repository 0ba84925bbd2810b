/**
 * The input of the terminal client: a draft of several lines with pastes and images in it. It takes keys and pastes, and shows
 * itself as rows. It knows no terminal, no file and no engine.
 *
 * 1. A paste is one block. It never sends, and no newline in it does.
 * 2. What is in a paste is words: a pasted `!` or `/` at the begin of the draft runs nothing.
 * 3. Every change can be undone, until the draft is sent.
 */
import type { ImageBlock } from "../../../protocol/content.js";
import type { Key } from "../terminal/terminal.js";
import type { Theme } from "../theme.js";
import { Attachments, cleanText, type DraftPart } from "./attachments.js";
import { classify, type Sent } from "./classify.js";
import { type ComposerView, viewDraft } from "./composer-view.js";
import { DraftLayout } from "./draft-layout.js";
import { EDITOR_KEYS, isNewlineKey, typedText, UNDO_KEYS } from "./editing-keys.js";
import { type Caret, PromptEditor } from "./prompt-editor.js";

export interface Submission {
  /** All that was written, with pastes in full. */
  readonly text: string;
  readonly images: readonly ImageBlock[];
  readonly sent: Sent;
}

export interface ComposerOptions {
  readonly onSubmit: (submission: Submission) => void;
  /** Something changed that the screen shows. */
  readonly onChange: () => void;
  readonly placeholder?: string;
}

export interface Draft {
  readonly parts: readonly DraftPart[];
}

/** A paste of more than this is shown as a block. */
const MAX_PASTED_LINES = 10;
const MAX_PASTED_CHARACTERS = 1000;
/** A longer line is too slow to edit in place. */
const MAX_LINE = 20_000;
const PAGE = 10;

export class Composer {
  readonly #options: ComposerOptions;
  readonly #attachments = new Attachments();
  readonly #layout = new DraftLayout((token) => this.#attachments.label(token));
  readonly #editor: PromptEditor;
  #top = 0;

  constructor(options: ComposerOptions) {
    this.#options = options;
    this.#editor = new PromptEditor(this.#layout, () => this.#changed());
  }

  /** Pastes in full, images by their label. */
  get text(): string {
    return this.#attachments.expand(this.#editor.text);
  }

  get isEmpty(): boolean {
    return this.#editor.isEmpty;
  }

  get draft(): Draft {
    return { parts: this.#attachments.parts(this.#editor.text) };
  }

  restore(draft: Draft): void {
    const text = draft.parts.map((part) => this.#token(part)).join("");
    this.#editor.setText(text);
  }

  setText(text: string): void {
    this.#editor.setText(this.#foldLongLines(cleanText(text)));
  }

  /** At the caret, as one step for undo. */
  insert(text: string): void {
    this.#editor.insert(this.#foldLongLines(cleanText(text)));
  }

  /** False for a key that means nothing here. */
  onKey(key: Key): boolean {
    const taken = this.#take(key);
    if (taken) this.#options.onChange();
    return taken;
  }

  onPaste(pasted: string): void {
    const text = cleanText(pasted);
    if (text === "") return;
    if (!this.#expandSame(text)) this.#editor.insert(this.#folded(text));
    this.#options.onChange();
  }

  view(width: number, maxRows: number, theme: Theme): ComposerView {
    const placeholder = this.#options.placeholder ?? "";
    const view = viewDraft(this.#editor, { width, maxRows, theme, placeholder, top: this.#top });
    this.#top = view.top;
    return view;
  }

  submit(): void {
    const raw = this.#editor.text;
    if (raw.trim() === "") return;
    const sent = classify(raw);
    const submission = {
      text: trimBlankLines(this.#attachments.expand(raw)),
      images: this.#attachments.images(raw),
      sent: this.#expanded(sent),
    };
    this.clear();
    this.#options.onSubmit(submission);
  }

  /** Empties the draft; it cannot be undone. */
  clear(): void {
    this.#editor.reset((text) => this.#attachments.expand(text));
    this.#attachments.clear();
    this.#layout.forget();
    this.#top = 0;
    this.#changed();
  }

  #changed(): void {
    this.#options.onChange();
  }

  #take(key: Key): boolean {
    if (isNewlineKey(key)) {
      this.#editor.newline();
      return true;
    }
    const text = typedText(key);
    if (text !== undefined) {
      this.#editor.type(cleanText(text));
      return true;
    }
    return key.id !== undefined && this.#command(key.id, key.data);
  }

  #command(id: string, data: string): boolean {
    const editor = this.#editor;
    if (id === "ctrl+d" && editor.isEmpty) return false;
    if (UNDO_KEYS.has(id)) editor.undo();
    else if (EDITOR_KEYS.has(id)) editor.press(data);
    else if (id === "enter") this.#enter();
    else if (id === "up" || id === "ctrl+p") editor.moveRows(-1);
    else if (id === "down" || id === "ctrl+n") editor.moveRows(1);
    else if (id === "pageUp") editor.moveRows(-PAGE);
    else if (id === "pageDown") editor.moveRows(PAGE);
    else if (id === "ctrl+backspace") editor.deleteWord("back");
    else if (id === "ctrl+delete") editor.deleteWord("forward");
    else if (id === "ctrl+home") editor.caret = { line: 0, column: 0 };
    else if (id === "ctrl+end") editor.caret = endOf(editor.lines);
    else if (id === "tab") return this.#expandHere();
    else return false;
    return true;
  }

  /** A backslash right before the caret makes a newline of it, for terminals that have no other key. */
  #enter(): void {
    const { line, column } = this.#editor.caret;
    if (this.#editor.lines[line]?.charAt(column - 1) === "\\") this.#editor.replaceInLine(column - 1, column, "\n");
    else this.submit();
  }

  /** The paste at the caret becomes text. */
  #expandHere(): boolean {
    const { line, column } = this.#editor.caret;
    return this.#expandAt(line, column - 1) || this.#expandAt(line, column);
  }

  #expandAt(line: number, column: number): boolean {
    const found = this.#attachments.get(this.#editor.lines[line]?.charAt(column) ?? "");
    if (found?.kind !== "paste") return false;
    this.#editor.replaceInLine(column, column + 1, this.#foldLongLines(found.text));
    return true;
  }

  /** The same paste again, right behind the first: the person wants to see it. */
  #expandSame(text: string): boolean {
    const { line, column } = this.#editor.caret;
    const found = this.#attachments.get(this.#editor.lines[line]?.charAt(column - 1) ?? "");
    return found?.kind === "paste" && found.text === text && this.#expandAt(line, column - 1);
  }

  #folded(text: string): string {
    const long =
      text.length > MAX_PASTED_CHARACTERS || text.split("\n", MAX_PASTED_LINES + 2).length > MAX_PASTED_LINES;
    return long ? (this.#attachments.addPaste(text) ?? text) : text;
  }

  #foldLongLines(text: string): string {
    if (text.length <= MAX_LINE) return text;
    const fold = (line: string) => (line.length > MAX_LINE ? (this.#attachments.addPaste(line) ?? line) : line);
    return text.split("\n").map(fold).join("\n");
  }

  #token(part: DraftPart): string {
    if (typeof part === "string") return cleanText(part);
    if ("paste" in part) return this.#attachments.addPaste(cleanText(part.paste)) ?? "";
    return cleanText(part.source);
  }

  #expanded(sent: Sent): Sent {
    const expand = (text: string) => this.#attachments.expand(text);
    if (sent.kind === "prompt") return { ...sent, text: trimBlankLines(expand(sent.text)) };
    if (sent.kind === "slash") return { ...sent, rest: expand(sent.rest) };
    return { ...sent, command: expand(sent.command) };
  }
}

function endOf(lines: readonly string[]): Caret {
  return { line: lines.length - 1, column: lines.at(-1)?.length ?? 0 };
}

/** The first line keeps its indent. */
function trimBlankLines(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, "").trimEnd();
}
