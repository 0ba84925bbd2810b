/** The tool by which the model searches the store that is on, without its code. */
import type { Tool } from "../../engine/ports.js";
import description from "./retrieve-tool.md";

export const RETRIEVE_TOOL: Omit<Tool, "run"> = {
  name: "retrieve",
  description: description.trim(),
  set: "read",
  concurrencySafe: true,
  mutating: false,
  // The passages are marked.
  ownResults: true,
  inputSchema: {
    type: "object",
    properties: {
      query: { type: "string" },
      limit: { type: "integer", minimum: 1, maximum: 20, description: "passages, default 5" },
    },
    required: ["query"],
  },
};
