/** The themes by name, as `/theme` lists them, with the style of each role. */
import { ROLES, type Role, type Style, type Theme } from "./theme.js";

export const THEME_NAMES = ["dark", "light", "high-contrast", "plain"] as const;
export type ThemeName = (typeof THEME_NAMES)[number];

/** How many colours the terminal shows: `truecolor` or `24bit` from `COLORTERM`, `none` from `NO_COLOR`. */
export type Colours = "none" | "16" | "truecolor";

export interface ThemeOptions {
  readonly colours: Colours;
  /** Only ASCII marks and lines. */
  /** Whether the terminal knows OSC 8. */
  readonly links?: boolean;
}

interface Palette {
  readonly description: string;
  /** SGR parameters that switch a role on. Sixteen colours follow the palette of the terminal. */
  readonly sixteen: Readonly<Partial<Record<Role, string>>>;
  /** Overrides for terminals with true colour. */
  readonly truecolor: Readonly<Partial<Record<Role, string>>>;
}

const SHAPES = { strong: "1", emphasis: "3", strike: "9" } as const;

const PALETTES: Readonly<Record<ThemeName, Palette>> = {
  dark: {
    description: "for a dark background",
    sixteen: {
      ...SHAPES,
      dim: "2",
      accent: "36",
      success: "32",
      warning: "33",
      danger: "31",
      user: "1;36",
      heading: "1;36",
      link: "4;34",
      code: "33",
      quote: "2;3",
      added: "32",
      removed: "31",
      addedWord: "7;32",
      removedWord: "7;31",
      keyword: "35",
      string: "32",
      number: "33",
      comment: "2",
      type: "36",
      function: "34",
      selected: "7",
      key: "1",
      modeAsk: "36",
      modeAuto: "33",
      modePlan: "35",
    },
    truecolor: {
      dim: rgb(0x8a, 0x93, 0x9e),
      accent: rgb(0x7a, 0xc5, 0xe8),
      success: rgb(0x8c, 0xc9, 0x7a),
      warning: rgb(0xe6, 0xc0, 0x6a),
      danger: rgb(0xf0, 0x7f, 0x7f),
      user: `1;${rgb(0x9f, 0xd8, 0xf2)}`,
      heading: `1;${rgb(0x7a, 0xc5, 0xe8)}`,
      link: `4;${rgb(0x8a, 0xb4, 0xf8)}`,
      code: rgb(0xe6, 0xb4, 0x8c),
      quote: `3;${rgb(0x9a, 0xa5, 0xb1)}`,
      added: rgb(0x8c, 0xc9, 0x7a),
      removed: rgb(0xf0, 0x7f, 0x7f),
      addedLine: background(0x14, 0x2b, 0x19),
      removedLine: background(0x38, 0x1a, 0x1d),
      addedWord: `${rgb(0xe4, 0xf7, 0xdc)};${background(0x2b, 0x5a, 0x2b)}`,
      removedWord: `${rgb(0xfd, 0xe3, 0xe3)};${background(0x70, 0x2c, 0x2c)}`,
      keyword: indexed(141),
      string: indexed(114),
      number: indexed(216),
      comment: indexed(246),
      type: indexed(80),
      function: indexed(111),
      modeAsk: rgb(0x7a, 0xc5, 0xe8),
      modeAuto: rgb(0xe6, 0xc0, 0x6a),
      modePlan: rgb(0xc7, 0x9b, 0xe8),
    },
  },
  light: {
    description: "for a light background",
    sixteen: {
      ...SHAPES,
      dim: "2",
      accent: "34",
      success: "32",
      warning: "35",
      danger: "31",
      user: "1;34",
      heading: "1;34",
      link: "4;34",
      code: "35",
      quote: "2;3",
      added: "32",
      removed: "31",
      addedWord: "7;32",
      removedWord: "7;31",
      keyword: "35",
      string: "32",
      number: "31",
      comment: "2",
      type: "34",
      function: "34",
      selected: "7",
      key: "1",
      modeAsk: "34",
      modeAuto: "31",
      modePlan: "35",
    },
    truecolor: {
      dim: rgb(0x5e, 0x66, 0x70),
      accent: rgb(0x0b, 0x5c, 0x8a),
      success: rgb(0x1d, 0x6b, 0x2a),
      warning: rgb(0x8a, 0x56, 0x00),
      danger: rgb(0xb0, 0x1e, 0x2a),
      user: `1;${rgb(0x0b, 0x4f, 0x7a)}`,
      heading: `1;${rgb(0x0b, 0x4f, 0x7a)}`,
      link: `4;${rgb(0x0a, 0x50, 0xb4)}`,
      code: rgb(0x8a, 0x3b, 0x12),
      quote: `3;${rgb(0x55, 0x5d, 0x68)}`,
      added: rgb(0x1d, 0x6b, 0x2a),
      removed: rgb(0xb0, 0x1e, 0x2a),
      addedLine: background(0xe6, 0xf6, 0xe8),
      removedLine: background(0xfc, 0xe9, 0xea),
      addedWord: `${rgb(0x0c, 0x45, 0x16)};${background(0xbf, 0xe8, 0xc4)}`,
      removedWord: `${rgb(0x73, 0x0d, 0x16)};${background(0xf8, 0xc9, 0xcc)}`,
      keyword: indexed(91),
      string: indexed(22),
      number: indexed(94),
      comment: indexed(241),
      type: indexed(23),
      function: indexed(25),
      modeAsk: rgb(0x0b, 0x5c, 0x8a),
      modeAuto: rgb(0x8a, 0x56, 0x00),
      modePlan: rgb(0x7a, 0x2c, 0xa8),
    },
  },
  // The terminal's own text colour everywhere: what differs is bold, underlined or reversed, and only a few roles have a bright colour.
  "high-contrast": {
    description: "no faint text, strong marks",
    sixteen: {
      ...SHAPES,
      accent: "1",
      success: "1",
      warning: "1;4",
      danger: "1;7",
      user: "1",
      heading: "1;4",
      link: "4",
      code: "1",
      quote: "3",
      added: "1",
      removed: "4",
      addedWord: "1;7",
      removedWord: "4;7",
      keyword: "1",
      comment: "3",
      selected: "7",
      key: "1;4",
      modeAsk: "1",
      modeAuto: "1;7",
      modePlan: "1;4",
    },
    truecolor: {},
  },
  plain: { description: "no colour and no styles", sixteen: {}, truecolor: {} },
};

