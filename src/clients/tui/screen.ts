/** What the client shows now: the parts of the live region, and the style of blocks. */

import type { Clock } from "../../base/clock.js";
import { STATUS_PARTS, type StatusLine } from "../../base/status-parts.js";
import { safeLine } from "../../base/terminal-text.js";
import { type RenderOptions, renderBlock } from "./content/render-block.js";
import { pinnedTodos } from "./content/todo.js";
import { type ContentTools, loadContentTools, plainTools } from "./content/tools.js";
import type { DialogSize, DialogView } from "./dialogs/dialog.js";
import { StatusCommand } from "./effects/status-command.js";
import type { Composer } from "./input/composer.js";
import { USUAL_KEYS } from "./keys/bindings.js";
import type { TuiOptions } from "./options.js";
import { isBusy, type State } from "./state.js";
import type { Theme } from "./theme.js";
import type { TranscriptWriter } from "./transcript-writer.js";
import { composeFrame } from "./views/frame.js";
import { queueLines } from "./views/queue.js";
import { statusLine } from "./views/status-line.js";
import { workingLine } from "./views/working-line.js";

const COMPOSER_SHARE = 3;
const MOST_TODO_ROWS = 8;
/** Rows that a dialog leaves free for the draft and the status. */
const ROWS_BESIDE_DIALOG = 8;

export interface ScreenOptions
  extends Pick<
    TuiOptions,
    | "terminal"
    | "theme"
    | "files"
    | "verses"
    | "still"
    | "linear"
    | "keys"
    | "statusLine"
    | "runStatusCommand"
    | "wrapsWords"
  > {
  readonly clock: Clock;
  /** Called when the status line may be another one. */
  readonly onStatus: () => void;
}

export interface Shown {
  readonly state: State;
  readonly dialog: DialogView | undefined;
  readonly dialogHasFocus: boolean;
  readonly composer: Composer;
  readonly transcript: TranscriptWriter;
}

export class Screen {
  readonly #options: ScreenOptions;
  theme: Theme;
  #statusLine: StatusLine = STATUS_PARTS;
  #statusCommand: StatusCommand | undefined;
  #tools: ContentTools = plainTools;
  /** The folder where paths of the session begin. */
  #folder: string | undefined;

  constructor(options: ScreenOptions) {
    this.#options = options;
    this.theme = options.theme;
    if (options.statusLine !== undefined) this.useStatusLine(options.statusLine);
  }

  useStatusLine(line: StatusLine): void {
    const { clock, runStatusCommand: run, onStatus: onChange } = this.#options;
    this.#statusLine = line;
    const isOwn = "command" in line && run !== undefined;
    this.#statusCommand = isOwn ? new StatusCommand(line.command, { clock, run, onChange }) : undefined;
  }

  /** Loads large libraries: while the model answers, and not in an idle client. */
  async loadTools(): Promise<void> {
    this.#tools = await loadContentTools();
  }

  get tools(): ContentTools {
    return this.#tools;
  }

  /** The current style of blocks. */
  look(): RenderOptions {
    const { terminal, clock, files, wrapsWords } = this.#options;
    const folder = this.#folder;
    return {
      soft: terminal.reflows && wrapsWords !== true,
      ...{ width: terminal.columns, theme: this.theme, expanded: false, now: clock.now(), tools: this.#tools },
      ...(files && folder && { fileUrl: (path: string) => files.urlOf(path, folder) }),
    };
  }

  get size(): DialogSize {
    const { columns, rows } = this.#options.terminal;
    return { columns, rows };
  }

  /** The space for a dialog above the draft. */
  get dialogSize(): DialogSize {
    const { columns, rows } = this.size;
    return { columns, rows: Math.max(4, rows - ROWS_BESIDE_DIALOG) };
  }

  paint(shown: Shown): void {
    const { terminal } = this.#options;
    const { state } = shown;
    this.#folder = state.place?.cwd;
    const { printed, live } = shown.transcript.take();
    terminal.paint(this.#frame(shown, live), printed);
    terminal.setTitle(titleOf(state));
    const isAsked = state.questions.length + state.tokens.length > 0;
    terminal.setProgress(isAsked ? "waiting" : isBusy(state) ? "busy" : "none");
  }

  #todos({ todos }: State): readonly string[] {
    if (todos === undefined) return [];
    const { columns, rows } = this.size;
    const key = (this.#options.keys ?? USUAL_KEYS).nameOf("todos");
    const most = Math.max(2, Math.min(MOST_TODO_ROWS, Math.floor(rows / 4)));
    return pinnedTodos(todos, { width: columns, theme: this.theme, rows: most, key });
  }

  #frame({ state, dialog, dialogHasFocus, composer, transcript }: Shown, answer: readonly string[]) {
    const { clock, verses, still, linear, keys } = this.#options;
    const { columns, rows } = this.size;
    const { theme } = this;
    const options = this.look();
    const tools = state.tools.flatMap((block) => renderBlock(block, options));
    const { shell } = state;
    const output = shell === undefined ? [] : renderBlock({ kind: "shell", ...shell }, options);
    const most = Math.max(3, Math.floor(rows / COMPOSER_SHARE));
    return composeFrame(
      {
        live: linear ? [] : [...answer, ...transcript.spaced("tool", tools), ...output],
        working: workingLine(state, { width: columns, theme, now: clock.now(), verses, still }),
        queue: queueLines(state, { width: columns, theme, key: (keys ?? USUAL_KEYS).nameOf("take-back") ?? "up" }),
        todos: linear || state.todosHidden ? [] : this.#todos(state),
        dialog,
        dialogHasFocus,
        composer: composer.view(columns, most, theme),
        status: statusLine(state, {
          ...{ width: columns, theme, vim: composer.vimMode, own: this.#statusCommand?.line(state) },
          parts: "command" in this.#statusLine ? STATUS_PARTS : this.#statusLine,
        }),
      },
      { columns, rows, theme, ...(linear && { linear }) },
    );
  }
}

/** It stays the same during a turn: some terminals and multiplexers redraw for each change of it. */
function titleOf({ title, place }: State): string {
  const folder = place?.cwd.split(/[\\/]/).at(-1);
  return safeLine(["oxbow", title ?? folder].filter(Boolean).join(" · "));
}
