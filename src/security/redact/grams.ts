/**
 * The quick test: does one of many groups of four characters occur, and where? One look at a table for each character,
 * since a regular expression with hundreds of choices would cost ten times as much.
 *
 * In a gram `#` is a digit, `@` a letter or digit, `^` neither, `?` anything. Case does not count.
 */
const LETTERS = 26;
const ALNUMS = 36;
const SIGNS = "_-.:/~|$<=%";
const OTHER = 0;
const CLASSES = 1 + ALNUMS + SIGNS.length;

/** For every UTF-16 code unit, so that the loop needs no comparison. */
const CLASS_OF = new Uint8Array(65_536);
for (let code = 0; code < LETTERS; code++) CLASS_OF[97 + code] = CLASS_OF[65 + code] = 1 + code;
for (let digit = 0; digit < 10; digit++) CLASS_OF[48 + digit] = 1 + LETTERS + digit;
for (let sign = 0; sign < SIGNS.length; sign++) CLASS_OF[SIGNS.charCodeAt(sign)] = 1 + ALNUMS + sign;

const CLASS_BITS = 6;
const PAIR_BITS = 2 * CLASS_BITS;
const GRAM_MASK = (1 << (2 * PAIR_BITS)) - 1;
const PAIR_MASK = (1 << PAIR_BITS) - 1;

/** A row for each first half of a gram that there is, with a bit for each second half: the few rows in use stay in the processor's cache. */
export class GramTable {
  /** By first half; row 0 is empty. */
  readonly #rowOf = new Uint16Array(PAIR_MASK + 1);
  /** Memory that no row uses is never touched, so it takes none. */
  readonly #bits = new Uint8Array(((CLASSES * CLASSES + 1) << PAIR_BITS) / 8);
  #rows = 0;

  constructor(grams: readonly string[]) {
    const bits = this.#bits;
    for (const gram of new Set(grams)) {
      const marks = marksOf(classesAt(gram, 2), classesAt(gram, 3));
      for (const a of classesAt(gram, 0))
        for (const b of classesAt(gram, 1)) {
          const start = (this.#rowFor((a << CLASS_BITS) | b) << PAIR_BITS) >>> 3;
          for (const { byte, mask } of marks) bits[start + byte] = (bits[start + byte] as number) | mask;
        }
    }
  }

  #rowFor(half: number): number {
    const row = this.#rowOf[half] || ++this.#rows;
    this.#rowOf[half] = row;
    return row;
  }

  /** Finds where the next gram begins, from `from` on, as if a border stood before; -1 when there is none. */
  find(text: string, from: number): number {
    const rowOf = this.#rowOf;
    const bits = this.#bits;
    const length = text.length;
    let packed = 0;
    for (let at = from; at < length; at++) {
      packed = ((packed << CLASS_BITS) | (CLASS_OF[text.charCodeAt(at)] as number)) & GRAM_MASK;
      const bit = ((rowOf[packed >>> PAIR_BITS] as number) << PAIR_BITS) | (packed & PAIR_MASK);
      if (((bits[bit >>> 3] as number) & (1 << (bit & 7))) !== 0) return Math.max(at - 3, from);
    }
    return -1;
  }
}

/** By code: the class of a character in a gram. */
const MEANINGS: (readonly number[])[] = Array.from({ length: 128 }, (_, code) => [CLASS_OF[code] ?? OTHER]);
MEANINGS["?".charCodeAt(0)] = range(0, CLASSES);
MEANINGS["#".charCodeAt(0)] = range(1 + LETTERS, 1 + ALNUMS);
MEANINGS["@".charCodeAt(0)] = range(1, 1 + ALNUMS);
MEANINGS["^".charCodeAt(0)] = [OTHER, ...range(1 + ALNUMS, CLASSES)];

function classesAt(gram: string, at: number): readonly number[] {
  return MEANINGS[gram.charCodeAt(at)] ?? [];
}

interface Mark {
  readonly byte: number;
  readonly mask: number;
}

/** The bits of all second halves in a row, by byte: a wildcard at the end takes a few steps, not one for each class. */
function marksOf(third: readonly number[], fourth: readonly number[]): readonly Mark[] {
  const marks: Mark[] = [];
  for (const one of third) {
    const start = (one << CLASS_BITS) >>> 3;
    let last = { byte: -1, mask: 0 };
    for (const other of fourth) {
      const byte = start + (other >>> 3);
      if (byte !== last.byte) {
        last = { byte, mask: 0 };
        marks.push(last);
      }
      last.mask |= 1 << (other & 7);
    }
  }
  return marks;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
