import { describe, expect, it } from "vitest";
import { processorMs } from "../../../../test/support/processor-time.js";
import { verifies } from "../../../../test/verifies.js";
import { ManualClock } from "../../../base/clock.js";
import { Composer, type Submission } from "./composer.js";
import { BYTES, key, keys, plainTheme } from "./keys.testkit.js";

const CTRL_S = "\x13";

interface Harness {
  readonly composer: Composer;
  readonly sent: Submission[];
  press(...data: readonly string[]): void;
  type(text: string): void;
  rows(width?: number, maxRows?: number): readonly string[];
}

function open(): Harness {
  const sent: Submission[] = [];
  const composer = new Composer({
    clock: new ManualClock(),
    onSubmit: (submission) => sent.push(submission),
    onChange() {},
  });
  return {
    composer,
    sent,
    press: (...data) => {
      for (const each of data) composer.onKey(key(each));
    },
    type: (text) => {
      for (const each of keys(text)) composer.onKey(each);
    },
    rows: (width = 40, maxRows = 10) => composer.view(width, maxRows, plainTheme).lines,
  };
}

/** Time of the processor: other programs use the machine too. */
const numbered = (count: number) => Array.from({ length: count }, (_, line) => `line ${line + 1}`).join("\n");

describe("typing and sending", () => {
  it("sends the typed text, and is empty then", () => {
    const { composer, sent, press, type } = open();
    type("hello wörld");
    press(BYTES.enter);
    expect(sent).toEqual([{ text: "hello wörld", images: [], sent: { kind: "prompt", text: "hello wörld" } }]);
    expect(composer.isEmpty).toBe(true);
  });

  it("sends nothing that is only space", () => {
    const { sent, press, type } = open();
    type("  ");
    press(BYTES.ctrlJ, BYTES.enter);
    expect(sent).toEqual([]);
  });

  verifies(["U2"], "shift-enter, alt-enter, ctrl-j and backslash-enter make a newline", () => {
    for (const newline of [BYTES.shiftEnter, BYTES.altEnter, BYTES.ctrlJ, "\x1b[27;2;13~", "\x1b[106;5u"]) {
      const { composer, sent, press, type } = open();
      type("a");
      press(newline);
      type("b");
      expect(composer.text, JSON.stringify(newline)).toBe("a\nb");
      expect(sent).toEqual([]);
    }
    const { composer, press, type } = open();
    type("a\\");
    press(BYTES.enter);
    type("b");
    expect(composer.text).toBe("a\nb");
  });

  it("keeps the indent of the first line and drops blank lines around", () => {
    const { composer, sent, press } = open();
    composer.onPaste("\n\n    indented\n  less\n\n");
    press(BYTES.enter);
    expect(sent[0]?.text).toBe("    indented\n  less");
  });

  it("leaves the keys that it has no meaning for", () => {
    const { composer } = open();
    for (const data of ["\x03", "\x1b", "\x04", "\x1a", "\x0f", "\x1b[Z", "\x1b[1;3A"]) {
      expect(composer.onKey(key(data)), JSON.stringify(data)).toBe(false);
    }
  });

  it("types what the kitty protocol reports", () => {
    const { composer, press } = open();
    press("\x1b[97;1u", "\x1b[97:65;2u", "\x1b[228u");
    expect(composer.text).toBe("aAä");
  });
});

