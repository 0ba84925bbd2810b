import { describe, expect, it } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { readBindings, USUAL_KEYS } from "./bindings.js";
import { keyName } from "./key-names.js";

const key = (id: string, data = "") => ({ id, data });

describe("the keys of a person", () => {
  verifies(["U2"], "do what the table says, and the usual ones of those actions nothing", () => {
    const { bindings, problems } = readBindings({ model: "Ctrl-K", send: ["C-s"], newline: ["enter", "shift+enter"] });
    expect(problems).toEqual([]);
    expect(bindings.translate(key("ctrl+k"))).toMatchObject({ id: "alt+p" });
    expect(bindings.translate(key("f2"))).toBeUndefined();
    expect(bindings.translate(key("alt+p"))).toBeUndefined();
    expect(bindings.translate(key("ctrl+s"))).toMatchObject({ id: "enter" });
    expect(bindings.translate(key("enter", "\r"))).toMatchObject({ id: "ctrl+j", data: "\n" });
    expect(bindings.translate(key("ctrl+o"))).toMatchObject({ id: "ctrl+o" });
    expect(bindings.translate({ id: undefined, data: "ä" })).toMatchObject({ data: "ä" });
    expect(bindings.keysOf("model")).toEqual(["ctrl+k"]);
    expect(bindings.keysOf("transcript")).toEqual(["ctrl+o", "ctrl+t"]);
  });

  it("take a key from another action, which keeps its other keys", () => {
    const { bindings } = readBindings({ sidebar: "alt+p", help: "f1" });
    expect(bindings.keysOf("model")).toEqual(["f2"]);
    expect(bindings.translate(key("alt+p"))).toMatchObject({ id: "alt+s" });
    // The question mark is a character again.
    expect(bindings.translate(key("?", "?"))).toEqual({ id: undefined, data: "?" });
    expect(USUAL_KEYS.translate(key("?", "?"))).toEqual(key("?", "?"));
  });

  it("may be none, and never the way out or a character", () => {
    expect(readBindings({ suspend: [] }).bindings.translate(key("ctrl+z"))).toBeUndefined();
    const { problems } = readBindings({ model: "esc", send: "x", mode: 3, nothing: "f2", editor: "f3", history: "f3" });
    expect(problems).toEqual([
      "keys.model: escape cannot get another meaning.",
      'keys.send: "x" alone is a character that you type.',
      'keys.mode: expected a key such as "ctrl+k", "alt+m" or "f2", got 3.',
      expect.stringContaining('there is no action "nothing"'),
      "keys.history: f3 is the key of editor already.",
    ]);
    expect(readBindings("x").problems).toEqual(["keys: expected a table such as [keys]."]);
  });

  it("have one name each", () => {
    for (const spelled of ["Ctrl-Shift-K", "ctrl+shift+k", "C-S-k", "shift+ctrl+K"])
      expect(keyName(spelled)).toBe("ctrl+shift+k");
    expect(keyName("ctrl+-")).toBe("ctrl+-");
    expect(keyName("M-PgUp")).toBe("alt+pageUp");
    for (const wrong of ["", "hyper+k", "ctrl+", "kk"]) expect(keyName(wrong), wrong).toBeUndefined();
  });
});
