/** Writes the scrollback: finished blocks and the streamed answer. It returns every line once. */
import { AnswerStream } from "./content/answer-stream.js";
import type { Block } from "./content/block.js";
import { type RenderOptions, renderBlock } from "./content/render-block.js";
import { Spacing } from "./content/spacing.js";
import { plainTools } from "./content/tools.js";

export interface TranscriptOptions {
  /** The current style. */
  readonly look: () => RenderOptions;
  /** Called with each finished block, for the view of the whole conversation. */
  readonly remember: (block: Block) => void;
}

export class TranscriptWriter {
  readonly #options: TranscriptOptions;
  readonly #answer = new AnswerStream();
  readonly #spacing = new Spacing();
  /** The answer so far. */
  #said: string[] = [];
  /** Lines that no frame has printed yet. */
  #printed: string[] = [];

  constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  print(block: Block): void {
    this.endAnswer();
    this.#options.remember(block);
    this.#write(block.kind, renderBlock(block, this.#options.look()));
  }

  addToAnswer(text: string): void {
    this.#said.push(text);
    this.#answer.push(text);
  }

  /** Prints the rest of the answer. */
  endAnswer(): void {
    const markdown = this.#said.join("");
    this.#said = [];
    if (markdown !== "") this.#options.remember({ kind: "answer", markdown });
    this.#write("answer", this.#answer.end(this.#layout()));
  }

  /** The lines to print now, and the unfinished end of the answer. */
  take(): { readonly printed: readonly string[]; readonly live: readonly string[] } {
    const { finished, live } = this.#answer.take(this.#layout());
    this.#write("answer", finished);
    const printed = this.#printed;
    this.#printed = [];
    return { printed, live: this.spaced("answer", live) };
  }

  /** Empty lines, which belong to no block: a whole screen of them makes the terminal write the live region again. */
  scroll(rows: number): void {
    for (let row = 0; row < rows; row++) this.#printed.push("");
  }

  /** Lines of the live region with the blank line before them. */
  spaced(kind: Block["kind"], lines: readonly string[]): readonly string[] {
    return lines.length === 0 ? [] : [...this.#spacing.ahead(kind), ...lines];
  }

  #layout() {
    const { width, theme, tools = plainTools, soft } = this.#options.look();
    return { width, theme, tools, soft };
  }

  /** Adds lines one by one, because a call cannot take that many arguments. */
  #write(kind: Block["kind"], lines: readonly string[]): void {
    if (lines.length === 0) return;
    for (const line of [...this.#spacing.before(kind), ...lines]) this.#printed.push(line);
  }
}
