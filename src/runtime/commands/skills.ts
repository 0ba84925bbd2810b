/** `/skills`, `/skills:reload` and a command for each skill. */

import { wordsIn } from "../../base/shell-word.js";
import { renderTable } from "../../base/text-table.js";
import { SKILLS_LIST, SKILLS_RELOAD } from "../../commands/catalogue/skills.js";
import { asValue, type Command, type CommandAnswer, type CommandContext } from "../../commands/command.js";
import type { Skill, SkillRegistry } from "../../context/skills/registry.js";
import { text } from "../../protocol/content.js";
import type { SessionEvents } from "../parts/event-hooks.js";
import type { LiveSkills } from "../parts/live-skills.js";
import { hookedPrompt } from "./prompt-expansion.js";

const TAKEN: ReadonlySet<string> = new Set(["list", "reload", "validate"]);

export function skillCommands(live: LiveSkills, events: SessionEvents): readonly Command[] {
  const reload: Command = {
    ...SKILLS_RELOAD,
    run: async (_args, context) => {
      const changed = await live.reload();
      const { text: list, value } = listing(live.registry, context);
      return { text: `${changed ? "The skills changed." : "Nothing changed."}\n\n${list}`, value };
    },
  };
  const list: Command = { ...SKILLS_LIST, run: (_args, context) => listing(live.registry, context) };
  const own = live.registry.list().filter(({ id, forPeople }) => forPeople && !TAKEN.has(id));
  return [list, reload, ...own.map((skill) => useCommand(skill, live, { events }))];
}

function useCommand(skill: Skill, live: LiveSkills, { events }: { readonly events: SessionEvents }): Command {
  const hint = skill.argumentHint ?? "WHAT";
  return {
    name: `skills:${skill.id}`,
    summary: skill.description.slice(0, 200),
    usage: `/skills:${skill.id} [${hint.replace(/^\[(.*)\]$/, "$1")}]`,
    arguments: [{ name: "WHAT", kind: "line", optional: true, rest: "text" }],
    reaches: "session",
    users: ["people", "agents"],
    places: ["between turns"],
    run: (args, context) => {
      const { id, scope } = skill;
      const words = args.text("WHAT") ?? "";
      const expand = async () => {
        const notice = await live.activate(skill, withArguments(await skill.body(), words));
        const typed = `/skills:${id}${words === "" ? "" : ` ${words}`}`;
        return { text: "", value: { skill: id }, turn: { input: [text(typed)], notice } };
      };
      return hookedPrompt({ name: id, typed: `skills:${id}`, line: words, source: scope }, { events, context, expand });
    },
  };
}

/** Skills that are also commands of other tools name their arguments. */
function withArguments(body: string, line: string): string {
  const words = wordsIn(line);
  return body.replace(/(?<!\\)\$(?:ARGUMENTS\[(\d{1,3})\]|ARGUMENTS\b|\{ARGUMENTS\})/g, (all, index?: string) =>
    index === undefined ? line : (words[Number(index)] ?? all),
  );
}

/** All skills, and below them the problems. */
export function listing(registry: SkillRegistry, { screen }: Pick<CommandContext, "screen">): CommandAnswer {
  const skills = registry.list();
  const columns = [
    { header: "skill", value: ({ id }: Skill) => id, priority: 2 },
    { header: "from", value: ({ scope }: Skill) => scope, priority: 1 },
    { header: "description", value: ({ description }: Skill) => description, maxWidth: 100 },
  ];
  const table = () => renderTable(columns, skills, { width: screen?.width, color: screen?.color ?? false });
  const problems = registry.problems.map(({ path, message, effect }) => {
    return `${path}: ${message}${effect === "left out" ? " (left out)" : ""}`;
  });
  const lines = [
    skills.length === 0
      ? "No skills yet. A skill is a folder with a SKILL.md in .oxbow/skills or ~/.config/oxbow/skills: docs/skills.md"
      : table(),
    ...(problems.length === 0 ? [] : ["", "Problems:", ...problems]),
  ];
  const value = {
    skills: skills.map(({ id, scope, description, path, files, license, compatibility, allowedTools, metadata }) => ({
      ...{ name: id, scope, description, files, metadata, allowed_tools: allowedTools },
      ...(path !== undefined && { path }),
      ...(license !== undefined && { license }),
      ...(compatibility !== undefined && { compatibility }),
    })),
    problems: registry.problems.map((problem) => ({ ...problem })),
  };
  return { text: lines.join("\n"), value: asValue(value) };
}
