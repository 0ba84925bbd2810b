/** Random keys: nothing that was typed or pasted is lost but by a key that deletes, and undo brings everything back. */

import { expect, it } from "vitest";
import { times } from "../../../../test/support/thorough.js";
import { ManualClock } from "../../../base/clock.js";
import { textWidth } from "../../../base/text-width.js";
import { Composer } from "./composer.js";
import { InputHistory } from "./history.js";
import { BYTES, key, plainTheme } from "./keys.testkit.js";

const RUNS = times(4, 200);
const KEYS_PER_RUN = 100;

/** A small generator, so that a failure can be repeated. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const TEXTS = ["a", "Z", " ", "\\", "é", "日", "e\u0301", "👩‍👩‍👧", "🇩🇪", "@", "#", "!", "/", "\u200b", "م"];
const MOVES = [BYTES.left, BYTES.right, BYTES.up, BYTES.down, BYTES.home, BYTES.end, BYTES.wordLeft, BYTES.wordRight];
const JUMPS = ["\x1b[5~", "\x1b[6~", "\x1b[1;5H", "\x1b[1;5F", BYTES.ctrlA, BYTES.tab, BYTES.escape];
const DELETES = [BYTES.backspace, BYTES.delete, BYTES.killWord, BYTES.killLineEnd, BYTES.killLineStart, "\x1bd"];
const PASTES = ["two words", "a\nb\tc", "long ".repeat(300), "row\n".repeat(15)];

function open() {
  const storage = { read: async () => "", append: async () => {}, replace: async () => {} };
  const clock = new ManualClock();
  const history = new InputHistory({ storage, clock, folder: "/", redact: async (text) => text });
  return new Composer({ clock, history, onChange() {}, onSubmit() {} });
}

function pick<T>(list: readonly T[], random: () => number): T {
  return list[Math.floor(random() * list.length)] as T;
}

/** The number of characters that are no line break: a newline is typed as one, and a tab may expand a block. */
const weight = (text: string) => text.replaceAll("\n", "").length;

it("loses no text by typing, pasting and moving, and shows rows that fit", () => {
  for (let run = 0; run < RUNS; run++) {
    const random = randomNumbers(run);
    const composer = open();
    let expected = 0;
    for (let step = 0; step < KEYS_PER_RUN; step++) {
      const kind = random();
      if (kind < 0.5) {
        const text = pick(TEXTS, random);
        composer.onKey(key(text));
        expected += weight(text);
      } else if (kind < 0.55) {
        const text = pick(PASTES, random);
        composer.onPaste(text);
      } else if (kind < 0.6) composer.onKey(key(pick([BYTES.ctrlJ, BYTES.altEnter], random)));
      else composer.onKey(key(pick([...MOVES, ...JUMPS], random)));
      if (kind >= 0.5 && kind < 0.55) expected = weight(composer.text);
      expect(weight(composer.text), `run ${run}, step ${step}`).toBe(expected);
      const width = 5 + Math.floor(random() * 60);
      const { lines, cursor } = composer.view(width, 6, plainTheme);
      expect(lines.length).toBeLessThanOrEqual(6);
      for (const line of lines) expect(textWidth(line), `run ${run}: ${line}`).toBeLessThanOrEqual(width);
      expect(cursor.row).toBeLessThan(lines.length);
      expect(cursor.column).toBeLessThan(width);
    }
  }
});

it("undo goes back to the begin, through everything", () => {
  for (let run = 0; run < RUNS; run++) {
    const random = randomNumbers(1000 + run);
    const composer = open();
    composer.setText("the first text");
    const before = new Set<string>();
    for (let step = 0; step < KEYS_PER_RUN; step++) {
      before.add(composer.text);
      const kind = random();
      if (kind < 0.4) composer.onKey(key(pick(TEXTS, random)));
      else if (kind < 0.5) composer.onPaste(pick(PASTES, random));
      else if (kind < 0.7) composer.onKey(key(pick([...DELETES, BYTES.yank, BYTES.yankPop, BYTES.ctrlJ], random)));
      else composer.onKey(key(pick(MOVES, random)));
    }
    for (let step = 0; step < 2 * KEYS_PER_RUN && composer.text !== "the first text"; step++) {
      composer.onKey(key(BYTES.undo));
      expect(before.has(composer.text), `run ${run}: a text that never was`).toBe(true);
    }
    expect(composer.text, `run ${run}`).toBe("the first text");
  }
});
