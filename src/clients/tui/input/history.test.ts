import { describe, expect, it } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { ManualClock } from "../../../base/clock.js";
import { Composer } from "./composer.js";
import { type HistoryStorage, InputHistory } from "./history.js";
import { BYTES, key, keys, plainTheme } from "./keys.testkit.js";

class MemoryStorage implements HistoryStorage {
  text = "";
  async read(): Promise<string> {
    return this.text;
  }
  async append(line: string): Promise<void> {
    this.text += line;
  }
  async replace(text: string): Promise<void> {
    this.text = text;
  }
}

const SECRET = "hush";
const redact = async (text: string) => text.replaceAll(SECRET, "«redacted»");

function open(storage: HistoryStorage, { folder = "/here", clock = new ManualClock() } = {}): InputHistory {
  return new InputHistory({ storage, folder, clock, redact });
}

function composerWith(history: InputHistory, clock = new ManualClock()) {
  const sent: string[] = [];
  const composer = new Composer({ clock, history, onChange() {}, onSubmit: ({ text }) => sent.push(text) });
  const press = (...data: readonly string[]) => {
    for (const each of data) composer.onKey(key(each));
  };
  const type = (text: string) => {
    for (const each of keys(text)) composer.onKey(each);
  };
  return { composer, sent, press, type };
}

describe("the history file", () => {
  it("gives this folder's inputs first, then the others, no text twice", async () => {
    const storage = new MemoryStorage();
    const there = open(storage, { folder: "/there" });
    for (const text of ["a", "b"]) there.add(text);
    await there.written();
    const here = open(storage);
    for (const text of ["b", "c", "d", "c"]) here.add(text);
    await here.written();
    const later = open(storage);
    await later.load();
    expect(later.list().map(({ text }) => text)).toEqual(["c", "d", "b", "a"]);
  });

  it("keeps secrets out of the file, and lines that it cannot read out of the list", async () => {
    const storage = new MemoryStorage();
    const history = open(storage);
    history.add(`use ${SECRET} now`);
    await history.written();
    expect(storage.text).not.toContain(SECRET);
    expect(history.list()[0]?.text).toBe(`use ${SECRET} now`);
    storage.text += `{"at":1,"fold\nnot json\n{"at":2,"folder":"/here","text":"\\u001b[2Jclean"}\n`;
    const later = open(storage);
    await later.load();
    expect(later.list().map(({ text }) => text)).toEqual(["clean", "use «redacted» now"]);
  });

  it("stays bounded", async () => {
    const storage = new MemoryStorage();
    const line = (number: number) => `${JSON.stringify({ at: number, folder: "/here", text: `t${number}` })}\n`;
    storage.text = Array.from({ length: 4000 }, (_, number) => line(number)).join("");
    const history = open(storage);
    await history.load();
    expect(history.list()).toHaveLength(2000);
    expect(storage.text.split("\n")).toHaveLength(2001);
    history.add("x".repeat(100_000));
    await history.written();
    expect(storage.text.length).toBeLessThan(200_000);
  });
});

describe("up and down", () => {
  verifies(["U2"], "browse earlier inputs, also of earlier sessions, and return to the draft", async () => {
    const storage = new MemoryStorage();
    const first = composerWith(open(storage));
    for (const text of ["one", "two"]) {
      first.type(text);
      first.press(BYTES.enter);
    }
    const history = open(storage);
    await new Promise(setImmediate);
    await history.load();
    const { composer, press, type } = composerWith(history);
    type("my draft");
    composer.onPaste("x\n".repeat(30));
    press(BYTES.up);
    expect(composer.text).toBe("two");
    press(BYTES.up, BYTES.up, BYTES.up);
    expect(composer.text).toBe("one");
    press(BYTES.down, BYTES.down);
    expect(composer.view(80, 5, plainTheme).lines).toEqual(["> my draft[pasted 30 lines]"]);
    press(BYTES.down);
    expect(composer.text).toBe(`my draft${"x\n".repeat(30)}`);
  });

  it("move inside a draft of several rows before they leave it", () => {
    const history = open(new MemoryStorage());
    history.add("old\nentry");
    history.add("recent\nentry");
    const { composer, press, type } = composerWith(history);
    type("a");
    press(BYTES.ctrlJ);
    type("b");
    composer.view(40, 5, plainTheme);
    press(BYTES.up);
    expect(composer.text).toBe("a\nb");
    press(BYTES.up);
    expect(composer.text).toBe("recent\nentry");
    press(BYTES.up);
    expect(composer.text).toBe("old\nentry");
    press(BYTES.left, BYTES.up);
    expect(composer.text).toBe("old\nentry");
  });

  it("keep a changed entry as a separate draft", () => {
    const history = open(new MemoryStorage());
    history.add("one");
    history.add("two");
    const { composer, press, type } = composerWith(history);
    press(BYTES.up);
    type("!");
    press(BYTES.up);
    expect(composer.text).toBe("two");
    press(BYTES.down);
    expect(composer.text).toBe("two!");
  });
});

describe("search", () => {
  function searching() {
    const clock = new ManualClock();
    const history = open(new MemoryStorage(), { clock });
    history.add("fix the parser");
    clock.advance(3 * 3_600_000);
    history.add("write tests\nfor the parser");
    clock.advance(120_000);
    history.add("deploy");
    return composerWith(history, clock);
  }

  it("shows what matches, with its age", () => {
    const { composer, press, type } = searching();
    press(BYTES.ctrlR);
    type("pars");
    expect(composer.view(40, 6, plainTheme)).toEqual({
      lines: ["history: pars", "> 2m   write tests (+1 lines)", "  3h   fix the parser"],
      cursor: { row: 0, column: 13 },
    });
    for (const width of [10, 20, 40]) {
      for (const line of composer.view(width, 6, plainTheme).lines) expect(line.length).toBeLessThanOrEqual(width);
    }
  });

  it("takes the chosen one into the draft and sends nothing; escape leaves the draft as it was", () => {
    const { composer, sent, press, type } = searching();
    type("draft");
    press(BYTES.ctrlR);
    type("parser");
    press(BYTES.ctrlR, BYTES.enter);
    expect(composer.text).toBe("fix the parser");
    expect(sent).toEqual([]);
    press(BYTES.undo);
    expect(composer.text).toBe("draft");
    press(BYTES.ctrlR, BYTES.down, BYTES.ctrlS, BYTES.escape);
    expect(composer.text).toBe("draft");
    press(BYTES.ctrlR);
    type("zzz");
    press(BYTES.enter);
    expect(composer.view(40, 6, plainTheme).lines).toEqual(["history: zzz", "  no earlier prompt matches"]);
  });
});
