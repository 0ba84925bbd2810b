/** The tool by which the model keeps notes, without its code. */
import type { Tool } from "../../engine/ports.js";
import description from "./memory-tool.md";

export const MEMORY_TOOL: Omit<Tool, "run"> = {
  name: "memory",
  description: description.trim(),
  set: "edit",
  concurrencySafe: false,
  mutating: true,
  ownResults: true,
  onlyReads: ({ action }) => action === "find",
  inputSchema: {
    type: "object",
    properties: {
      action: { type: "string", enum: ["save", "update", "forget", "find"] },
      name: { type: "string" },
      description: { type: "string", description: "one line" },
      content: { type: "string" },
      type: { type: "string", enum: ["user", "feedback", "project", "reference"] },
      scope: { type: "string", enum: ["user", "project"], description: "user: for every folder" },
    },
    required: ["action"],
  },
};
