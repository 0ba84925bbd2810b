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
  habits: {
    names: ["activate_skill", "use_skill", "load_skill", "invoke_skill", "run_skill", "read_skill"],
    parameters: { name: ["skill", "skill_name", "skill_id", "command"], file: ["path", "resource"] },
    unused: {
      args: "the skill is text to follow; it takes no arguments.",
      arguments: "the skill is text to follow; it takes no arguments.",
    },
  },
  inputSchema: {
    type: "object",
    properties: { name: { type: "string" }, file: { type: "string" } },
  },
};
