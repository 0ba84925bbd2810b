/** The tool by which the model searches the knowledge base and records in it, without its code. */
import type { Tool } from "../../engine/ports.js";
import description from "./kb-tool.md";

export const KB_TOOL: Omit<Tool, "run"> = {
  name: "kb",
  description: description.trim(),
  set: "edit",
  concurrencySafe: false,
  mutating: true,
  onlyReads: ({ action }) => action === "search",
  inputSchema: {
    type: "object",
    properties: {
      action: { type: "string", enum: ["search", "record"] },
      text: { type: "string" },
      kind: { type: "string", enum: ["note", "finding", "decision", "question", "hypothesis"] },
      all: { type: "boolean", description: "search all projects" },
    },
    required: ["action", "text"],
  },
};
