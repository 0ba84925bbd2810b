/** What everyone must be able to use: terminals of ASCII, terminals without colours, screen readers, people without a mouse. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { asciiText, unruledText } from "../../base/ascii-text.js";
import { textWidth } from "../../base/text-width.js";
import { renderBlock } from "./content/render-block.js";
import { NOW, SAMPLES } from "./content/samples.testkit.js";
import { DIALOGS } from "./dialogs/samples.testkit.js";
import { carryOutHere, type Here, ringAfterTurn } from "./effects/here.js";
import { enterFullScreen, enterModes } from "./terminal/modes.js";
import type { TuiTerminal } from "./terminal/terminal.js";
import { plainTheme } from "./themes.js";

const SIZES = [
  { columns: 120, rows: 40 },
  { columns: 80, rows: 24 },
  { columns: 40, rows: 20 },
];

/** Every recorded view of the frame: status lines, working lines, queues. */
const VIEWS = readdirSync(new URL("./views/goldens", import.meta.url)).map((file) => {
  return { name: file, text: readFileSync(new URL(`./views/goldens/${file}`, import.meta.url), "utf8") };
});

const SCREENS = [
  ...VIEWS,
  ...SIZES.flatMap((size) => [
    ...Object.entries(DIALOGS).map(([name, shown]) => {
      return { name: `${name} at ${size.columns}`, text: shown(size).join("\n") };
    }),
    ...Object.entries(SAMPLES).map(([name, block]) => {
      const options = { width: size.columns, theme: plainTheme, expanded: false, now: NOW };
      return { name: `${name} at ${size.columns}`, text: renderBlock(block, options).join("\n") };
    }),
  ]),
];

/** Letters, pictures of people and things, and pictures of control characters may be question marks. */
const OTHERS = /[\p{L}\p{M}\p{Cf}\p{Extended_Pictographic}\u2400-\u2421。]/u;

describe("every screen", () => {
  verifies(["U2"], "is ASCII where the locale has no more, with no mark of ours unknown, in the same cells", () => {
    for (const { name, text } of SCREENS) {
      const shown = asciiText(text);
      expect(shown, name).toMatch(/^[\x00-\x7f]*$/);
      const unknown = [...text].filter((each) => each > "\x7f" && !OTHERS.test(each) && asciiText(each).includes("?"));
      expect(unknown, name).toEqual([]);
      expect(shown.split("\n").map(textWidth), name).toEqual(text.split("\n").map(textWidth));
    }
  });

  verifies(["U2"], "has no borders, rules, bars or spinners for a screen reader, and all its words", () => {
    for (const { name, text } of SCREENS) {
      const shown = unruledText(text);
      expect(shown, name).not.toMatch(/[\u2500-\u259f\u2800-\u28ff▰▱]/);
      expect(shown.replaceAll(/[^\p{L}\p{N}]/gu, ""), name).toBe(text.replaceAll(/[^\p{L}\p{N}]/gu, ""));
      expect(shown.split("\n").map(textWidth), name).toEqual(text.split("\n").map(textWidth));
    }
  });

  verifies(["U2"], "says all without colours", () => {
    for (const { name, text } of SCREENS) expect(text, name).not.toContain("\u001b");
  });

  it("leaves the mouse to the terminal", () => {
    const modes = [true, false].flatMap((hasKitty) => [
      enterModes({ hasKitty, isFullScreen: true }),
      enterFullScreen({ hasKitty }),
    ]);
    for (const bytes of modes) expect(bytes).not.toMatch(/\x1b\[\?(?:9|1000|1001|1002|1003|1005|1006|1015)h/);
  });
});

describe("text of ASCII", () => {
  it("keeps letters and cells", () => {
    for (const text of ["café naïve Ø", "日本語 x", "👨‍👩‍👧 e\u0301", "\u001b[1m● ok\u001b[0m", ""]) {
      const shown = asciiText(text);
      expect(shown).toMatch(/^[\x00-\x7f]*$/);
      expect(textWidth(shown.replaceAll(/\u001b\[\d*m/g, ""))).toBe(textWidth(text.replaceAll(/\u001b\[\d*m/g, "")));
    }
    expect(asciiText("café · ✓ 日")).toBe("cafe - + ??");
  });

  it("keeps the marks of tools apart", () => {
    const marks = [..."●✓✗⊘–"].map(asciiText);
    expect(new Set(marks).size).toBe(marks.length);
  });
});

describe("calling the person", () => {
  it.each([
    ["both", "ring ring notify"],
    ["bell", "ring ring"],
    ["notification", "notify"],
    ["none", ""],
  ] as const)("with alerts = %s", (alerts, expected) => {
    const done: string[] = [];
    const terminal = { bell: () => done.push("ring"), notify: () => done.push("notify") } as unknown as TuiTerminal;
    ringAfterTurn("TurnEnded", [], { linear: true, terminal, alerts });
    const here = { terminal, alerts } as unknown as Here;
    expect(carryOutHere({ do: "call person", text: "The turn has ended." }, here)).toBeUndefined();
    expect(done.join(" ")).toBe(expected);
  });
});
