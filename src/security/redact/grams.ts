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
const GRAM_MASK = (1 << (4 * CLASS_BITS)) - 1;

export class GramTable {
  /** One bit for each group of four classes. */
  readonly #bits = new Uint8Array((GRAM_MASK + 1) / 8);

  constructor(grams: readonly string[]) {
    const bits = this.#bits;
    for (const gram of grams) {
      const [first = [], second = [], third = [], fourth = []] = [...gram].map(classesOf);
      const row = bytesOf(fourth);
      for (const a of first)
        for (const b of second)
          for (const c of third) {
            const start = ((((a << CLASS_BITS) | b) << CLASS_BITS) | c) << (CLASS_BITS - 3);
            for (const [byte, mask] of row) bits[start + byte] = (bits[start + byte] as number) | mask;
          }
    }
  }

  /** Where the next gram begins, from `from` on, as if a border stood before; -1 when there is none. */
  find(text: string, from: number): number {
    const bits = this.#bits;
    const length = text.length;
    let packed = 0;
    for (let at = from; at < length; at++) {
      packed = ((packed << CLASS_BITS) | (CLASS_OF[text.charCodeAt(at)] as number)) & GRAM_MASK;
      if (((bits[packed >>> 3] as number) & (1 << (packed & 7))) !== 0) return Math.max(at - 3, from);
    }
    return -1;
  }
}

function classesOf(char: string): readonly number[] {
  if (char === "?") return range(0, CLASSES);
  if (char === "#") return range(1 + LETTERS, 1 + ALNUMS);
  if (char === "@") return range(1, 1 + ALNUMS);
  if (char === "^") return [OTHER, ...range(1 + ALNUMS, CLASSES)];
  return [CLASS_OF[char.charCodeAt(0)] ?? OTHER];
}

/** The bits of these classes, by byte: a wildcard at the end takes a few steps, not one for each class. */
function bytesOf(classes: readonly number[]): readonly (readonly [byte: number, mask: number])[] {
  const masks = new Map<number, number>();
  for (const one of classes) masks.set(one >>> 3, (masks.get(one >>> 3) ?? 0) | (1 << (one & 7)));
  return [...masks];
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
