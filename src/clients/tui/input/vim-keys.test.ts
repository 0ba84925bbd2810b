import { describe, expect, it } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { ManualClock } from "../../../base/clock.js";
import { Composer } from "./composer.js";
import { key, keys } from "./keys.testkit.js";

const ESC = "\x1b";

function open() {
  const sent: string[] = [];
  const composer = new Composer({
    clock: new ManualClock(),
    onSubmit: ({ text }) => sent.push(text),
    onChange() {},
    vim: true,
  });
  const press = (text: string) => {
    for (const each of keys(text)) composer.onKey(each);
  };
  return { composer, sent, press };
}

/** The draft with `|` before the character of the caret. */
function after(text: string, commands: string): string {
  const { composer, press } = open();
  composer.setText(text.replace("|", ""));
  composer.onKey(key(ESC));
  const before = text.slice(0, text.indexOf("|")).split("\n");
  press(
    `gg0${before.length > 1 ? `${before.length - 1}j0` : ""}${before.at(-1) ? `${[...(before.at(-1) ?? "")].length}l` : ""}`,
  );
  press(commands);
  composer.insert("|");
  return composer.text;
}

// Each as vi does it.
const CASES: readonly (readonly [text: string, commands: string, result: string])[] = [
  ["|one two", "x", "|ne two"],
  ["one |two", "3x", "one| "],
  ["one |two", "X", "one|two"],
  ["|one, two", "dw", "|, two"],
  ["|one, two", "dW", "|two"],
  ["|one two three", "d2w", "|three"],
  ["|one two three", "2dw", "|three"],
  ["one |two\nthree", "dw", "one| \nthree"],
  ["|one two", "de", "| two"],
  ["one t|wo", "db", "one |wo"],
  ["one |two three", "d$", "one| "],
  ["one |two", "D", "one| "],
  ["one |two", "d0", "|two"],
  ["a\n|b\nc", "dd", "a\n|c"],
  ["a\nb\n|c", "dd", "a\n|b"],
  ["|a\nb\nc", "2dd", "|c"],
  ["|a\nb\nc", "dj", "|c"],
  ["a\nb\n|c", "dgg", "|"],
  ["|a\nb\nc", "dG", "|"],
  ["|one two", "cwTWO", "TWO| two"],
  ["one t|wo three", "ciwX", "one X| three"],
  ["one t|wo three", "daw", "one |three"],
  ['say("he|llo", 1)', 'ci"x', 'say("x|", 1)'],
  ["f(a, (b|), c)", "di(", "f(a, (|), c)"],
  ["f(a|, (b), c)", "da(", "|f"],
  ["a\n  b|c\nd", "ccX", "a\nX|\nd"],
  ["a |b c", "Cx", "a x|"],
  ["|one two", "sX", "X|ne two"],
  ["a |x b", "f", "a |x b"],
  ["|a.b.c", "2f.", "a.b|.c"],
  ["|a.b.c", "f.;", "a.b|.c"],
  ["|a.b.c", "f.;,", "a|.b.c"],
  ["|a.b.c", "dt.", "|.b.c"],
  ["a.b.|c", "dF.", "a.b|c"],
  ["|one two", "yiwP", "on|eone two"],
  ["|one\ntwo", "yyp", "one\n|one\ntwo"],
  ["one\n|two", "yyP", "one\n|two\ntwo"],
  ["|ab", "xp", "b|a"],
  ["|one\ntwo", "ddp", "two\n|one"],
  ["|abc", "rX", "|Xbc"],
  ["|abc", "5rX", "|abc"],
  ["|aBc", "3~", "Ab|C"],
  ["|one\n   two", "J", "one| two"],
  ["o|ne", "AX", "oneX|"],
  ["  o|ne", "IX", "  X|one"],
  ["o|ne", "aX", "onX|e"],
  ["o|ne", "iX", "oX|ne"],
  ["|one\ntwo", "oX", "one\nX|\ntwo"],
  ["one\n|two", "OX", "one\nX|\ntwo"],
  ["|one two", "dwu", "|one two"],
  ["|one two three", "2w", "one two |three"],
  ["|one\n\ntwo", "w", "one\n|\ntwo"],
  ["one two| three", "b", "one |two three"],
  ["|one two", "e", "on|e two"],
  ["  one|", "^", "  |one"],
  ["a👨‍👩‍👧|b", "hx", "a|b"],
  ["|e\u0301a", "x", "|a"],
  ["|one", "\u001b", "|one"],
];

describe("the keys of vi", () => {
  for (const [text, commands, result] of CASES) {
    it(`${JSON.stringify(text)} ${commands}`, () => expect(after(text, commands)).toBe(result));
  }

  verifies(["U2"], "begin with typing, take Esc only where they need it, and send with Enter in both modes", () => {
    const { composer, sent, press } = open();
    expect([composer.vimMode, composer.takesEscape]).toEqual(["insert", false]);
    press("hello");
    expect(composer.takesEscape).toBe(true);
    expect(composer.onKey(key(ESC))).toBe(true);
    expect([composer.vimMode, composer.takesEscape]).toEqual(["normal", false]);
    expect(composer.onKey(key(ESC))).toBe(false);
    press("d");
    expect(composer.takesEscape).toBe(true);
    composer.onKey(key(ESC));
    press("x");
    expect(composer.text).toBe("hell");
    press("\r");
    expect(sent).toEqual(["hell"]);
    expect([composer.vimMode, composer.isEmpty]).toEqual(["insert", true]);
    press("jk");
    expect(composer.text).toBe("jk");
  });

  it("stay away without the setting", () => {
    const composer = new Composer({ clock: new ManualClock(), onSubmit() {}, onChange() {} });
    composer.setText("one");
    expect([composer.vimMode, composer.takesEscape, composer.onKey(key(ESC))]).toEqual([undefined, false, false]);
  });
});
