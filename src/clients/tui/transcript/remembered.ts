/**
 * The finished blocks of the conversation, for the view of all of it. Only the newest are kept; the session's log has the older ones.
 *
 * A block is finished by an event. Blocks of the same event are dropped together, so that the log continues exactly before the
 * oldest one that is kept.
 */

import type { ToolBlock } from "../../sdk/shown/tool-block.js";
import type { Block } from "../content/block.js";

/** Characters. */
const MOST_REMEMBERED = 1_000_000;

interface Entry {
  readonly block: Block;
  readonly event: number;
  readonly characters: number;
}

export class Remembered {
  #entries: Entry[] = [];
  #characters = 0;
  /** The last event whose blocks are not here; undefined before the first event. */
  #before: number | undefined;
  #pastUntil = 0;

  get blocks(): readonly Block[] {
    return this.#entries.map(({ block }) => block);
  }

  /** The events up to this one come before the blocks; 0 if there are none, undefined if no event was seen. */
  get before(): number | undefined {
    return this.#before;
  }

  /** Events up to this one happened before the client opened the conversation. */
  get pastUntil(): number {
    return this.#pastUntil;
  }

  /** Starts another conversation. */
  restart({ pastUntil = 0 }: { readonly pastUntil?: number } = {}): void {
    this.#pastUntil = pastUntil;
    this.#entries = [];
    this.#characters = 0;
    this.#before = undefined;
  }

  /** The first one is where the client joined the conversation. */
  see(event: number): void {
    this.#before ??= event - 1;
  }

  add(block: Block, event: number): void {
    const characters = charactersOf(block);
    this.#entries.push({ block, event, characters });
    this.#characters += characters;
    while (this.#characters > MOST_REMEMBERED && this.#dropOldest());
  }

  /** False if only one is left. */
  #dropOldest(): boolean {
    const [first, ...rest] = this.#entries;
    const kept = rest.findIndex(({ event }) => event !== first?.event);
    if (first === undefined || kept === -1) return false;
    for (const { characters } of this.#entries.splice(0, kept + 1)) this.#characters -= characters;
    this.#before = Math.max(this.#before ?? 0, first.event);
    return true;
  }
}

/** The approximate number of characters. */
function charactersOf(block: Block): number {
  switch (block.kind) {
    case "answer":
      return block.markdown.length;
    case "tool":
      return block.progress.length + JSON.stringify(block.args).length + resultCharacters(block);
    case "shell":
      return block.output.length;
    case "turn-end":
      return block.summary.length;
    default:
      return block.text.length;
  }
}

function resultCharacters({ result }: ToolBlock): number {
  return (result?.content ?? []).reduce((sum, part) => sum + (part.type === "text" ? part.text : part.data).length, 0);
}