describe("pasting", () => {
  verifies(["U2"], "200 pasted lines are one block, one prompt and one step of undo", () => {
    const { composer, sent, press, type, rows } = open();
    type("see: ");
    composer.onPaste(numbered(200).replaceAll("\n", "\r"));
    expect(rows()).toEqual(["> see: [pasted 200 lines]"]);
    press(BYTES.undo);
    expect(rows()).toEqual(["> see:"]);
    composer.onPaste(numbered(200));
    type(" ok");
    press(BYTES.enter);
    expect(sent.map((each) => each.text)).toEqual([`see: ${numbered(200)} ok`]);
  });

  it("shows a short paste as it is, with its tabs", () => {
    const { composer, rows } = open();
    composer.onPaste("all:\n\tcc x.c");
    expect(rows()).toEqual(["> all:", "      cc x.c"]);
    expect(composer.text).toBe("all:\n\tcc x.c");
  });

  it("shows a block by the same paste again, and by tab beside it", () => {
    const again = open();
    again.composer.onPaste(numbered(30));
    again.composer.onPaste(numbered(30));
    expect(again.rows(40, 5)[0]).toBe("  line 27");
    expect(again.composer.text).toBe(numbered(30));
    const tab = open();
    tab.composer.onPaste(numbered(12));
    tab.press(BYTES.left, BYTES.tab);
    expect(tab.rows(40, 20)).toHaveLength(12);
    tab.press(BYTES.undo);
    expect(tab.rows()).toEqual(["> [pasted 12 lines]"]);
  });

  it("deletes, kills and yanks a block as one character", () => {
    const { composer, press, type, rows } = open();
    composer.onPaste(numbered(200));
    type("x");
    press(BYTES.backspace, BYTES.backspace);
    expect(composer.isEmpty).toBe(true);
    press(BYTES.undo, BYTES.killLineStart, BYTES.yank, BYTES.yank);
    expect(rows(80)).toEqual(["> [pasted 200 lines][pasted 200 lines]"]);
    expect(composer.text).toBe(numbered(200).repeat(2));
  });

  it("yanks a block that was killed in a draft before", () => {
    const { composer, press, type } = open();
    composer.onPaste(numbered(20));
    press(BYTES.killLineStart);
    type("other");
    press(BYTES.enter, BYTES.yank);
    expect(composer.text).toBe(numbered(20));
  });

  it("runs nothing that is in a block", () => {
    for (const first of ["!rm -rf x", "!!ls", "/exit"]) {
      const { composer, sent, press } = open();
      composer.onPaste(`${first}\n${numbered(20)}`);
      press(BYTES.enter);
      expect(sent[0]?.sent.kind).toBe("prompt");
    }
  });

  it("keeps terminal sequences out, and the text that they coloured", () => {
    const { composer } = open();
    composer.onPaste("\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07 a\x00b\x9bc\ud800d");
    expect(composer.text).toBe("red link abc\ufffdd");
  });

  it("takes 1 MB at once", () => {
    const { composer, sent, press } = open();
    const text = "some words of a long file\n".repeat(40_000);
    const took = processorMs(() => {
      composer.onPaste(text);
      composer.view(80, 10, plainTheme);
    });
    expect(took).toBeLessThan(2000);
    expect(composer.view(80, 10, plainTheme).lines).toEqual(["> [pasted 40000 lines]"]);
    press(BYTES.enter);
    expect(sent[0]?.text).toBe(text.trimEnd());
  });
});

describe("the view", () => {
  it("puts the cursor where the caret is, behind wide and combining characters", () => {
    const { composer, press, type } = open();
    type("日本e\u0301👩‍👩‍👧x");
    const column = () => composer.view(40, 5, plainTheme).cursor.column;
    expect(column()).toBe(2 + 4 + 1 + 2 + 1);
    const seen = [];
    for (let step = 0; step < 5; step++) {
      press(BYTES.left);
      seen.push(column() - 2);
    }
    expect(seen).toEqual([7, 5, 4, 2, 0]);
    press(BYTES.end, BYTES.backspace, BYTES.backspace, BYTES.backspace);
    expect(composer.text).toBe("日本");
  });

  it("breaks at words and is never wider than it may", () => {
    const { composer, type, rows } = open();
    type("the quick brown fox jumps over the lazy dog and 日本語日本語日本語日本語");
    composer.onPaste(numbered(1000));
    for (const width of [4, 7, 20, 40, 80]) {
      for (const line of rows(width, 50)) expect(line.length, `${width}: ${line}`).toBeLessThanOrEqual(width);
    }
    expect(rows(20, 50).slice(0, 3)).toEqual(["> the quick brown", "  fox jumps over", "  the lazy dog and"]);
  });

  it("scrolls with the caret and says where it is", () => {
    const { composer, press, rows } = open();
    composer.setText(numbered(50));
    expect(rows(40, 4)).toEqual(["  line 48", "  line 49", "  line 50", "  rows 48 to 50 of 50"]);
    press(BYTES.up, BYTES.up, BYTES.up);
    expect(rows(40, 4)[0]).toBe("  line 47");
    expect(composer.view(40, 4, plainTheme).cursor).toEqual({ row: 0, column: 9 });
    press("\x1b[1;5H");
    expect(rows(40, 4)[0]).toBe("> line 1");
  });

  it("moves up and down by what is seen, also over wide characters and wrapped rows", () => {
    const { composer, press } = open();
    composer.setText("abcdef\n日本語\nxy\nabcdef");
    composer.view(40, 9, plainTheme);
    press(BYTES.up, BYTES.up);
    expect(composer.view(40, 9, plainTheme).cursor).toEqual({ row: 1, column: 8 });
    press(BYTES.left, BYTES.up);
    expect(composer.view(40, 9, plainTheme).cursor).toEqual({ row: 0, column: 6 });
    composer.setText("aaaa bbbb cccc");
    composer.view(9, 9, plainTheme);
    press(BYTES.up);
    expect(composer.view(9, 9, plainTheme).cursor).toEqual({ row: 1, column: 6 });
  });
});

