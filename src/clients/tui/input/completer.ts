/** The list of completions with its keys: it shows suggestions for the caret, and puts the chosen one into the draft. */
import { cleanPaste } from "../../../base/pasted-text.js";
import type { CompletionSource, Suggestion } from "../../sdk/completion/completion.js";
import type { Theme } from "../theme.js";
import { CompletionMenu } from "./completion-menu.js";
import type { PromptEditor } from "./prompt-editor.js";

export interface CompleterOptions {
  readonly source: CompletionSource;
  readonly onChange: () => void;
  readonly submit: () => void;
}

export class Completer {
  readonly #editor: PromptEditor;
  readonly #menu: CompletionMenu;
  readonly #submit: () => void;

  constructor(editor: PromptEditor, { source, onChange, submit }: CompleterOptions) {
    this.#editor = editor;
    this.#menu = new CompletionMenu(source, onChange);
    this.#submit = submit;
  }

  get isOpen(): boolean {
    return this.#menu.isOpen;
  }

  close(): void {
    this.#menu.close();
  }

  view(width: number, maxRows: number, theme: Theme): readonly string[] {
    return this.#menu.view(width, maxRows, theme);
  }

  /** Call it after the text changed; false if there is nothing to show. */
  update(): boolean {
    const { caret, lines } = this.#editor;
    const line = lines[caret.line] ?? "";
    this.#menu.update({ line, column: caret.column, isFirstLine: caret.line === 0 });
    return this.#menu.isOpen;
  }

  /** The keys of the list, while it is open. */
  onKey(id: string): boolean {
    if (!this.#menu.isOpen) return false;
    if (id === "up" || id === "ctrl+p") this.#menu.move(-1);
    else if (id === "down" || id === "ctrl+n") this.#menu.move(1);
    else if (id === "escape") this.#menu.dismiss();
    else if (id === "tab") this.#acceptByTab();
    else if (id === "enter") return this.#acceptByEnter();
    else return false;
    return true;
  }

  /** Opens the list. If the answer has not come yet, Tab takes effect when it comes. */
  tab(): boolean {
    const isOpen = this.#menu.isPending || this.update();
    if (this.#menu.isPending) this.#menu.whenAnswered(() => this.#menu.isOpen && this.#acceptByTab());
    return isOpen || this.#menu.isPending;
  }

  #acceptByTab(): void {
    const { common, selected } = this.#menu;
    if (common !== undefined) this.#replace(common);
    else if (selected !== undefined) this.#replace(withSpace(selected));
    this.update();
  }

  #acceptByEnter(): boolean {
    const { selected, isComplete, isChosen, continuesTyped } = this.#menu;
    if (isComplete || selected === undefined) return false;
    // A command that only resembles the typed one is not what the user meant: the engine says which names come near.
    if (selected.value.startsWith("/") && !isChosen && !continuesTyped) return false;
    if (selected.next === "send" && isChosen) {
      this.#replace(selected.value);
      this.#submit();
    } else {
      this.#replace(withSpace(selected));
      this.update();
    }
    return true;
  }

  #replace(value: string): void {
    // Names come from files and servers.
    const text = cleanPaste(value).replaceAll("\n", " ");
    const { line, column } = this.#editor.caret;
    const follows = this.#editor.lines[line]?.charAt(column) === " " && text.endsWith(" ");
    this.#editor.replaceInLine(this.#menu.start, follows ? column + 1 : column, text);
  }
}

/** Adds a space if another word may follow. */
function withSpace({ next, hint = "", value }: Suggestion): string {
  const goesOn = next === "more" || (next === "send" && hint === "" && value.startsWith("/"));
  return goesOn ? value : `${value} `;
}
