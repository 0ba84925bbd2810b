/**
 * The skills of a session. This module has what every session needs: the list of the built-in skills and the description of the tool.
 * The rest loads if there are other skills, or with the first use.
 */
import { type ExtensionFiles, extensionStamp } from "../../base/extension-files.js";
import { BUILT_IN_SKILLS } from "../../context/skills/built-in.js";
import { skillCatalogue } from "../../context/skills/catalogue.js";
import { SKILL_TOOL } from "../../context/skills/skill-tool-definition.js";
import { ownTexts, skillsIn } from "../../context/skills/skills-in.js";
import type { Tool } from "../../engine/ports.js";
import { hasBuiltInSkills } from "../settings/skill-packs.js";
import type { CreateBuiltIn } from "./built-in.js";
import type { LiveSkills } from "./live-skills.js";

const OF_PROGRAM = BUILT_IN_SKILLS.map(({ facts }) => ({ ...facts, scope: "built-in" as const }));

export const skills: CreateBuiltIn = async (opening) => {
  const { engine, extensions, current, parent } = opening;
  const mayLoad = parent?.mayUse(SKILL_TOOL.name) ?? true;
  if (!mayLoad || !engine.loaded.settings.tool_sets.value.offers(SKILL_TOOL.name, "read")) return { name: "skills" };
  const ofProgram = hasBuiltInSkills(engine.loaded.settings.skill_packs.value) ? OF_PROGRAM : [];
  let live: Promise<LiveSkills> | undefined;
  const open = () => {
    live ??= import("./live-skills.js").then(({ LiveSkills }) => LiveSkills.open(opening));
    return live;
  };
  const own = hasSkills(extensions) ? await open() : undefined;
  let isFirst = true;
  let used = own;
  const tool: Tool = { ...SKILL_TOOL, run: async (args) => (await open()).run(args) };
  return {
    name: "skills",
    tools: [tool],
    services: {
      content: {
        touched: async (paths) => joined(await engine.content?.touched(paths), await used?.touched(paths)),
        forget: () => engine.content?.forget(),
      },
    },
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
      const isIdle = live === undefined && skillsIn(ownTexts(current.run?.conversation ?? [])).length === 0;
      return isIdle ? [] : (await open()).pinned(place);
    },
    loaded: async () => [["skills", (await open()).registry.list().map(({ id }) => id)]],
    close: async () => (await live)?.close(),
    commandsStamp: () => extensionStamp(extensions, ["skill"]),
    commands: async () => {
      used = await open();
      await used.follow();
      const { skillCommands } = await import("../commands/skills.js");
      return skillCommands(used, opening.built.get("events"));
    },
  };
};

function joined(...texts: readonly (string | undefined)[]): string | undefined {
  const given = texts.filter((text) => text !== undefined);
  return given.length === 0 ? undefined : given.join("\n\n");
}

function hasSkills(extensions: ExtensionFiles): boolean {
  return extensions.of("skill").length > 0;
}
