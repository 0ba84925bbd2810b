/** The inputs that the user typed during a turn, and when each is sent. */
import { safeLine } from "../../../base/terminal-text.js";
import { truncateText } from "../../../base/text-width.js";
import type { QueuedInput, State } from "../state.js";
import type { Theme } from "../theme.js";

const MOST_SHOWN = 4;

/** `key`: the one that takes them back. */
export function queueLines(
  { queue }: State,
  { width, theme, key }: { readonly width: number; readonly theme: Theme; readonly key: string },
): string[] {
  if (queue.length === 0) return [];
  const shown = queue.slice(0, MOST_SHOWN).map((input) => theme.dim(truncateText(lineOf(input), width)));
  const more = queue.length - shown.length;
  if (more > 0) shown.push(theme.dim(truncateText(`  and ${more} more`, width)));
  const own = queue.some((input) => input.own);
  if (own) shown.push(theme.dim(truncateText(`  ${key} takes them back into the editor`, width)));
  return shown;
}

function lineOf({ text, images, audio = 0, delivery }: QueuedInput): string {
  const when = delivery === "steer" ? "next step" : "after this turn";
  const pictures = images === 0 ? "" : ` [${images} image${images === 1 ? "" : "s"}]`;
  const sounds = audio === 0 ? "" : ` [${audio} audio file${audio === 1 ? "" : "s"}]`;
  return `↳ ${when}: ${safeLine(text.replaceAll("\n", " "))}${pictures}${sounds}`;
}
