/**
 * Names keys: `enter`, `shift+tab`, `ctrl+c`, `alt+up`, `a`. Modifiers come in the order ctrl, alt, shift.
 *
 * Terminals send a key in one of four ways: as a character or a control character, after an Escape, as an old sequence with a number
 * or a letter, or as a sequence with the code of its character (the kitty protocol, and xterm's `modifyOtherKeys`).
 */
import type { Key } from "./terminal.js";

const SHIFT = 1;
const ALT = 2;
const CTRL = 4;
/** Caps Lock and Num Lock. */
const LOCKS = 64 + 128;

const BY_LETTER: Readonly<Record<string, string>> = {
  ...{ A: "up", B: "down", C: "right", D: "left", H: "home", F: "end", E: "clear", Z: "tab", M: "enter" },
  ...{ P: "f1", Q: "f2", R: "f3", S: "f4" },
};
const BY_NUMBER: readonly (string | undefined)[] = [
  ...[undefined, "home", "insert", "delete", "end", "pageUp", "pageDown", "home", "end", undefined, undefined],
  ...["f1", "f2", "f3", "f4", "f5", undefined, "f6", "f7", "f8", "f9", "f10", undefined, "f11", "f12"],
];
const BY_CODE: Readonly<Record<number, string>> = {
  ...{ 8: "backspace", 9: "tab", 13: "enter", 27: "escape", 32: "space", 127: "backspace", 57414: "enter" },
  // The number pad.
  ...{ 57417: "left", 57418: "right", 57419: "up", 57420: "down", 57421: "pageUp", 57422: "pageDown" },
  ...{ 57423: "home", 57424: "end", 57425: "insert", 57426: "delete" },
};
/** The characters of the number pad, from code 57399. */
const PAD = "0123456789./*-+";
const PAD_START = 57399;
/** Keys without a character: Caps Lock, media keys. */
const FUNCTIONAL = /^[\ue000-\uf8ff]$/;

/** Keys that people press for another key, and that only newer protocols distinguish. */
const SAME_KEYS: Readonly<Record<string, Key>> = {
  "ctrl+[": { id: "escape", data: "\x1b" },
  "ctrl+m": { id: "enter", data: "\r" },
  "ctrl+i": { id: "tab", data: "\t" },
};

/** Undefined for a key release and for an unknown sequence. */
export function nameKey(data: string): Key | undefined {
  if (!data.startsWith("\x1b")) return { id: characterName(data), data };
  const coded = codedKey(data);
  if (coded !== undefined) return coded.released ? undefined : keyOfCode(coded, data);
  const id = data === "\x1b" ? "escape" : (sequenceName(data) ?? afterEscape(data.slice(1)));
  return id === undefined ? undefined : { id, data };
}

function characterName(data: string): string | undefined {
  if (data.length !== 1) return undefined;
  const code = data.charCodeAt(0);
  // Enter sends a carriage return. A line feed is Ctrl-J.
  if (code !== 10 && BY_CODE[code] !== undefined) return BY_CODE[code];
  if (code === 0) return "ctrl+space";
  // Ctrl-_ and Ctrl-/ come as the same byte.
  if (code < 32) return `ctrl+${code === 31 ? "-" : String.fromCharCode(code + (code <= 26 ? 96 : 64))}`;
  return code < 127 ? data : undefined;
}

interface Coded {
  readonly code: number;
  readonly shifted: number | undefined;
  /** The key in the usual layout, for keyboards with other letters. */
  readonly base: number | undefined;
  readonly modifiers: number;
  readonly released: boolean;
}

