import { describe, expect, it } from "vitest";
import { ROLES } from "./theme.js";
import { createTheme, isThemeName, listThemes, THEME_NAMES } from "./themes.js";

describe("themes", () => {
  it("lists them by name with a line about each", () => {
    expect(listThemes().map(({ name }) => name)).toEqual([...THEME_NAMES]);
    expect(listThemes().every(({ description }) => description !== "")).toBe(true);
    expect([isThemeName("dark"), isThemeName("pink")]).toEqual([true, false]);
  });

  it("styles nothing without colours", () => {
    for (const name of THEME_NAMES) {
      const theme = createTheme(name, { colours: "none" });
      expect(ROLES.filter((role) => theme[role]("x") !== "x")).toEqual([]);
    }
  });

  it("switches off what it switches on, and uses only sixteen colours if the terminal has no more", () => {
    const on: Readonly<Record<string, string>> = { 1: "22", 2: "22", 3: "23", 4: "24", 7: "27", 9: "29" };
    for (const name of THEME_NAMES) {
      const theme = createTheme(name, { colours: "16" });
      for (const role of ROLES) {
        const [, codes, closing] = /^(?:\x1b\[([\d;]+)m)?x(?:\x1b\[([\d;]+)m)?$/.exec(theme[role]("x")) ?? [];
        const expected = new Set(
          (codes ?? "")
            .split(";")
            .filter(Boolean)
            .map((code) => on[code] ?? "39"),
        );
        expect(new Set((closing ?? "").split(";").filter(Boolean))).toEqual(expected);
        expect(codes ?? "").not.toMatch(/38|48/);
      }
    }
  });

  it("is readable: colours on their background have a contrast of 4.5 and more", () => {
    for (const [name, background] of [
      ["dark", [0x1e, 0x1e, 0x1e]],
      ["light", [0xff, 0xff, 0xff]],
    ] as const) {
      const theme = createTheme(name, { colours: "truecolor" });
      for (const role of ROLES) {
        const painted = theme[role]("x");
        const colour = colourOf(painted);
        if (colour === undefined) continue;
        const own = /48;2;(\d+);(\d+);(\d+)/.exec(painted)?.slice(1).map(Number) ?? background;
        expect([role, contrast(colour, own) >= 4.5]).toEqual([role, true]);
      }
    }
  });
});

function colourOf(painted: string): readonly number[] | undefined {
  const exact = /38;2;(\d+);(\d+);(\d+)/.exec(painted);
  if (exact !== null) return exact.slice(1).map(Number);
  const index = /38;5;(\d+)/.exec(painted)?.[1];
  if (index === undefined) return undefined;
  const level = (step: number) => (step === 0 ? 0 : 55 + 40 * step);
  const number = Number(index);
  if (number >= 232) return Array.from({ length: 3 }, () => 8 + 10 * (number - 232));
  const cube = number - 16;
  return [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level);
}

function contrast(one: readonly number[], other: readonly number[]): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** As the guidelines for web content define it. */
function luminance(colour: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
