/**
 * The skills of a session. This module has what every session needs: the list of the built-in skills and the description of the tool.
 * The rest loads if there are other skills, or with the first use.
 */
import { type ExtensionFiles, extensionStamp } from "../../base/extension-files.js";
import type { Tool } from "../../engine/ports.js";
import type { SessionPart } from "../../feature/part.js";
import { builtInSkills } from "./built-in.js";
import { skillCatalogue } from "./catalogue.js";
import type { SessionSkills, SkillsContext } from "./session-skills.js";
import { ownTexts, skillsIn } from "./skill-text.js";
import description from "./skill-tool.md";

/** The tool that loads a skill, without its code. It does not name the skills, so that its bytes never change. */
export const SKILL_TOOL: Omit<Tool, "run"> = {
  name: "skill",
  description: description.trim(),
  set: "read",
  expendable: true,
  concurrencySafe: true,
  mutating: false,
  ownResults: true,
  habits: {
    names: ["activate_skill", "skills", "use_skill", "load_skill", "invoke_skill", "run_skill", "read_skill"],
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

export async function skills(context: SkillsContext): Promise<SessionPart> {
  const { extensions, settings } = context;
  if (!context.mayOffer(SKILL_TOOL)) return { name: "skills" };
  const ofProgram = builtInSkills(settings).map(({ facts }) => ({ ...facts, scope: "built-in" as const }));
  let live: Promise<SessionSkills> | undefined;
  const open = () => {
    live ??= import("./session-skills.js").then(({ SessionSkills }) => SessionSkills.open(context));
    return live;
  };
  let isFirst = true;
  let used = hasSkills(extensions) ? await open() : undefined;
  const tool: Tool = { ...SKILL_TOOL, run: async (args) => (await open()).run(args) };
  return {
    name: "skills",
    tools: [tool],
    touched: async (paths) => used?.touched(paths),
    // A model that needs a short prompt does not get the tool: people and triggers start skills for it.
    promptSection: (size) =>
      size === "small" ? undefined : (used?.catalogue() ?? skillCatalogue(ofProgram, ({ text }) => text)),
    refresh: async () => void (await used?.follow()),
    inputNotice: async (input) => {
      // The skills at the start are known; a new search would delay the first request.
      if (!isFirst) await extensions.refresh();
      isFirst = false;
      if (hasSkills(extensions)) used ??= await open();
      return used?.noticeFor(input);
    },
    pinned: async (place) => {
      const isIdle = live === undefined && skillsIn(ownTexts(context.conversation())).length === 0;
      return isIdle ? [] : (await open()).pinned(place);
    },
    loaded: async () => [["skills", (await open()).registry.list().map(({ id }) => id)]],
    close: async () => (await live)?.close(),
    commandsStamp: () => extensionStamp(extensions, ["skill"]),
    commands: async () => {
      used = await open();
      await used.follow();
      return (await import("./commands.js")).sessionCommands(used, context);
    },
  };
}

function hasSkills(extensions: ExtensionFiles): boolean {
  return extensions.of("skill").length > 0;
}
