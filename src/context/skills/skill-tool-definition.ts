/** The tool that loads a skill, without its code. It does not name the skills, so that its bytes never change. */
import type { Tool } from "../../engine/ports.js";
import description from "./skill-tool.md";

export const SKILL_TOOL: Omit<Tool, "run"> = {
  name: "skill",
  description: description.trim(),
  set: "read",
  concurrencySafe: true,
  mutating: false,
  ownResults: true,
  inputSchema: {
    type: "object",
    properties: { name: { type: "string" }, file: { type: "string" } },
  },
};
