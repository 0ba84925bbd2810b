/** The tool by which the model searches the knowledge base and records in it, without its code. */
import { schemaProblems } from "../../base/json-schema.js";
import type { Tool } from "../../engine/ports.js";
import type { JsonObject } from "../../protocol/json.js";
import description from "./kb-tool.md";

const INPUT: JsonObject = {
  type: "object",
  properties: {
    action: { type: "string", enum: ["search", "record"] },
    text: { type: "string" },
    kind: { type: "string", enum: ["note", "finding", "decision", "question", "hypothesis"] },
    all: { type: "boolean", description: "search all projects" },
  },
  required: ["action", "text"],
};

export const KB_TOOL: Omit<Tool, "run"> = {
  name: "kb",
  description: description.trim(),
  set: "edit",
  concurrencySafe: false,
  mutating: true,
  onlyReads: ({ action }) => action === "search",
  check: (args) => {
    const problems = schemaProblems(INPUT, args);
    const isEmpty = typeof args.text === "string" && args.text.trim() === "";
    return isEmpty ? [`text is empty: say what to ${args.action === "search" ? "look for" : "record"}`] : problems;
  },
  describe: ({ action, text, kind = "note" }) =>
    action === "search" ? `Search the knowledge base: ${text}` : `Record in the knowledge base, as a ${kind}: ${text}`,
  inputSchema: INPUT,
};