describe("a long draft", () => {
  it("takes 250 keys with little work", () => {
    const { composer, press } = open();
    composer.setText(
      Array.from({ length: 2000 }, (_, line) => `${line} the quick brown 狐 jumps over ${"x".repeat(line % 120)}`).join(
        "\n",
      ),
    );
    composer.view(80, 12, plainTheme);
    press(...Array.from({ length: 100 }, () => BYTES.up));
    const keys = [
      ..."words in the middle",
      BYTES.up,
      BYTES.ctrlJ,
      BYTES.backspace,
      BYTES.killWord,
      BYTES.undo,
      BYTES.down,
    ];
    const took = processorMs(() => {
      for (const each of Array.from({ length: 10 }, () => keys).flat()) {
        composer.onKey(key(each));
        composer.view(80, 12, plainTheme);
      }
    });
    expect(took).toBeLessThan(2_000);
  });
});

describe("a draft", () => {
  it("keeps its blocks when text is put above it, or when it is emptied and brought back", () => {
    const { composer, press, type, rows } = open();
    type("more ");
    composer.onPaste(numbered(40));
    composer.prepend("a queued prompt");
    expect(rows()).toEqual(["> a queued prompt", "  more [pasted 40 lines]"]);
    type("!");
    expect(composer.text).toBe(`a queued prompt\nmore ${numbered(40)}!`);
    composer.setText("");
    expect(composer.isEmpty).toBe(true);
    press(BYTES.undo);
    expect(rows()).toEqual(["> a queued prompt", "  more [pasted 40 lines]!"]);
    composer.setText("");
    composer.prepend("alone");
    expect(composer.text).toBe("alone");
  });

  verifies(["U2"], "is put aside, survives a crash there, and comes back after the next one", () => {
    const { composer, sent, press, type } = open();
    press(CTRL_S);
    expect(composer.isEmpty).toBe(true);
    type("long work");
    composer.onPaste("pasted\n".repeat(20));
    press(CTRL_S);
    expect(composer.isEmpty).toBe(true);
    expect(JSON.stringify(composer.draft)).toContain("long work");
    type("quick question");
    expect(JSON.stringify(composer.draft)).toMatch(/quick question.*long work.*pasted/);
    press(BYTES.enter);
    expect(sent.map(({ text }) => text)).toEqual(["quick question"]);
    expect(composer.text).toContain("long work");
    press(BYTES.enter);
    expect(sent[1]?.text).toMatch(/^long work[\s\S]*pasted$/);
    expect(composer.isEmpty).toBe(true);
  });

  it("is restored with its blocks", () => {
    const first = open();
    first.type("look: ");
    first.composer.onPaste(numbered(40));
    const stored = JSON.parse(JSON.stringify(first.composer.draft));
    const second = open();
    second.composer.restore(stored);
    expect(second.rows()).toEqual(["> look: [pasted 40 lines]"]);
    expect(second.composer.text).toBe(first.composer.text);
  });
});
