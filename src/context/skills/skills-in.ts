/** The skills in a conversation. Only Oxbow's own text counts: text of a file or a page never starts a skill. */
import type { Message } from "../../protocol/content.js";

/** The texts of inputs, of Oxbow in results, and of the skill tool. */
export function ownTexts(messages: readonly Message[]): readonly string[] {
  return messages.flatMap(({ role, content }) => {
    if (role === "assistant") return [];
    return content.flatMap((block) => {
      if (block.type === "text") return [block.text];
      if (block.type !== "tool_result") return [];
      const { tool, content: parts } = block;
      return parts.flatMap((part) => (part.type === "text" && (part.own || tool === "skill") ? [part.text] : []));
    });
  });
}

/** By name, in the order of their first appearance. */
export function skillsIn(texts: readonly string[]): readonly string[] {
  const names = texts.flatMap((text) =>
    text.includes("<skill name=")
      ? [...text.matchAll(/^<skill name="([^"\n]{1,200})">$/gm)].map(([, name = ""]) => name)
      : [],
  );
  return [...new Set(names)];
}
