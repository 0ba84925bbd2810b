/**
 * The input of the terminal client: a draft of several lines with pastes and images in it, history, search and completion. It takes
 * keys and pastes, and shows itself as rows. It knows no terminal, no file and no engine.
 *
 * 1. A paste is one block. It never sends, and no newline in it does.
 * 2. A paste is text: a pasted `!` or `/` at the beginning of the draft runs nothing.
 * 3. Every change can be undone, until the draft is sent.
 * 4. A draft that was put aside comes back with the next empty draft, and survives a crash like the one that is typed.
 */
import type { Clock } from "../../../base/clock.js";
import type { CompletionSource } from "../../sdk/completion/completion.js";
import type { Key } from "../terminal/terminal.js";
import type { Theme } from "../theme.js";
import { Completer } from "./completer.js";
import { type ComposerView, viewDraft } from "./composer-view.js";
import { type Draft, DraftBuffer, type ImageAccess, type Submission } from "./draft-buffer.js";
import type { DraftKeeper } from "./draft-keeper.js";
import { isNewlineKey, typedText } from "./editing-keys.js";
import type { InputHistory } from "./history.js";
import { HistoryBrowser } from "./history-browser.js";
import { type HistorySearch, openSearch, searchKey, viewSearch } from "./history-search.js";
import type { Caret } from "./prompt-editor.js";
import { VimKeys, type VimMode } from "./vim-keys.js";

export type { Draft, ImageAccess, Submission };

/** `later`: after the running turn, as a separate turn. */
export type SubmitTime = "now" | "later";

export interface ComposerOptions {
  readonly clock: Clock;
  readonly onSubmit: (submission: Submission, when: SubmitTime) => void;
  /** Something changed that the screen shows. */
  readonly onChange: () => void;
  /** Gets a message for the user, in one sentence. */
  readonly onNotice?: (text: string) => void;
  readonly placeholder?: string;
  readonly history?: InputHistory;
  readonly drafts?: DraftKeeper;
  readonly completion?: CompletionSource;
  readonly images?: ImageAccess;
  /** Lets the user edit the text in another program; undefined without a result. */
  readonly editText?: (text: string) => Promise<string | undefined>;
  /** The keys of vi. */
  readonly vim?: boolean;
}

const PAGE = 10;
/** Ctrl-X Ctrl-E, as in shells. */
const CHORD = "ctrl+x";

export class Composer {
  readonly #options: ComposerOptions;
  readonly #buffer: DraftBuffer;
  readonly #completer: Completer;
  readonly #browser: HistoryBrowser;
  #vim: VimKeys | undefined;
  #search: HistorySearch | undefined;
  #aside: Draft | undefined;
  #chord = false;
  #top = 0;

