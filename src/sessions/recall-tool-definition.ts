/** The tool by which the model finds what a summary replaced, without its code. */
import type { Tool } from "../engine/ports.js";
import description from "./recall-tool.md";

export const RECALL_TOOL: Omit<Tool, "run"> = {
  name: "recall",
  description: description.trim(),
  set: "read",
  concurrencySafe: true,
  mutating: false,
  ownResults: true,
  inputSchema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
};
