import { describe, expect, it } from "vitest";
import { FakeProcess } from "../../../../test/support/fake-terminal-process.js";
import { terminalAbilities, terminalFits } from "./abilities.js";
import { copyBytes, notificationBytes, titleBytes } from "./announcements.js";
import { openTerminal } from "./open-terminal.js";

const XTERM = { TERM: "xterm-256color" };

describe("what a terminal can do", () => {
  it.each([
    [XTERM, { links: false, progress: false, notification: "osc9", reflow: "cursor" }],
    [
      { ...XTERM, XTERM_VERSION: "XTerm(370)" },
      { links: false, reflow: "none" },
    ],
    [
      { ...XTERM, VTE_VERSION: "7200" },
      { links: true, progress: false },
    ],
    [{ TERM: "xterm-kitty" }, { links: true, notification: "osc99" }],
    [{ TERM: "foot" }, { links: true, notification: "osc777" }],
    [
      { ...XTERM, WT_SESSION: "a" },
      { links: true, progress: true },
    ],
    [
      { ...XTERM, TERM_PROGRAM: "vscode" },
      { links: true, reflow: "count" },
    ],
    [
      { ...XTERM, TERM_PROGRAM: "iTerm.app", TERM_PROGRAM_VERSION: "3.5.14" },
      { links: true, progress: false },
    ],
    [{ ...XTERM, TERM_PROGRAM: "iTerm.app", TERM_PROGRAM_VERSION: "3.10" }, { progress: true }],
    [{ TERM: "tmux-256color", TMUX: "/s,1,0", TERM_PROGRAM: "tmux", TERM_PROGRAM_VERSION: "3.3a" }, { links: false }],
    [{ TERM: "tmux-256color", TMUX: "/s,1,0", TERM_PROGRAM: "tmux", TERM_PROGRAM_VERSION: "3.4" }, { links: true }],
    [
      { TERM: "screen", TMUX: "/s,1,0", WT_SESSION: "a" },
      { links: false, progress: false, isTmux: true },
    ],
    [
      { TERM: "screen", STY: "1.pts" },
      { links: false, reflow: "none" },
    ],
    [{ TERM: "linux" }, { links: false, strings: false, notification: "none" }],
  ])("%j: %j", (variables, expected) => {
    expect(terminalAbilities(variables)).toMatchObject(expected);
  });

  it("fits when it is one, knows sequences and is wide enough", () => {
    const tty = { isTTY: true };
    const fits = (variables: Record<string, string>, columns?: number) =>
      terminalFits(variables, { input: tty, output: { ...tty, ...(columns === undefined ? {} : { columns }) } });
    expect([fits(XTERM, 80), fits(XTERM, 20), fits(XTERM), fits(XTERM, 0), fits({ TERM: "linux" }, 80)]).toEqual(
      Array(5).fill(true),
    );
    expect([fits(XTERM, 19), fits({ TERM: "dumb" }, 80), fits({}, 80)]).toEqual([false, false, false]);
    expect(terminalFits(XTERM, { input: {}, output: tty })).toBe(false);
    expect(terminalFits(XTERM, { input: tty, output: {} })).toBe(false);
  });
});

describe("what the client tells the desktop", () => {
  it("lets no control character into a title or a notification", () => {
    expect(titleBytes("a\x07b\x1b]0;c\nd")).toBe("\x1b]0;a␇b␛]0;c␊d\x07");
    const kitty = terminalAbilities({ TERM: "xterm-kitty" });
    expect(notificationBytes("done\x1b\\\x07", kitty)).toBe("\x1b]99;;done␛\\␇\x1b\\");
    expect(notificationBytes("4;3;50", terminalAbilities(XTERM))).toBe("\x1b]9;Oxbow: 4;3;50\x07");
    expect(notificationBytes("a;b", terminalAbilities({ TERM: "foot" }))).toBe("\x1b]777;notify;Oxbow;a,b\x07");
  });

  it("passes through tmux to the terminal outside", () => {
    const abilities = terminalAbilities({ TERM: "screen", TMUX: "/s,1,0" });
    expect(notificationBytes("done", abilities)).toBe("\x1bPtmux;\x1b\x1b]9;done\x07\x1b\\");
    const copied = `\x1b]52;c;${Buffer.from("text").toString("base64")}\x07`;
    expect(copyBytes("text", abilities)).toBe(`${copied}\x1bPtmux;\x1b${copied}\x1b\\`);
    expect(copyBytes("x".repeat(100_000), abilities)).toBeUndefined();
  });

  it("sets a title once and again only when it changes, and shows progress without a timer", () => {
    const process = new FakeProcess({ TERM: "xterm-256color", TERM_PROGRAM: "ghostty" });
    const terminal = openTerminal(process.io);
    const start = process.bytes.length;
    for (let index = 0; index < 10; index++) {
      terminal.setTitle("oxbow");
      terminal.setProgress("busy");
    }
    const [title, busy] = ["\x1b[22;0t\x1b]0;oxbow\x07", "\x1b]9;4;3;0\x07"];
    expect(process.bytes.slice(start)).toBe(title + busy);
    process.clock.advance(5000);
    terminal.setProgress("busy");
    terminal.setProgress("waiting");
    expect(process.bytes.slice(start)).toBe(`${title}${busy}${busy}\x1b]9;4;4;100\x07`);
    expect(process.clock.pending).toBe(0);
    void terminal.close();
    expect(process.bytes).toContain("\x1b[23;0t\x1b]9;4;0;0\x07");
  });
});