  constructor(options: ComposerOptions) {
    this.#options = options;
    this.#buffer = new DraftBuffer({ ...options, onChange: () => this.#changed() });
    this.#completer = new Completer(this.#buffer.editor, {
      source: options.completion ?? { suggest: () => undefined },
      onChange: options.onChange,
      submit: () => this.submit(),
    });
    this.#browser = new HistoryBrowser(this.#buffer, () => options.history?.list() ?? []);
    this.useVim(options.vim === true);
  }

  /** Gives the draft the keys of vi, or takes them away. */
  useVim(isOn: boolean): void {
    const rows = (by: -1 | 1) => (by === -1 ? this.#browser.up() : this.#browser.down());
    this.#vim = isOn ? new VimKeys(this.#buffer.editor, rows) : undefined;
  }

  /** Pastes in full, images by their label. */
  get text(): string {
    return this.#buffer.text;
  }

  get isEmpty(): boolean {
    return this.#buffer.editor.isEmpty;
  }

  /** A list or a search is open, which takes the keys first. */
  get isOpen(): boolean {
    return this.#search !== undefined || this.#completer.isOpen;
  }

  /** Tells whether Esc does something in the draft. */
  get takesEscape(): boolean {
    return this.#vim?.takesEscape ?? false;
  }

  /** Undefined without the keys of vi. */
  get vimMode(): VimMode | undefined {
    return this.#vim?.mode;
  }

  /** Returns everything typed and not sent, with a draft that was put aside. */
  get draft(): Draft {
    const { parts } = this.#buffer.draft;
    const { parts: aside = [] } = this.#aside ?? {};
    return { parts: [...parts, ...(parts.length > 0 && aside.length > 0 ? ["\n\n"] : []), ...aside] };
  }

  restore(draft: Draft): void {
    this.#completer.close();
    this.#buffer.restore(draft);
  }

  setText(text: string): void {
    this.#completer.close();
    this.#buffer.setText(text);
  }

  /** Inserts text at the caret, as one undo step. */
  insert(text: string): void {
    this.#completer.close();
    this.#buffer.insert(text);
  }

  /** Inserts text that was sent above the draft, which keeps its pastes and images; the caret goes to the end. */
  prepend(text: string): void {
    const { editor } = this.#buffer;
    const end = this.isEmpty ? "" : "\n";
    this.#completer.close();
    this.#jump({ line: 0, column: 0 });
    this.#buffer.insertSent(text);
    this.#buffer.insert(end);
    this.#jump({ line: editor.lines.length - 1, column: Number.POSITIVE_INFINITY });
  }

  /** False for a key without a meaning here. */
  onKey(key: Key): boolean {
    const taken = this.#search === undefined ? this.#take(key) : this.#searchKey(this.#search, key);
    if (taken) this.#options.onChange();
    return taken;
  }

  onPaste(pasted: string): void {
    if (this.#search !== undefined) {
      const query = this.#search.query + pasted.replace(/\s+/g, " ").trim();
      this.#search = openSearch(this.#options.history?.list() ?? [], query);
    } else {
      this.#completer.close();
      this.#buffer.paste(pasted);
    }
    this.#options.onChange();
  }

  view(width: number, maxRows: number, theme: Theme): ComposerView {
    if (this.#search !== undefined) {
      return viewSearch(this.#search, { width, maxRows, theme, now: this.#options.clock.wall() });
    }
    const list = this.#completer.view(width, maxRows - 1, theme);
    const { placeholder = "" } = this.#options;
    const room = { width, maxRows: maxRows - list.length, theme, placeholder, top: this.#top };
    const { lines, cursor, top } = viewDraft(this.#buffer.editor, room);
    this.#top = top;
    return { lines: [...lines, ...list], cursor };
  }

  /** Waits for images that are still being read. */
  submit(when: SubmitTime = "now"): void {
    const { settled } = this.#buffer;
    if (settled !== undefined) {
      void settled.then(() => this.submit(when));
      return;
    }
    const submission = this.#buffer.submission();
    if (submission === undefined) return;
    this.#options.history?.add(submission.text);
    this.clear();
    this.#options.onSubmit(submission, when);
    if (this.isEmpty) this.#takeBack();
  }

  /** Empties the draft permanently. */
  clear(): void {
    this.#buffer.clear();
    this.#vim?.reset();
    this.#browser.stop();
    this.#completer.close();
    this.#top = 0;
    this.#changed();
  }

  #changed(): void {
    this.#options.drafts?.changed(() => this.draft);
    this.#options.onChange();
  }

  #take(key: Key): boolean {
    if (this.#chord) {
      this.#chord = false;
      return key.id === "ctrl+e" && this.#edit();
    }
    if (!this.#completer.isOpen && this.#vim?.onKey(key)) return true;
    if (isNewlineKey(key)) {
      this.#completer.close();
      this.#buffer.editor.newline();
      return true;
    }
    const text = typedText(key);
    if (text !== undefined) {
      this.#buffer.editor.type(text);
      this.#completer.update();
      return true;
    }
    return key.id !== undefined && (this.#completer.onKey(key.id) || this.#command(key.id));
  }

  #command(id: string): boolean {
    if (id === "ctrl+d" && this.isEmpty) return false;
    const { lines } = this.#buffer.editor;
    if (this.#buffer.editor.press(id)) {
      if (this.#buffer.editor.lines === lines) this.#completer.close();
      else this.#completer.update();
      return true;
    }
    if (id === "tab") return this.#buffer.expandHere() || this.#completer.tab();
    const action = this.#actions[id];
    if (action === undefined) return false;
    this.#completer.close();
    return action() !== false;
  }

  /** An action that returns false does not handle the key. */
  readonly #actions: Readonly<Record<string, () => unknown>> = {
    enter: () => this.#enter(),
    up: () => this.#browser.up(),
    "ctrl+p": () => this.#browser.up(),
    down: () => this.#browser.down(),
    "ctrl+n": () => this.#browser.down(),
    pageUp: () => this.#buffer.editor.moveRows(-PAGE) || true,
    pageDown: () => this.#buffer.editor.moveRows(PAGE) || true,
    "ctrl+home": () => this.#jump({ line: 0, column: 0 }),
    "ctrl+end": () => this.#jump({ line: Number.POSITIVE_INFINITY, column: Number.POSITIVE_INFINITY }),
    "ctrl+r": () => this.#openSearch(),
    "ctrl+g": () => this.#edit(),
    "ctrl+v": () => this.#pasteImage(),
    "alt+v": () => this.#pasteImage(),
    "ctrl+s": () => (this.isEmpty ? this.#takeBack() : this.#putAside()),
    [CHORD]: () => {
      this.#chord = true;
    },
  };

  #jump(caret: Caret): void {
    this.#buffer.editor.caret = caret;
  }

  /** After a backslash, Enter inserts a newline, for terminals that have no other key for it. */
  #enter(): void {
    const { editor } = this.#buffer;
    const { line, column } = editor.caret;
    if (editor.lines[line]?.charAt(column - 1) === "\\") editor.replaceInLine(column - 1, column, "\n");
    else this.submit();
  }

  #putAside(): void {
    this.#aside = this.draft;
    this.clear();
    this.#options.onNotice?.("Your draft is put aside: it comes back when you have sent another one.");
  }

  /** False if nothing is aside. */
  #takeBack(): boolean {
    if (this.#aside === undefined) return false;
    const draft = this.#aside;
    this.#aside = undefined;
    this.restore(draft);
    return true;
  }

  #openSearch(): boolean {
    const entries = this.#options.history?.list();
    if (entries === undefined) return false;
    this.#search = openSearch(entries);
    return true;
  }

  #searchKey(search: HistorySearch, key: Key): boolean {
    const step = searchKey(search, key, this.#options.history?.list() ?? []);
    this.#search = step.kind === "open" ? step.search : undefined;
    if (step.kind === "taken") this.#buffer.recall(step.text);
    return true;
  }

  #pasteImage(): boolean {
    if (this.#options.images === undefined) return false;
    this.#buffer.pasteClipboard();
    return true;
  }

  #edit(): boolean {
    const { editText, onNotice } = this.#options;
    if (editText === undefined) return false;
    editText(this.text).then(
      (text) => text !== undefined && this.#buffer.setEdited(text.replace(/\n+$/, "")),
      (error: unknown) => onNotice?.(error instanceof Error ? error.message : String(error)),
    );
    return true;
  }
}
