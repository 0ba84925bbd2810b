import type { ToolOutcome } from "../../engine/ports.js";
import { ownText } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import { withoutForgedInstructions } from "../../security/untrusted/forged-instructions.js";
import type { CreateToolLink } from "../services.js";

/** Adds the instruction files of a folder to the first result that touches it. No result from outside can imitate them. */
export const create: CreateToolLink =
  ({ content }) =>
  async (call, { definition }, next) => {
    const answered = await next(call);
    const outcome = definition.ownResults === true ? inOwnWords(answered) : withoutForgeries(answered);
    if (content === undefined) return outcome;
    const paths = touchedPaths(call.args);
    const instructions = paths.length === 0 ? undefined : await content.touched(paths);
    return instructions === undefined ? outcome : { ...outcome, content: [...outcome.content, ownText(instructions)] };
  };

function inOwnWords(outcome: ToolOutcome): ToolOutcome {
  const content = outcome.content.map((block) => (block.type === "text" ? ownText(block.text) : block));
  return { ...outcome, content };
}

function withoutForgeries(outcome: ToolOutcome): ToolOutcome {
  let changed = false;
  const content = outcome.content.map((block) => {
    if (block.type !== "text" || block.own === true) return block;
    const safe = withoutForgedInstructions(block.text);
    changed ||= safe !== block.text;
    return safe === block.text ? block : { ...block, text: safe };
  });
  return changed ? { ...outcome, content } : outcome;
}

const PATCHED = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm;

/** Argument names of the built-in tools. */
function touchedPaths({ path, patch }: JsonObject): readonly string[] {
  if (typeof path === "string") return [path];
  return typeof patch === "string" ? [...patch.matchAll(PATCHED)].map(([, file = ""]) => file.trim()) : [];
}
