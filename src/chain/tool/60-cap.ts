import { capText } from "../../base/cap-text.js";
import { groupDigits } from "../../base/group-digits.js";
import { ownText, type ResultContent } from "../../protocol/content.js";
import type { CreateToolLink } from "../services.js";

/** A limit for tools that do not cap their own results with better advice. It counts all parts of a result together. */
const MOST_CHARACTERS = 100_000;
/** A part with less room than this is left out: a few words of it do not help. */
const LEAST_CHARACTERS = 1000;

export const create: CreateToolLink =
  ({ outputs }) =>
  async (call, _context, next) => {
    const outcome = await next(call);
    const texts = outcome.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
    if (texts.reduce((sum, text) => sum + text.length, 0) <= MOST_CHARACTERS) return outcome;
    const advice = (await outputs?.save(texts.join("\n"))) ?? "ask for a smaller part to see it";
    return { ...outcome, content: capped(outcome.content, advice) };
  };

/** What fits, from the beginning; one part is cut in its middle, and the parts after it are left out. */
function capped(content: readonly ResultContent[], advice: string): readonly ResultContent[] {
  const kept: ResultContent[] = [];
  let room = MOST_CHARACTERS;
  let missing = 0;
  for (const block of content) {
    if (block.type !== "text") {
      kept.push(block);
    } else if (block.text.length <= room) {
      kept.push(block);
      room -= block.text.length;
    } else if (room >= LEAST_CHARACTERS) {
      kept.push({ ...block, text: capText(block.text, room, advice) });
      room = 0;
    } else {
      missing += block.text.length;
    }
  }
  if (missing > 0) kept.push(ownText(`[… ${groupDigits(missing)} more characters are left out: ${advice} …]`));
  return kept;
}
