import { describe, expect, it } from "vitest";
import { processorMs } from "../../../../test/support/processor-time.js";
import { ManualClock } from "../../../base/clock.js";
import { InputDecoder } from "./input-decoder.js";

class Keyboard {
  readonly clock = new ManualClock();
  readonly answers: string[] = [];
  #seen: string[] = [];
  readonly decoder = new InputDecoder({
    clock: this.clock,
    onAnswer: (sequence) => this.answers.push(sequence),
    onInput: (input) => {
      if (input.kind === "key") this.#seen.push(input.id ?? `text ${input.data}`);
      if (input.kind === "paste") this.#seen.push(`paste ${JSON.stringify(input.text)}`);
    },
  });

  /** What comes out of a read at once. */
  read(text: string | Buffer): string[] {
    this.decoder.push(Buffer.from(text as string, "utf8"));
    return this.#take();
  }

  /** What comes out when nothing follows for so long. */
  wait(ms: number): string[] {
    this.clock.advance(ms);
    return this.#take();
  }

  #take(): string[] {
    const seen = this.#seen;
    this.#seen = [];
    return seen;
  }
}

function typed(text: string): string[] {
  const keyboard = new Keyboard();
  return [...keyboard.read(text), ...keyboard.wait(20_000)];
}

describe("keys", () => {
  it.each([
    ["a", ["a"]],
    ["\r", ["enter"]],
    ["\n", ["ctrl+j"]],
    ["\x03", ["ctrl+c"]],
    ["\x1b", ["escape"]],
    ["\x1b\x1b", ["escape", "escape"]],
    ["\x1b[A", ["up"]],
    ["\x1bOA", ["up"]],
    ["\x1b[1;3A", ["alt+up"]],
    ["\x1b\x1b[A", ["alt+up"]],
    ["\x1b[Z", ["shift+tab"]],
    ["\x1b\r", ["alt+enter"]],
    ["\x1b[13;2u", ["shift+enter"]],
    ["\x1b[27;2;13~", ["shift+enter"]],
    ["\x1b[27;5;99~", ["ctrl+c"]],
    ["\x1b[99;5u", ["ctrl+c"]],
    ["\x1b[1089::99;5u", ["ctrl+c"]],
    ["\x1b[27u", ["escape"]],
    ["\x1b[91;5u", ["escape"]],
    ["\x1b[27;5;109~", ["enter"]],
    ["\x1bd", ["alt+d"]],
    ["\x1b[1;5C", ["ctrl+right"]],
    ["\x1b[1;8A", ["ctrl+alt+shift+up"]],
    ["\x1b[5;5~", ["ctrl+pageUp"]],
    ["\x1b[3$", ["shift+delete"]],
    ["\x1bOd", ["ctrl+left"]],
    ["\x1b[c", ["shift+right"]],
    ["\x1b[[B", ["f2"]],
    ["\x1b[24~", ["f12"]],
    ["\x1bOP", ["f1"]],
    ["\x1bOM", ["enter"]],
    ["\x1b[57417u", ["left"]],
    ["\x1b[57400u", ["1"]],
    ["\x1b[97;69u", ["ctrl+a"]],
    ["\x1b[75;6u", ["ctrl+shift+k"]],
    ["\x1b[27;6;75~", ["ctrl+shift+k"]],
    ["\x1b[127;3u", ["alt+backspace"]],
    ["\x1b\x7f", ["alt+backspace"]],
    ["\x1bb", ["alt+left"]],
    ["\x1f", ["ctrl+-"]],
    ["\x1d", ["ctrl+]"]],
    ["\x1b\x1d", ["ctrl+alt+]"]],
    ["\x00", ["ctrl+space"]],
    ["\x1b[1;1:3A", []],
    ["\x1b[97;9u", []],
    ["\x1bp", ["alt+p"]],
    ["\x1b[", []],
    ["\x7f", ["backspace"]],
    ["é", ["text é"]],
    ["你好", ["text 你", "text 好"]],
    ["👩‍👩‍👧", ["text 👩‍👩‍👧"]],
    ["e\u0301", ["text e\u0301"]],
    ["ab\x1b[Ac", ["a", "b", "up", "c"]],
  ])("%j", (text, keys) => {
    expect(typed(text)).toEqual(keys);
  });

  it("gives a character that came as a sequence as the character", () => {
    const seen: unknown[] = [];
    const decoder = new InputDecoder({ clock: new ManualClock(), onAnswer() {}, onInput: (input) => seen.push(input) });
    decoder.push(Buffer.from("\x1b[27;2;65~\x1b[97u\x1b[32;2u"));
    expect(seen).toEqual([
      { kind: "key", id: "A", data: "A" },
      { kind: "key", id: "a", data: "a" },
      { kind: "key", id: "space", data: " " },
    ]);
  });

  it("drops keys that are let go, keys without a meaning and half sequences", () => {
    expect(typed("\x1b[97;1:3u\x1b[57358u\x1b[99;99;99z\x1b[12;")).toEqual([]);
  });

  it("takes a cut sequence and a cut character as one, whatever the cut", () => {
    for (const text of ["\x1b[1;5C", "\x1b[13;2u", "é", "👍", "宽"]) {
      const whole = typed(text);
      const bytes = Buffer.from(text);
      for (let at = 1; at < bytes.length; at++) {
        const keyboard = new Keyboard();
        const first = keyboard.read(bytes.subarray(0, at));
        expect([...first, ...keyboard.wait(15), ...keyboard.read(bytes.subarray(at))]).toEqual(whole);
      }
    }
  });

  it("waits longer for the rest of a sequence over a network", () => {
    const clock = new ManualClock();
    const seen: unknown[] = [];
    const decoder = new InputDecoder({ clock, isRemote: true, onAnswer() {}, onInput: (input) => seen.push(input) });
    decoder.push(Buffer.from("\x1b"));
    clock.advance(90);
    decoder.push(Buffer.from("[A"));
    expect(seen).toEqual([{ kind: "key", id: "up", data: "\x1b[A" }]);
    decoder.push(Buffer.from("\x1b"));
    clock.advance(100);
    expect(seen).toHaveLength(2);
  });

  it("waits for nothing when nothing is cut", () => {
    const keyboard = new Keyboard();
    keyboard.read("abc\x1b[A");
    expect(keyboard.clock.pending).toBe(0);
    keyboard.read("\x1b");
    expect(keyboard.wait(30)).toEqual(["escape"]);
    expect(keyboard.clock.pending).toBe(0);
  });
});