/** A name and one line about it, for the picker. */
export function listThemes(): readonly { readonly name: ThemeName; readonly description: string }[] {
  return THEME_NAMES.map((name) => ({ name, description: PALETTES[name].description }));
}

export function isThemeName(name: string): name is ThemeName {
  return (THEME_NAMES as readonly string[]).includes(name);
}

/** Without colours every theme is plain, and keeps its name. */
export function createTheme(name: ThemeName, { colours, links = false }: ThemeOptions): Theme {
  const { sixteen, truecolor } = PALETTES[name];
  const codes = colours === "none" ? {} : colours === "16" ? sixteen : { ...sixteen, ...truecolor };
  const styles = Object.fromEntries(ROLES.map((role) => [role, styleFrom(codes[role])])) as Record<Role, Style>;
  return { ...styles, name, links };
}

export const plainTheme: Theme = createTheme("plain", { colours: "none" });

function styleFrom(codes: string | undefined): Style {
  if (codes === undefined) return (text) => text;
  const on = `\u001b[${codes}m`;
  const off = `\u001b[${closing(codes)}m`;
  return (text) => (text === "" ? "" : on + text + off);
}

/** Switches off only what was switched on, so that a style can be nested inside another kind of style. */
function closing(codes: string): string {
  const parts = codes.split(";");
  const off = new Set<string>();
  for (let at = 0; at < parts.length; at++) {
    const code = Number(parts[at]);
    if (code === 38 || code === 48) {
      off.add(code === 38 ? "39" : "49");
      at += parts[at + 1] === "5" ? 2 : 4;
    } else off.add(OFF[code] ?? "39");
  }
  return [...off].join(";");
}

const OFF: Readonly<Record<number, string>> = { 1: "22", 2: "22", 3: "23", 4: "24", 7: "27", 9: "29" };

function rgb(red: number, green: number, blue: number): string {
  return `38;2;${red};${green};${blue}`;
}

/** One of 256 colours: code has many coloured words, and this takes half the bytes. */
function indexed(colour: number): string {
  return `38;5;${colour}`;
}

function background(red: number, green: number, blue: number): string {
  return `48;2;${red};${green};${blue}`;
}