const KITTY = /^\x1b\[(\d+)(?::(\d*))?(?::(\d+))?(?:;(\d+)?(?::(\d))?)?(?:;[\d:]*)?u$/;
const OTHER_KEYS = /^\x1b\[27;(\d+);(\d+)~$/;

function codedKey(data: string): Coded | undefined {
  const kitty = KITTY.exec(data);
  if (kitty !== null) {
    const [, code, shifted, base, modifiers, event] = kitty;
    return {
      code: Number(code),
      shifted: shifted === undefined || shifted === "" ? undefined : Number(shifted),
      base: base === undefined ? undefined : Number(base),
      modifiers: modifiersOf(modifiers),
      released: event === "3",
    };
  }
  const other = OTHER_KEYS.exec(data);
  if (other === null) return undefined;
  return {
    code: Number(other[2]),
    shifted: undefined,
    base: undefined,
    modifiers: modifiersOf(other[1]),
    released: false,
  };
}

function modifiersOf(sent: string | undefined): number {
  return (Number(sent ?? 1) - 1) & ~LOCKS;
}

function keyOfCode({ code, shifted, base, modifiers }: Coded, data: string): Key | undefined {
  if (code > 0x10ffff) return undefined;
  const pad = PAD[code - PAD_START];
  const character = pad ?? String.fromCodePoint(code);
  const named = BY_CODE[code];
  // A character that came as a sequence becomes the character, so that readers need only one form.
  if ((modifiers & ~SHIFT) === 0 && (named === undefined || named === "space")) {
    const typed = shifted !== undefined && (modifiers & SHIFT) !== 0 ? String.fromCodePoint(shifted) : character;
    return FUNCTIONAL.test(typed) ? undefined : { id: named ?? characterName(typed), data: typed };
  }
  const usual = base === undefined ? character : String.fromCodePoint(base);
  const name = named ?? (/^[!-~]$/.test(character) ? character : usual).toLowerCase();
  const id = named === undefined && !/^[!-~]$/.test(name) ? undefined : withModifiers(name, modifiers);
  return id === undefined ? undefined : (SAME_KEYS[id] ?? { id, data });
}

const BY_OLD_LETTER = /^\x1b(?:\[|O)(?:(?:1;)?(\d+)(?::(\d))?)?([A-Z])$/;
const BY_OLD_NUMBER = /^\x1b\[{1,2}(\d+)(?:;(\d+)(?::(\d))?)?([~$^@])$/;
/** Of rxvt: small letters for Shift, and after an O for Ctrl. */
const RXVT_ARROW = /^\x1b([[O])([a-e])$/;
/** Of the Linux console. */
const CONSOLE_KEY = /^\x1b\[\[([A-E])$/;
const ALT_ARROW = /^\x1b\x1b(?:\[|O)([A-DFH])$/;
const MARKS: Readonly<Record<string, number>> = { $: SHIFT, "^": CTRL, "@": CTRL | SHIFT };

function sequenceName(data: string): string | undefined {
  const letter = BY_OLD_LETTER.exec(data);
  if (letter !== null) {
    const [, modifiers, event, final = ""] = letter;
    const shift = final === "Z" ? SHIFT : 0;
    return event === "3" ? undefined : withModifiers(BY_LETTER[final], modifiersOf(modifiers) | shift);
  }
  const number = BY_OLD_NUMBER.exec(data);
  if (number !== null) {
    const [, index, modifiers, event, final = ""] = number;
    return event === "3"
      ? undefined
      : withModifiers(BY_NUMBER[Number(index)], modifiersOf(modifiers) | (MARKS[final] ?? 0));
  }
  const arrow = RXVT_ARROW.exec(data);
  if (arrow !== null)
    return withModifiers(BY_LETTER[(arrow[2] as string).toUpperCase()], arrow[1] === "[" ? SHIFT : CTRL);
  const console = CONSOLE_KEY.exec(data);
  if (console !== null) return `f${(console[1] as string).charCodeAt(0) - 64}`;
  return withModifiers(BY_LETTER[ALT_ARROW.exec(data)?.[1] ?? ""], ALT);
}

/** Alt with a character. The arrow keys of macOS with Alt come as Alt-B and Alt-F. */
function afterEscape(rest: string): string | undefined {
  if (rest === "b" || rest === "B") return "alt+left";
  if (rest === "f" || rest === "F") return "alt+right";
  const name = characterName(rest);
  if (name === undefined || /^[^a-z\d]$/.test(name)) return undefined;
  return name.startsWith("ctrl+") ? `ctrl+alt+${name.slice(5)}` : `alt+${name}`;
}

/** Undefined for modifiers that no key of Oxbow uses. */
function withModifiers(name: string | undefined, modifiers: number): string | undefined {
  if (name === undefined || (modifiers & ~(SHIFT | ALT | CTRL)) !== 0) return undefined;
  const ctrl = (modifiers & CTRL) === 0 ? "" : "ctrl+";
  const alt = (modifiers & ALT) === 0 ? "" : "alt+";
  return ctrl + alt + ((modifiers & SHIFT) === 0 ? "" : "shift+") + name;
}
