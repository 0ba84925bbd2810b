import { cutMiddle, lineBreaks } from "../../base/cap-text.js";
import { groupDigits } from "../../base/group-digits.js";
import { ownText, type ResultContent } from "../../protocol/content.js";
import type { CreateToolLink } from "../services.js";

/** What one call adds to the conversation at most; a file holds the rest. It counts all parts of a result together. */
const MOST_CHARACTERS = 12_000;
/** The limit for tools that give a part that was asked for, or text of Oxbow's own. */
const MOST_OF_PAGES = 100_000;
/** A part with less room than this is left out: a few words of it do not help. */
const LEAST_CHARACTERS = 1000;
const NOT_KEPT = () => "ask for a smaller part to see it";

export const create: CreateToolLink =
  ({ outputs }) =>
  async (call, context, next) => {
    const outcome = await next(call);
    const { pages, ownResults } = context.definition;
    const most = pages === true || ownResults === true ? MOST_OF_PAGES : MOST_CHARACTERS;
    const texts = outcome.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
    if (texts.reduce((sum, text) => sum + text.length, 0) <= most) return outcome;
    const advice = (await outputs?.save(texts.join("\n"))) ?? NOT_KEPT;
    return { ...outcome, content: capped(outcome.content, { most, advice }) };
  };

/** What fits, from the beginning; one part is cut in its middle, and the parts after it are left out. */
function capped(
  content: readonly ResultContent[],
  { most, advice }: { readonly most: number; readonly advice: (line: number) => string },
): readonly ResultContent[] {
  const kept: ResultContent[] = [];
  let room = most;
  let missing = 0;
  let lines = 0;
  let firstMissing = 0;
  for (const block of content) {
    if (block.type !== "text") {
      kept.push(block);
      continue;
    }
    const before = lines;
    lines += lineBreaks(block.text) + 1;
    const isNote = block.own === true && block.text.length < LEAST_CHARACTERS;
    if (isNote || block.text.length <= room) {
      kept.push(block);
      room = Math.max(0, room - block.text.length);
    } else if (room >= LEAST_CHARACTERS) {
      const { head, note, tail } = cutMiddle(block.text, room, (line) => advice(before + line));
      kept.push({ ...block, text: head }, ownText(note), { ...block, text: tail });
      room = 0;
    } else {
      if (missing === 0) firstMissing = before + 1;
      missing += block.text.length;
    }
  }
  if (missing > 0)
    kept.push(ownText(`[… ${groupDigits(missing)} more characters are left out: ${advice(firstMissing)} …]`));
  return kept;
}
