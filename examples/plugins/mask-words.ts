/**
 * Hides words in the results of tools before the model gets them, such as names of customers. The log of the session does not get them either.
 *
 *     [plugin.mask-words]
 *     words = ["Acme", "Jane Doe"]
 */
import type { Oxbow, ToolOutcome } from "oxbow/plugin";

export default function register(oxbow: Oxbow): void {
  const { words } = oxbow.settings;
  const hidden = Array.isArray(words) ? words.filter((word) => typeof word === "string" && word !== "") : [];
  if (hidden.length === 0) return;
  const pattern = new RegExp(hidden.map((word) => String(word).replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "gi");
  let count = 0;

  oxbow.addToolLink({
    // Near the tool itself: the links before it see the masked result.
    name: "92-mask-words",
    run: async (call, _context, next) => masked(await next(call)),
  });

  oxbow.addCommand({
    name: "count",
    summary: "show how many words were masked",
    run: () => ({ text: `${count} words were masked.`, value: count }),
  });

  function masked(outcome: ToolOutcome): ToolOutcome {
    const content = outcome.content.map((block) =>
      block.type === "text" ? { ...block, text: block.text.replace(pattern, mask) } : block,
    );
    return { ...outcome, content };
  }

  function mask(): string {
    count++;
    return "[masked]";
  }
}
