/**
 * The line below the input: mode, model, window, cost, branch, sandbox, session, title. If the line is too long, the least important parts are
 * dropped first.
 */
import { formatUsd } from "../../../base/budget-text.js";
import { STATUS_PARTS, type StatusPart, type StatusParts } from "../../../base/status-parts.js";
import { safeLine } from "../../../base/terminal-text.js";
import { textWidth, truncateText } from "../../../base/text-width.js";
import type { SessionMode } from "../../../protocol/events.js";
import type { SessionId } from "../../../protocol/ids.js";
import { type Spent, shownCosts } from "../../sdk/shown/costs.js";
import { paintSpan } from "../content/spans.js";
import type { VimMode } from "../input/vim-keys.js";
import type { State } from "../state.js";
import type { Style, Theme } from "../theme.js";

export interface StatusOptions {
  readonly width: number;
  readonly theme: Theme;
  /** Default: all, in their usual order. */
  readonly parts?: StatusParts;
  /** What a command of the person printed: it stands for the parts. */
  readonly own?: string | undefined;
  /** The mode of the draft, with the keys of vi. */
  readonly vim?: VimMode | undefined;
}

interface Part {
  readonly text: string;
  readonly style: Style;
  /** The lowest is dropped first if the line is too long. */
  readonly rank: number;
  /** What it is shortened to, before the session's id is dropped. */
  readonly short?: string | undefined;
}

const BAR_WIDTH = 5;
/** As long as in the list of sessions. */
const SHORT_ID = 8;
/** After the title, before the session's id. */
const SHORTENED = 1.5;
/** A name is not cut shorter than this. */
const LEAST_PART = 8;

export function statusLine(state: State, options: StatusOptions): string {
  const { width, theme } = options;
  const mode = modePart(state.place?.mode, theme);
  // A hint hides everything but the mode.
  const rest = state.hint === undefined ? statusParts(state, options) : [part(state.hint.text, theme.warning, 10)];
  const draft = options.vim && part(`-- ${options.vim.toUpperCase()} --`, theme.strong, 9);
  const parts = [draft, mode, ...rest].filter((each) => each !== undefined);
  const separator = " · ";
  const fitting = thatFit(parts, width, textWidth(separator));
  return fitting.map(({ text, style }) => style(text)).join(theme.dim(separator));
}

type MakeParts = (state: State, theme: Theme) => readonly (Part | undefined)[];

const PARTS: Readonly<Record<StatusPart, MakeParts>> = {
  model: (state, theme) => [modelPart(state, theme)],
  context: (state, theme) => [contextPart(state, theme)],
  cost: (state, theme) => costParts(state, theme),
  background: ({ place }, theme) => [
    part(place?.background === undefined ? undefined : `${place.background} in background`, theme.warning, 8),
  ],
  branch: (state, theme) => [part(branchText(state), theme.dim, 6)],
  sandbox: ({ place }, theme) => [sandboxPart(place?.sandbox, theme)],
  profile: (state, theme) => [profilePart(state, theme)],
  address: (state, theme) => [addressPart(state, theme)],
  session: ({ session }, theme) => [part(shortSession(session), theme.dim, 2)],
  title: ({ title }, theme) => [part(title, theme.dim, 1)],
};

/** That commands run without a sandbox is always said. */
function statusParts(
  state: State,
  { theme, own, parts: named = STATUS_PARTS }: StatusOptions,
): readonly (Part | undefined)[] {
  const parts = own === undefined ? named : [];
  const isOpen = state.place?.sandbox === "none" && !parts.includes("sandbox");
  const shown = [...parts, ...(isOpen ? (["sandbox"] as const) : [])].flatMap((name) => PARTS[name](state, theme));
  return [part(own, theme.text, 10), ...shown];
}

function part(text: string | undefined, style: Style, rank: number): Part | undefined {
  return text === undefined || text === "" ? undefined : { text: safeLine(text), style, rank };
}

/** Shortens the id as the list of sessions does. */
function shortSession(session: SessionId): string {
  return session.slice(-SHORT_ID);
}

function sandboxPart(sandbox: string | undefined, theme: Theme): Part | undefined {
  if (sandbox === "none") return part("no sandbox", theme.warning, 8);
  return part(sandbox === undefined ? undefined : "sandboxed", theme.dim, 0);
}

