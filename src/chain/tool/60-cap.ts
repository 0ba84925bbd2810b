import { capText } from "../../base/cap-text.js";
import type { CreateToolLink } from "../services.js";

/** A limit for tools that do not cap their own results with better advice. */
const MOST_CHARACTERS = 100_000;

export const create: CreateToolLink = () => async (call, _context, next) => {
  const outcome = await next(call);
  if (outcome.content.every((block) => block.type !== "text" || block.text.length <= MOST_CHARACTERS)) return outcome;
  const content = outcome.content.map((block) =>
    block.type === "text"
      ? { ...block, text: capText(block.text, MOST_CHARACTERS, "ask for a smaller part to see it") }
      : block,
  );
  return { ...outcome, content };
};