describe("a paste", () => {
  it("is one block, with plain line breaks, between typed keys", () => {
    expect(typed("a\x1b[200~one\r\ntwo\rthree\n\x1b[201~b")).toEqual(["a", 'paste "one\\ntwo\\nthree\\n"', "b"]);
  });

  it("may be cut anywhere, also inside its marks", () => {
    const bytes = Buffer.from("x\x1b[200~löne\r👍\x1b[201~y");
    for (let at = 1; at < bytes.length; at++) {
      const keyboard = new Keyboard();
      const seen = [...keyboard.read(bytes.subarray(0, at)), ...keyboard.wait(at === 2 ? 5 : 500)];
      seen.push(...keyboard.read(bytes.subarray(at)));
      // A lone Escape is only half a mark for a moment, and \x1b[ a little longer.
      if (at === 3) continue;
      expect(seen, String(at)).toEqual(["x", 'paste "löne\\n👍"', "y"]);
    }
    const keyboard = new Keyboard();
    const all = [...bytes].flatMap((byte) => keyboard.read(Buffer.from([byte])));
    expect(all).toEqual(["x", 'paste "löne\\n👍"', "y"]);
  });

  it("of a megabyte in small reads takes no longer than it must", () => {
    const keyboard = new Keyboard();
    const line = `${"a line of a file ".repeat(6)}\r`;
    const text = line.repeat(Math.ceil(1_000_000 / line.length));
    const bytes = Buffer.from(`\x1b[200~${text}\x1b[201~`);
    const seen: string[] = [];
    const took = processorMs(() => {
      for (let at = 0; at < bytes.length; at += 1024) seen.push(...keyboard.read(bytes.subarray(at, at + 1024)));
    });
    expect(took).toBeLessThan(3000);
    expect(seen).toEqual([`paste ${JSON.stringify(text.replaceAll("\r", "\n"))}`]);
  });

  it("that never ends is given up after a while, and the keyboard works again", () => {
    const keyboard = new Keyboard();
    expect(keyboard.read("\x1b[200~half")).toEqual([]);
    expect(keyboard.wait(10_000)).toEqual(['paste "half"']);
    expect(keyboard.read("\x1b[201~a")).toEqual(["a"]);
  });
});