/** The default one is no news. */
function profilePart({ place }: State, theme: Theme): Part | undefined {
  return part(place?.profile === "default" ? undefined : place?.profile, theme.dim, 3);
}

/** The text is the address itself, for terminals that show no links. */
function addressPart({ place }: State, theme: Theme): Part | undefined {
  const [address] = place?.addresses ?? [];
  const style = (text: string) => paintSpan({ text, roles: ["link"], ...(address && { url: address }) }, theme);
  return part(address, style, 7);
}

const MODE_NAMES: Readonly<Record<SessionMode, string>> = {
  ask: "ask",
  auto: "auto",
  review: "review edits",
  plan: "plan",
  allow: "allow all",
  deny: "deny",
};

function modePart(mode: SessionMode | undefined, theme: Theme): Part | undefined {
  if (mode === undefined) return undefined;
  const style = {
    ask: theme.modeAsk,
    auto: theme.modeAuto,
    review: theme.modeAsk,
    plan: theme.modePlan,
    allow: theme.danger,
    deny: theme.dim,
  };
  return { text: MODE_NAMES[mode], style: style[mode], rank: 11 };
}

function modelPart({ model, place }: State, theme: Theme): Part {
  const effort = place?.effort === undefined ? "" : ` (${place.effort})`;
  return { text: safeLine(`${model}${effort}`), style: theme.text, rank: 10 };
}

/** `▰▰▱▱▱ 34%` of the model's window. */
function contextPart({ costs, place }: State, theme: Theme): Part | undefined {
  const window = place?.context_window;
  if (window === undefined || window <= 0) return undefined;
  const share = Math.min(1, costs.contextUsed / window);
  const filled = Math.round(share * BAR_WIDTH);
  const [full, empty] = ["▰", "▱"];
  const bar = full.repeat(filled) + empty.repeat(BAR_WIDTH - filled);
  const style = share >= 0.9 ? theme.danger : share >= 0.7 ? theme.warning : theme.dim;
  return { text: `${bar} ${Math.round(share * 100)}%`, style, rank: 9 };
}

/** Split by provider after a failover: `$0.02 zai + $0.05 openrouter = $0.07/turn`. */
function costParts({ costs }: State, theme: Theme): readonly (Part | undefined)[] {
  const { turn, session } = shownCosts(costs);
  const sum = amount(turn, "turn");
  const shares = Object.entries(turn.byProvider).filter(([, usd]) => usd > 0);
  const split = shares.map(([provider, usd]) => `${formatUsd(usd)} ${provider}`).join(" + ");
  const ofTurn = part(shares.length < 2 ? sum : `${split} = ${sum}`, theme.dim, 4);
  const short = shares.length < 2 ? undefined : `${sum} (${shares.map(([provider]) => provider).join(" + ")})`;
  return [
    ofTurn && { ...ofTurn, ...(short && { short: safeLine(short) }) },
    part(amount(session, "sess"), theme.dim, 5),
  ];
}

function amount({ usd, known }: Spent, unit: string): string | undefined {
  if (usd === 0) return undefined;
  const sum = formatUsd(usd);
  return `${known || sum.startsWith("<") ? "" : "≥ "}${sum}/${unit}`;
}

function branchText({ place }: State): string | undefined {
  if (place === undefined) return undefined;
  const folder = place.cwd.split("/").findLast((name) => name !== "") ?? place.cwd;
  return place.branch === undefined ? folder : `${folder} (${place.branch})`;
}

/** The mode and the model always stay; the model may be shortened. */
function thatFit(parts: readonly Part[], width: number, gap: number): readonly Part[] {
  let left = [...parts];
  const total = (): number => left.reduce((sum, { text }) => sum + textWidth(text), gap * Math.max(0, left.length - 1));
  const next = ({ short, rank }: Part) => (short === undefined ? rank : SHORTENED);
  while (left.length > 2 && total() > width) {
    const lowest = Math.min(...left.map(next));
    left = left.flatMap((each) => {
      if (next(each) !== lowest) return [each];
      const { short, ...rest } = each;
      return short === undefined ? [] : [{ ...rest, text: short }];
    });
  }
  if (total() <= width) return left;
  const [first, second] = left;
  if (first === undefined) return [];
  const room = width - textWidth(first.text) - gap;
  if (second === undefined || room < LEAST_PART) return [{ ...first, text: truncateText(first.text, width) }];
  return [first, { ...second, text: truncateText(second.text, room) }];
}
