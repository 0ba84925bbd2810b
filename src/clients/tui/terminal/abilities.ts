/** What a terminal can do, according to its environment variables. */
import type { Variables } from "../../../base/variables.js";
import type { Reflow } from "./reflow.js";

export interface Abilities {
  /** OSC 8 links. */
  readonly links: boolean;
  /** OSC 9;4: a progress indicator in the title bar or the task bar. */
  readonly progress: boolean;
  readonly notification: "osc9" | "osc99" | "osc777" | "none";
  /** Sequences for the outer terminal have to be wrapped for tmux. */
  readonly isTmux: boolean;
  /** OSC strings. The Linux console shows them as text. */
  readonly strings: boolean;
  readonly reflow: Reflow;
  /** The terminal is at the other end of a network. */
  readonly isRemote: boolean;
}

const LINK_PROGRAMS = new Set(["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "mintty", "rio", "Tabby", "zed"]);
const LINK_TERMINALS = /^(?:xterm-)?(?:kitty|ghostty|alacritty|foot|contour|wezterm)/;

export function terminalAbilities(variables: Variables): Abilities {
  const { TERM = "" } = variables;
  const isTmux = (variables.TMUX ?? "") !== "";
  const isNested = isTmux || (variables.STY ?? "") !== "";
  const strings = TERM !== "linux" && TERM !== "dumb" && TERM !== "";
  return {
    links: strings && (isTmux ? tmuxShowsLinks(variables) : !isNested && showsLinks(variables)),
    progress: strings && !isNested && showsProgress(variables),
    notification: strings ? notificationKind(variables) : "none",
    isTmux,
    strings,
    reflow: reflowKind(variables),
    isRemote: (variables.SSH_CONNECTION ?? variables.SSH_TTY ?? "") !== "",
  };
}

function reflowKind({ TMUX = "", STY = "", TERM_PROGRAM, XTERM_VERSION }: Variables): Reflow {
  if (TMUX !== "") return "cursor";
  if (STY !== "" || XTERM_VERSION !== undefined) return "none";
  return TERM_PROGRAM === "vscode" || TERM_PROGRAM === "Hyper" || TERM_PROGRAM === "Tabby" ? "count" : "cursor";
}

/** xterm.js identifies itself only by this version, which no other terminal has today. */
export function reflowByAnswer(answer: string): Reflow | undefined {
  return answer === "\x1b[>0;276;0c" ? "count" : undefined;
}

function showsLinks(variables: Variables): boolean {
  if (LINK_PROGRAMS.has(variables.TERM_PROGRAM ?? "") || LINK_TERMINALS.test(variables.TERM ?? "")) return true;
  if ((variables.WT_SESSION ?? "") !== "" || (variables.DOMTERM ?? "") !== "") return true;
  return Number(variables.VTE_VERSION ?? 0) >= 5000 || Number(variables.KONSOLE_VERSION ?? 0) >= 201200;
}

function tmuxShowsLinks({ TERM_PROGRAM, TERM_PROGRAM_VERSION = "" }: Variables): boolean {
  return TERM_PROGRAM === "tmux" && isAtLeast(TERM_PROGRAM_VERSION, [3, 4]);
}

function showsProgress(variables: Variables): boolean {
  if ((variables.WT_SESSION ?? "") !== "" || variables.ConEmuANSI === "ON" || variables.TERM_PROGRAM === "ghostty")
    return true;
  // Older versions show it as a notification.
  return variables.TERM_PROGRAM === "iTerm.app" && isAtLeast(variables.TERM_PROGRAM_VERSION ?? "", [3, 6, 6]);
}

/** In tmux the variables are its own; nearly all terminals know OSC 9. */
function notificationKind({
  TERM = "",
  TERM_PROGRAM,
  VTE_VERSION = "",
  TMUX = "",
}: Variables): Abilities["notification"] {
  if (TERM.includes("kitty")) return "osc99";
  const isVte = VTE_VERSION !== "" && TMUX === "";
  return /^(?:rxvt|foot)/.test(TERM) || TERM_PROGRAM === "WarpTerminal" || isVte ? "osc777" : "osc9";
}

function isAtLeast(version: string, wanted: readonly number[]): boolean {
  const parts = version.split(".").map((part) => Number.parseInt(part, 10) || 0);
  const at = wanted.findIndex((number, index) => (parts[index] ?? 0) !== number);
  return at === -1 || (parts[at] ?? 0) > (wanted[at] ?? 0);
}

const LEAST_COLUMNS = 20;

/** Whether the terminal can run this client. Otherwise the line client runs. */
export function terminalFits(
  variables: Variables,
  streams: {
    readonly input: { readonly isTTY?: boolean };
    readonly output: { readonly isTTY?: boolean; readonly columns?: number };
  },
): boolean {
  const { TERM = "" } = variables;
  if (streams.input.isTTY !== true || streams.output.isTTY !== true) return false;
  if (TERM === "dumb" || TERM === "emacs" || (TERM === "" && variables.WT_SESSION === undefined)) return false;
  // A terminal that does not know its size reports 0 columns; assume 80.
  const columns = streams.output.columns ?? 0;
  return columns === 0 || columns >= LEAST_COLUMNS;
}

/** Light or dark by `COLORFGBG`, which some terminals set: `15;0` is white on black. */
export function lightByVariable({ COLORFGBG = "" }: Variables): boolean | undefined {
  const colour = COLORFGBG.split(";").at(-1) ?? "";
  if (!/^\d+$/.test(colour)) return undefined;
  return colour === "7" || Number(colour) > 8;
}

/** Light or dark by the answer to OSC 11: `rgb:ffff/ffff/dddd`. */
export function lightByAnswer(answer: string): boolean | undefined {
  const found = /^\x1b\]11;rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})/i.exec(answer);
  if (found === null) return undefined;
  const [red = 0, green = 0, blue = 0] = found.slice(1).map((hex) => Number.parseInt(hex, 16) / (16 ** hex.length - 1));
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5;
}
