/**
 * Text with roles. The layout breaks spans into lines first and paints them afterwards, so a style never crosses a line break and no
 * code measures text with escape sequences.
 *
 * The text of a span has passed `safeText`.
 */
import type { Role, Theme } from "../theme.js";

export interface Span {
  readonly text: string;
  /** The innermost first. */
  readonly roles: readonly Role[];
  /** Where a link leads. */
  readonly url?: string;
  /** The address of a file that a tool named. An answer of the model never links to a file: a click may start a program. */
  readonly file?: string;
}

export function span(text: string, ...roles: readonly Role[]): Span {
  return { text, roles };
}

export function paintSpan({ text, roles, url, file }: Span, theme: Theme): string {
  if (text === "") return "";
  const painted = roles.reduce((inner, role) => theme[role](inner), text);
  const target = theme.links ? targetOf(url, file) : undefined;
  if (target === undefined) return painted;
  // The same id on every fragment makes the terminal treat them as one link.
  return `\u001b]8;id=${idOf(target)};${target}\u001b\\${painted}\u001b]8;;\u001b\\`;
}

export function plainText(spans: readonly Span[]): string {
  return spans.map(({ text }) => text).join("");
}

/** Whether the theme has no styles, so that marks replace colours. */
export function isPlain(theme: Theme): boolean {
  return theme.strong("x") === "x";
}

/** The mark around code in prose. */
export function codeMarkOf(theme: Theme): string {
  return isPlain(theme) ? "`" : "";
}

const MAX_URL = 2000;

/** Only schemes that a click may open; undefined for others. A target contains only printable ASCII. */
function targetOf(url: string | undefined, file: string | undefined): string | undefined {
  const target = file ?? (url !== undefined && /^(?:https?:\/\/|mailto:)/i.test(url) ? url : undefined);
  if (target === undefined || target.length > MAX_URL) return undefined;
  return target.replace(/[^\x21-\x7e]/gu, (char) => {
    try {
      return encodeURIComponent(char);
    } catch {
      return "";
    }
  });
}

function idOf(url: string): string {
  let hash = 5381;
  for (let at = 0; at < url.length; at++) hash = ((hash * 33) ^ url.charCodeAt(at)) >>> 0;
  return hash.toString(36);
}