describe("a terminal without bracketed paste", () => {
  it("pastes lines as one block, never as Enters", () => {
    const keyboard = new Keyboard();
    expect(keyboard.read("one\rtwo\rthree\r")).toEqual([]);
    expect(keyboard.wait(20)).toEqual(['paste "one\\ntwo\\nthree\\n"']);
    expect(typed("a\nb")).toEqual(['paste "a\\nb"']);
    expect(typed("\x1b[31mred\x1b[0m\rblue\r")).toEqual(['paste "red\\nblue\\n"']);
  });

  it("pastes many reads as one block, and a megabyte without a line break, too", () => {
    const keyboard = new Keyboard();
    const bytes = Buffer.from(`${"x".repeat(4000)}\r`.repeat(250));
    for (let at = 0; at < bytes.length; at += 4096) {
      expect(keyboard.read(bytes.subarray(at, at + 4096))).toEqual([]);
      expect(keyboard.wait(150)).toEqual([]);
    }
    expect(keyboard.wait(200)[0]?.length).toBe(`paste "${"x".repeat(4000)}\\n"`.length + 249 * 4002);
    expect(typed("y".repeat(1000))).toEqual([`paste "${"y".repeat(1000)}"`]);
  });

  it("takes a line that ends a read for text and Enter, unless more follows at once", () => {
    expect(typed("ls\r")).toEqual(["l", "s", "enter"]);
    expect(typed(`${"long ".repeat(20)}\r`)).toEqual([`paste "${"long ".repeat(20)}"`, "enter"]);
    const keyboard = new Keyboard();
    expect(keyboard.read("one\r")).toEqual(["o", "n", "e"]);
    expect(keyboard.wait(5)).toEqual([]);
    expect([...keyboard.read("two\r"), ...keyboard.wait(20)]).toEqual(['paste "\\ntwo\\n"']);
    expect(keyboard.read("\r")).toEqual(["enter"]);
    expect(keyboard.read("\r\r")).toEqual(["enter", "enter"]);
  });
});

describe("answers of the terminal", () => {
  const ANSWERS = [
    "\x1b[?62;22c",
    "\x1b[>41;370;0c",
    "\x1b[?5u",
    "\x1b[24;80R",
    "\x1b[?2026;2$y",
    "\x1b[8;24;80t",
    "\x1b[I",
    "\x1b[O",
    "\x1b[<0;12;5M",
    "\x1b[M !!",
    "\x1b[0n",
    "\x1b]11;rgb:ffff/ffff/dddd\x07",
    "\x1b]11;rgb:0000/0000/0000\x1b\\",
    "\x1bP>|XTerm(370)\x1b\\",
    "\x1b_Gi=1;OK\x1b\\",
  ];

  it.each(ANSWERS)("%j is not a key, even if it is cut or between keys", (answer) => {
    for (let at = 1; at <= answer.length; at++) {
      const keyboard = new Keyboard();
      const seen = [...keyboard.read(`a${answer.slice(0, at)}`), ...keyboard.wait(10)];
      seen.push(...keyboard.read(`${answer.slice(at)}b`), ...keyboard.wait(5000));
      expect(seen, String(at)).toEqual(["a", "b"]);
      expect(keyboard.answers).toEqual([answer]);
    }
  });

  it("that lost their ends are dropped, and Alt with the same letters still works", () => {
    expect(typed("\x1b]11;rgb:00")).toEqual([]);
    expect(typed("\x1b[?62;")).toEqual([]);
    const keyboard = new Keyboard();
    expect(keyboard.read("\x1b]11;rgb:00")).toEqual([]);
    keyboard.wait(2000);
    expect(keyboard.read("x")).toEqual(["x"]);
  });
});
