/** Text that comes in pieces, up to a limit. */
import { groupDigits } from "../../../base/group-digits.js";
import { EXPIRED } from "../../../protocol/events.js";

export class JoinedText {
  readonly #limit: number;
  #text = "";
  #cut = 0;
  #expired = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adjacent expired pieces leave one mark in total. */
  add(piece: string): void {
    const isExpired = piece === EXPIRED;
    if (isExpired && this.#expired) return;
    this.#expired = isExpired;
    const room = Math.max(0, this.#limit - this.#text.length);
    this.#text += piece.slice(0, room);
    this.#cut += Math.max(0, piece.length - room);
  }

  toString(): string {
    if (this.#cut === 0) return this.#text;
    return `${this.#text}\n[… ${groupDigits(this.#cut)} more characters are not shown: export the session to see them]`;
  }
}
