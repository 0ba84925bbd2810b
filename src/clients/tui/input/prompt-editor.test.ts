import { describe, expect, it } from "vitest";
import { DraftLayout } from "./draft-layout.js";
import { PromptEditor } from "./prompt-editor.js";

/** A text whose caret is at the bar. */
function open(marked: string): PromptEditor {
  const editor = new PromptEditor(new DraftLayout(() => undefined), () => {});
  const before = marked.slice(0, marked.indexOf("|"));
  editor.setText(marked.replace("|", ""));
  editor.caret = { line: before.split("\n").length - 1, column: before.length - before.lastIndexOf("\n") - 1 };
  return editor;
}

function shown(editor: PromptEditor): string {
  const { line, column } = editor.caret;
  return editor.lines
    .map((text, index) => (index === line ? `${text.slice(0, column)}|${text.slice(column)}` : text))
    .join("\n");
}

describe("editing keys", () => {
  it.each([
    ["ab|c", "left", "a|bc"],
    ["a\n|b", "left", "a|\nb"],
    ["a|\nb", "ctrl+f", "a\n|b"],
    ["|a", "left", "|a"],
    ["👩‍👩‍👧|e\u0301", "right", "👩‍👩‍👧e\u0301|"],
    ["👩‍👩‍👧|", "ctrl+b", "|👩‍👩‍👧"],
    ["one two|", "alt+left", "one |two"],
    ["one --two|", "alt+b", "one --|two"],
    ["one --|two", "alt+b", "one |--two"],
    ["|  one two", "ctrl+right", "  one| two"],
    ["one|\n two", "alt+f", "one\n| two"],
    ["a\nb|c", "home", "a\n|bc"],
    ["a|b\nc", "ctrl+e", "ab|\nc"],
    ["ab|", "backspace", "a|"],
    ["a\n|b", "shift+backspace", "a|b"],
    ["|", "backspace", "|"],
    ["日|本", "delete", "日|"],
    ["a|\nb", "ctrl+d", "a|b"],
    ["git commit -m|", "ctrl+w", "git commit -|"],
    ["git commit |", "alt+backspace", "git |"],
    ["git| commit", "alt+d", "git|"],
    ["one\nt|wo", "ctrl+u", "one\n|wo"],
    ["one\n|two", "ctrl+u", "one|two"],
    ["on|e\ntwo", "ctrl+k", "on|\ntwo"],
    ["one|\ntwo", "ctrl+k", "one|two"],
  ])("%j %s", (before, key, after) => {
    const editor = open(before);
    expect(editor.press(key)).toBe(true);
    expect(shown(editor)).toBe(after);
    const isChange = editor.text !== before.replace("|", "");
    if (isChange) editor.press("ctrl+-");
    expect(shown(editor)).toBe(isChange ? before : after);
  });

  it("insert what several deletions removed, and then older texts", () => {
    const editor = open("one two three|");
    for (const key of ["ctrl+w", "ctrl+w"]) editor.press(key);
    editor.caret = { line: 0, column: 0 };
    editor.press("alt+d");
    for (const key of ["ctrl+y", "ctrl+y"]) editor.press(key);
    expect(shown(editor)).toBe("oneone| ");
    editor.press("alt+y");
    expect(shown(editor)).toBe("onetwo three| ");
    editor.press("alt+y");
    expect(shown(editor)).toBe("oneone| ");
    editor.press("left");
    editor.press("alt+y");
    expect(shown(editor)).toBe("oneon|e ");
  });

  it("jump to a character, in either direction and over lines", () => {
    const editor = open("|a-b\nc-d");
    for (const expected of ["a|-b\nc-d", "a-b\nc|-d", "a-b\nc|-d"]) {
      editor.press("ctrl+]");
      editor.type("-");
      expect(shown(editor)).toBe(expected);
    }
    editor.press("ctrl+alt+]");
    editor.type("a");
    expect(shown(editor)).toBe("|a-b\nc-d");
    editor.type("x");
    expect(shown(editor)).toBe("x|a-b\nc-d");
  });

  it("undo a word at a time", () => {
    const editor = open("|");
    for (const letter of "one two") editor.type(letter);
    editor.undo();
    expect(shown(editor)).toBe("one|");
    editor.undo();
    expect(shown(editor)).toBe("|");
    expect(editor.press("f5")).toBe(false);
  });
});
