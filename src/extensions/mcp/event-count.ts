/** Counts the events of an event stream by their bytes, before anything parses them. Comments between blank lines count, too. */

const LINE_FEED = 10;
const RETURN = 13;

export class EventCount {
  #line = 0;
  #open = 0;
  #afterReturn = false;

  /** The bytes of the event that has not ended. */
  get open(): number {
    return this.#open;
  }

  /** How many events end in this piece. */
  take(piece: Uint8Array): number {
    let ended = 0;
    for (const byte of piece) {
      const isSecondHalf = byte === LINE_FEED && this.#afterReturn;
      this.#afterReturn = byte === RETURN;
      if (isSecondHalf) continue;
      this.#open++;
      if (byte !== LINE_FEED && byte !== RETURN) {
        this.#line++;
        continue;
      }
      if (this.#line === 0) {
        ended++;
        this.#open = 0;
      }
      this.#line = 0;
    }
    return ended;
  }
}
