import { describe, expect, it } from "vitest";
import { FakeProcess } from "../../../../test/support/fake-terminal-process.js";
import { openTerminal } from "./open-terminal.js";
import type { TerminalInput } from "./terminal.js";

function open(process = new FakeProcess()) {
  const terminal = openTerminal(process.io);
  const inputs: TerminalInput[] = [];
  terminal.onInput((input) => inputs.push(input));
  const bytesOf = (action: () => void) => {
    const before = process.bytes.length;
    action();
    return process.bytes.slice(before);
  };
  return { process, terminal, inputs, bytesOf };
}

const ENTERED = ["\x1b[?2004h", "\x1b[>4;2m"];
const LEFT = ["\x1b[?2004l", "\x1b[>4;0m", "\x1b[?25h", "\x1b[?7h", "\x1b[?2026l"];

describe("painting", () => {
  it("is at once, and then at most once in 8 ms, with all printed lines", async () => {
    const { process, terminal } = open();
    terminal.paint({ lines: ["0"] }, ["printed 0"]);
    expect(await process.shown()).toEqual(["printed 0", "0"]);
    const before = process.bytes.length;
    for (let index = 1; index <= 1000; index++) terminal.paint({ lines: [String(index)] }, [`printed ${index}`]);
    expect(process.bytes.length).toBe(before);
    process.clock.advance(7);
    expect(process.bytes.length).toBe(before);
    process.clock.advance(1);
    const printed = Array.from({ length: 1001 }, (_, index) => `printed ${index}`);
    expect(await process.allLines()).toEqual([...printed, "1000"]);
    expect(process.bytes).not.toContain("999\x1b");
    expect(process.clock.pending).toBe(0);
  });

  it("waits for a slow terminal, and then shows the newest frame and all printed lines", async () => {
    const { process, terminal } = open();
    process.isSlow = true;
    terminal.paint({ lines: ["0"] });
    const before = process.bytes.length;
    for (let index = 1; index <= 100; index++) {
      terminal.paint({ lines: [`frame ${index}`] }, [`printed ${index}`]);
      process.clock.advance(100);
    }
    expect(process.bytes.length).toBe(before);
    process.drain();
    expect((await process.allLines()).length).toBe(101);
    expect(process.bytes).not.toContain("frame 99");
    expect(process.clock.pending).toBe(0);
  });

  it("asks for nothing before the first frame, and for everything after it", () => {
    const { process, terminal } = open();
    expect(process.isRaw).toBe(true);
    expect(process.bytes).not.toContain("\x1b[c");
    expect(process.watched).toBeUndefined();
    terminal.paint({ lines: ["x"] });
    expect(process.bytes).toMatch(/\x1b\[\?u\x1b\]11;\?\x07\x1b\[>c\x1b\[c$/);
    expect(process.watched).toContain("\x1b[?2004l");
  });

  it("writes nothing and has no timer while nothing happens, and never switches the mouse on", () => {
    const { process, terminal, bytesOf } = open();
    terminal.paint({ lines: ["x"], cursor: { row: 0, column: 1 } });
    expect(bytesOf(() => process.clock.advance(60_000))).toBe("");
    expect(process.clock.pending).toBe(0);
    expect(process.bytes).not.toMatch(/\x1b\[\?100[0-6]h/);
  });
});

describe("a new size", () => {
  it("is reported once, and the live part is painted again, without remnants", async () => {
    const { process, terminal, inputs } = open();
    terminal.paint({ lines: ["a".repeat(60), "b".repeat(50), "end"], cursor: { row: 2, column: 3 } }, ["above"]);
    await process.shown();
    for (const columns of [50, 40, 31, 30]) process.resize(columns, 12);
    terminal.paint({ lines: ["a".repeat(60), "b".repeat(50), "end"], cursor: { row: 2, column: 3 } }, ["more"]);
    process.clock.advance(50);
    expect(inputs).toEqual([{ kind: "resize", columns: 30, rows: 12 }]);
    expect([terminal.columns, terminal.rows]).toEqual([30, 12]);
    expect(await process.allLines()).toEqual(["above", "more", "a".repeat(30), "b".repeat(30), "end"]);
    process.clock.advance(1000);
    expect(process.clock.pending).toBe(0);
  });

  it("is seen before its signal comes", async () => {
    const { process, terminal, inputs } = open();
    terminal.paint({ lines: ["a".repeat(60), "end"], cursor: { row: 1, column: 0 } });
    await process.shown();
    process.clock.advance(100);
    process.screen.resize({ columns: 30, rows: 12 });
    terminal.paint({ lines: ["short", "end"], cursor: { row: 1, column: 0 } });
    process.clock.advance(50);
    expect(inputs).toEqual([{ kind: "resize", columns: 30, rows: 12 }]);
    expect(await process.allLines()).toEqual(["short", "end"]);
  });
});

describe("the way back", () => {
  it("replaces the live part by the last lines, restores the modes and leaves nothing behind", async () => {
    const { process, terminal } = open();
    terminal.setTitle("a title");
    terminal.paint({ lines: ["live", "more"] }, ["printed"]);
    terminal.paint({ lines: ["live", "more"] }, ["late"]);
    await terminal.close(["bye"]);
    expect(await process.allLines()).toEqual(["printed", "late", "bye"]);
    expect(process.screen.cursor).toEqual({ row: 3, column: 0 });
    for (const mode of LEFT) expect(process.bytes.slice(process.bytes.indexOf("bye"))).toContain(mode);
    expect(process.bytes).toContain("\x1b[23;0t");
    expect(process.isRaw).toBe(false);
    expect(process.screen.modes.bracketedPasteMode).toBe(false);
    expect(process.watched).toBeUndefined();
    for (const event of ["resize", "lost", "exit", "SIGTERM", "SIGINT", "SIGHUP", "SIGTSTP"] as const)
      expect(process.listeners(event), event).toBe(0);
    expect(process.clock.pending).toBe(0);
    const length = process.bytes.length;
    await terminal.close(["again"]);
    terminal.paint({ lines: ["no"] });
    expect(process.bytes.length).toBe(length);
  });

  it("waits for the answers to its queries, so that no shell gets them, but not forever", async () => {
    const silentProcess = () => Object.assign(new FakeProcess(), { isAnswering: false });
    const { process, terminal } = open(silentProcess());
    terminal.paint({ lines: ["live"] });
    const closed = terminal.close(["bye"]);
    expect(process.isRaw).toBe(true);
    process.type("\x1b]11;rgb:0/0/0\x07\x1b[?62c");
    await closed;
    expect([process.isRaw, process.clock.pending, process.listeners("exit")]).toEqual([false, 0, 0]);
    const silent = open(silentProcess());
    silent.terminal.paint({ lines: ["live"] });
    const late = silent.terminal.close();
    silent.process.clock.advance(500);
    await late;
    expect([silent.process.isRaw, silent.process.clock.pending]).toEqual([false, 0]);
    const hasty = open(silentProcess());
    hasty.terminal.paint({ lines: ["live"] });
    void hasty.terminal.close();
    hasty.process.happen("exit");
    expect([hasty.process.isRaw, hasty.process.screen.modes.bracketedPasteMode]).toEqual([false, false]);
  });

  it("waits for a frame that is on its way over a slow link", async () => {
    const { process, terminal } = open();
    process.isSlow = true;
    terminal.paint({ lines: ["live"] });
    const closed = terminal.close(["bye"]);
    expect(process.isRaw).toBe(true);
    process.drain();
    await closed;
    expect(process.isRaw).toBe(false);
    expect(await process.allLines()).toEqual(["bye"]);
  });

  it.each(["SIGTERM", "SIGHUP", "SIGINT"] as const)(
    "%s restores at once, and the client may still say goodbye",
    async (signal) => {
      const { process, terminal, inputs, bytesOf } = open();
      terminal.paint({ lines: ["live"] });
      const bytes = bytesOf(() => process.happen(signal));
      for (const mode of LEFT) expect(bytes).toContain(mode);
      expect(process.isRaw).toBe(false);
      expect(inputs).toEqual([{ kind: "closed", signal }]);
      await terminal.close(["bye"]);
      expect(await process.allLines()).toEqual(["bye"]);
      expect(process.bytes.split("\x1b[?2004l").length).toBe(2);
    },
  );

  it("an exception or the end of the process restores, below the live part", async () => {
    const { process, terminal } = open();
    terminal.paint({ lines: ["live", "caret", "status"], cursor: { row: 1, column: 2 } });
    process.happen("exit");
    process.happen("exit");
    await process.shown();
    expect(process.isRaw).toBe(false);
    expect(process.screen.cursor).toEqual({ row: 3, column: 0 });
    expect(await process.allLines()).toEqual(["live", "caret", "status"]);
  });

  it("a closed terminal ends the client, and nothing is written any more", () => {
    const { process, terminal, inputs, bytesOf } = open();
    terminal.paint({ lines: ["live"] });
    const bytes = bytesOf(() => {
      process.happen("lost");
      terminal.paint({ lines: ["more"] });
      terminal.bell();
      void terminal.close(["bye"]);
    });
    expect([bytes, process.isRaw]).toEqual(["", false]);
    expect(inputs).toEqual([{ kind: "closed" }]);
  });

  it("the watcher always knows what there is to restore", async () => {
    const { process, terminal } = open();
    terminal.paint({ lines: ["live"] });
    expect(process.watched).not.toContain("\x1b[?1049l");
    terminal.setTitle("title");
    expect(process.watched).toContain("\x1b[23;0t");
    const full = terminal.openFullScreen();
    expect(process.watched).toContain("\x1b[?1049l");
    process.type("\x1b[?0u");
    expect(process.watched).toContain("\x1b[<u");
    full.close();
    expect(process.watched).not.toContain("\x1b[?1049l");
    await terminal.lend(async () => expect(process.watched).toBe(""));
    expect(process.watched).toContain("\x1b[?2004l");
  });
});

describe("Ctrl-Z and another program", () => {
  it("gives the terminal back, stops, and paints again after fg", async () => {
    const { process, terminal, inputs } = open();
    terminal.paint({ lines: ["live", "status"] }, ["printed"]);
    process.clock.advance(40);
    terminal.suspend();
    expect([process.stops, process.isRaw]).toEqual([1, false]);
    expect(await process.allLines()).toEqual(["printed"]);
    terminal.paint({ lines: ["newer"] }, ["meanwhile"]);
    process.other("[1]+ Stopped\r\n$ fg\r\n");
    process.happen("SIGCONT");
    process.clock.advance(100);
    expect(inputs).toEqual([{ kind: "resumed" }]);
    expect(process.isRaw).toBe(true);
    expect(await process.allLines()).toEqual(["printed", "[1]+ Stopped", "$ fg", "meanwhile", "newer"]);
    expect(process.screen.modes.bracketedPasteMode).toBe(true);
    expect(process.clock.pending).toBe(0);
    process.happen("SIGTSTP");
    expect(process.stops).toBe(2);
  });

  it("continues at once if nothing can stop it", () => {
    const { process, terminal, inputs } = open();
    terminal.paint({ lines: ["live"] });
    terminal.suspend();
    process.clock.advance(50);
    expect([inputs, process.isRaw]).toEqual([[{ kind: "resumed" }], true]);
  });

  it("lends the terminal, holds all output meanwhile, and leaves Ctrl-C and Ctrl-Z to the other program", async () => {
    const { process, terminal, inputs } = open();
    terminal.paint({ lines: ["live"] }, ["printed"]);
    process.clock.advance(40);
    const result = await terminal.lend(async () => {
      expect(process.isRaw).toBe(false);
      const before = process.bytes.length;
      terminal.paint({ lines: ["newer"] }, ["meanwhile"]);
      terminal.bell();
      process.clock.advance(1000);
      expect(process.bytes.length).toBe(before);
      process.happen("SIGINT");
      expect(process.listeners("SIGTSTP")).toBe(0);
      process.other("the editor was here\r\n");
      return 7;
    });
    expect([result, process.isRaw, inputs]).toEqual([7, true, []]);
    expect(await process.allLines()).toEqual(["printed", "the editor was here", "meanwhile", "newer"]);
    await expect(terminal.lend(() => Promise.reject(new Error("no editor")))).rejects.toThrow("no editor");
    expect(process.isRaw).toBe(true);
  });
});

describe("the full screen", () => {
  it("leaves the conversation alone, holds what is printed, and follows a new size", async () => {
    const { process, terminal, inputs } = open();
    terminal.paint({ lines: ["live", "x".repeat(60)], cursor: { row: 1, column: 5 } }, ["printed"]);
    const full = terminal.openFullScreen();
    full.paint({ lines: ["viewer", "x".repeat(90)] });
    expect(await process.shown()).toEqual(["viewer", "x".repeat(60)]);
    expect(process.screen.isAlternate).toBe(true);
    terminal.paint({ lines: ["newer"] }, ["meanwhile"]);
    process.resize(30, 10);
    process.clock.advance(100);
    expect(inputs).toEqual([{ kind: "resize", columns: 30, rows: 10 }]);
    expect(await process.shown()).toEqual(["viewer", "x".repeat(30)]);
    full.close();
    full.close();
    process.clock.advance(40);
    expect(await process.allLines()).toEqual(["printed", "meanwhile", "newer"]);
    expect(process.screen.isAlternate).toBe(false);
    const before = process.bytes.length;
    full.paint({ lines: ["too late"] });
    expect(process.bytes.length).toBe(before);
  });

  it("is restored after Ctrl-Z and after another program", async () => {
    const { process, terminal } = open();
    terminal.paint({ lines: ["live"] }, ["printed"]);
    const full = terminal.openFullScreen();
    full.paint({ lines: ["viewer"] });
    const expectLeft = async () => {
      expect(await process.allLines()).toEqual(["printed"]);
      expect(process.screen.isAlternate).toBe(false);
    };
    process.clock.advance(40);
    terminal.suspend();
    await expectLeft();
    process.happen("SIGCONT");
    expect(await process.shown()).toEqual(["viewer"]);
    process.clock.advance(40);
    await terminal.lend(expectLeft);
    expect(await process.shown()).toEqual(["viewer"]);
    expect(process.screen.isAlternate).toBe(true);
  });

  it("is left when the client closes or the process ends", async () => {
    const first = open();
    first.terminal.paint({ lines: ["live"] }, ["printed"]);
    first.terminal.openFullScreen().paint({ lines: ["viewer"] });
    await first.terminal.close(["bye"]);
    expect(await first.process.allLines()).toEqual(["printed", "bye"]);
    const second = open();
    second.terminal.paint({ lines: ["live"] }, ["printed"]);
    second.terminal.openFullScreen().paint({ lines: ["viewer"] });
    second.process.happen("exit");
    await second.process.shown();
    expect(second.process.screen.isAlternate).toBe(false);
    expect(await second.process.allLines()).toEqual(["printed"]);
  });
});

describe("what the terminal answers", () => {
  it("switches to the kitty protocol, and back at the end", () => {
    const { process, terminal, inputs, bytesOf } = open();
    terminal.paint({ lines: ["x"] });
    expect(bytesOf(() => process.type("\x1b[?0u\x1b[?62c"))).toBe("\x1b[>4;0m\x1b[m\x1b[>5u");
    expect(inputs).toEqual([]);
    expect(bytesOf(() => void terminal.close())).toContain("\x1b[<u");
  });

  it.each([
    ["\x1b]11;rgb:ffff/ffff/dddd\x07", {}, true],
    ["\x1b]11;rgb:1e/1e/2e\x1b\\", {}, false],
    ["\x1b[?62;22c", { COLORFGBG: "0;15" }, true],
    ["\x1b[?62;22c", { COLORFGBG: "15;default;0" }, false],
    ["\x1b[?62;22c", {}, undefined],
    ["", { COLORFGBG: "15;0" }, false],
  ] as const)("%j with %j tells whether the background is light: %j", async (answer, variables, expected) => {
    const { process, terminal } = open(
      Object.assign(new FakeProcess({ TERM: "xterm", ...variables }), { isAnswering: false }),
    );
    const asked = terminal.backgroundIsLight();
    terminal.paint({ lines: ["x"] });
    process.type(answer);
    if (answer === "") process.clock.advance(300);
    expect(await asked).toBe(expected);
    expect(await terminal.backgroundIsLight()).toBe(expected);
    expect(process.clock.pending).toBe(0);
  });

  it("is not requested on the Linux console", () => {
    const { process, terminal } = open(new FakeProcess({ TERM: "linux" }));
    terminal.setTitle("title");
    terminal.notify("note");
    terminal.paint({ lines: ["x"] });
    expect(terminal.copy("text")).toBe(false);
    expect(process.bytes).not.toContain("\x1b]");
  });

  it("enters the modes before the first frame", () => {
    const { process } = open();
    for (const mode of ENTERED) expect(process.bytes).toContain(mode);
  });
});
