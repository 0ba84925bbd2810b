/**
 * Decodes the input of a terminal in raw mode: a printable character is itself, other keys have names (`left`, `pagedown`, `enter`,
 * `escape`, `ctrl-c` …). Unknown sequences are dropped as a whole, so that they are not read as letters.
 */
const NAMED: Readonly<Record<string, string>> = {
  "\r": "enter",
  "\n": "enter",
  "\x7f": "backspace",
  "\b": "backspace",
  "\x03": "ctrl-c",
  "\x04": "ctrl-d",
  "\x0c": "ctrl-l",
  "\x15": "ctrl-u",
};

const FINALS: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
};

const TILDES: Readonly<Record<string, string>> = {
  1: "home",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
};

/** `ESC [ parameters final`, `ESC O final`, or Alt with a key. */
const SEQUENCE = /^\x1b(?:\[([0-?]*)[ -/]*([@-~])|O([ -~])|([^\x1b[O]))/u;
const BEGUN = /^\x1b(?:\[[0-?]*[ -/]*|O)?$/;
/** No terminal sends longer ones; waiting for more would swallow later keys. */
const MAX_SEQUENCE = 32;

export class KeyDecoder {
  #held = "";

  push(chunk: string): string[] {
    const keys: string[] = [];
    let rest = this.#held + chunk;
    this.#held = "";
    while (rest !== "") {
      if (BEGUN.test(rest) && rest.length < MAX_SEQUENCE) {
        this.#held = rest;
        break;
      }
      const { key, length } = first(rest);
      if (key !== undefined) keys.push(key);
      rest = rest.slice(length);
    }
    return keys;
  }

  /** The input may be the beginning of a sequence, or the key Esc. */
  get isWaiting(): boolean {
    return this.#held !== "";
  }

  /** Nothing followed, so the key was Esc. */
  flush(): string[] {
    const held = this.#held;
    this.#held = "";
    return held === "" ? [] : ["escape"];
  }
}

function first(text: string): { key: string | undefined; length: number } {
  const char = String.fromCodePoint(text.codePointAt(0) ?? 0);
  if (char !== "\x1b") {
    const isPrintable = char >= " " && char !== "\x7f" && !(char >= "\x80" && char < "\xa0");
    return { key: NAMED[char] ?? (isPrintable ? char : undefined), length: char.length };
  }
  const sequence = SEQUENCE.exec(text);
  if (sequence === null) return { key: "escape", length: 1 };
  const [whole, parameters = "", final, keypad] = sequence;
  const key = final === "~" ? TILDES[parameters.split(";")[0] ?? ""] : FINALS[final ?? keypad ?? ""];
  return { key, length: whole.length };
}
