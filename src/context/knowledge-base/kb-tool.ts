/** Runs the model's calls of the knowledge base. What it finds is text from outside: others may have written it. */
import type { ToolOutcome } from "../../engine/ports.js";
import { ownText, text } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import { found, fullText, type KnowledgePort, record } from "./commands.js";
import { isKind } from "./dump.js";

export function runKbTool(args: JsonObject, port: KnowledgePort): ToolOutcome {
  const { action, kind = "note" } = args;
  const words = typeof args.text === "string" ? args.text.trim() : "";
  if (words === "")
    return refused(`text is empty: ${action === "search" ? "say what to look for" : "say what to record"}.`);
  if (action === "record") {
    if (typeof kind !== "string" || !isKind(kind)) {
      return refused("kind is one of note, finding, decision, question, hypothesis.");
    }
    return { status: "ok", content: [ownText(record(port, [{ kind, text: words }]).text)] };
  }
  if (action !== "search") return refused("action is search or record.");
  const observations = found(port, words, { all: args.all === true });
  if (observations.length === 0)
    return { status: "ok", content: [ownText("No observation matches. Try other words.")] };
  return { status: "ok", content: [text(observations.map(fullText).join("\n\n"))] };
}

function refused(message: string): ToolOutcome {
  return { status: "error", content: [ownText(message)] };
}
