/** `/skills …`, a command for each skill, and `oxbow skills …`. */
import { wordsIn } from "../../base/shell-word.js";
import { renderTable } from "../../base/text-table.js";
import {
  asValue,
  BETWEEN_TURNS,
  COMMAND_EXIT,
  type Command,
  type CommandAnswer,
  type CommandContext,
  type CommandOf,
  EVERYONE,
  EVERYWHERE,
  IN_SESSION,
  IN_SHELL,
  type Subject,
  withPort,
} from "../../feature/command.js";
import { text } from "../../protocol/content.js";
import type { Skill, SkillRegistry } from "./registry.js";
import type { SessionSkills, SkillsContext } from "./session-skills.js";
import { skillSettings } from "./settings.js";

interface SkillsPort {
  readonly registry: SkillRegistry;
}

const LIST: CommandOf<SkillsPort> = {
  name: "skills:list",
  aliases: ["skills"],
  summary: "list the skills, where they are from and what is wrong with them",
  shellFlags: [
    { name: "cwd", value: "DIR", complete: "folder", help: "the folder to look from (default: the current one)" },
  ],
  reaches: "session",
  users: EVERYONE,
  places: EVERYWHERE,
  run: (_args, { registry }, context) => listing(registry, context),
};

const RELOAD: CommandOf<SessionSkills> = {
  name: "skills:reload",
  summary: "search for skills again",
  reaches: "session",
  users: EVERYONE,
  places: IN_SESSION,
  run: async (_args, live, context) => {
    const changed = await live.reload();
    const { text: list, value } = listing(live.registry, context);
    return { text: `${changed ? "The skills changed." : "Nothing changed."}\n\n${list}`, value };
  },
};

const VALIDATE: Command = {
  name: "skills:validate",
  summary: "check skills against the open specification",
  arguments: [
    { name: "FOLDER", kind: "path", rest: "list", complete: "folder", missing: "Give the folder that holds SKILL.md." },
  ],
  users: EVERYONE,
  places: IN_SHELL,
  run: async (args) => {
    const { validateSkillFolder } = await import("./validate-skill.js");
    const results = args.list("FOLDER").map((folder) => ({ folder, errors: validateSkillFolder(folder) }));
    const lines = results.flatMap(({ folder, errors }) =>
      errors.length === 0 ? [`${folder}: valid`] : errors.map((error) => `${folder}: ${error}`),
    );
    const isValid = results.every(({ errors }) => errors.length === 0);
    return { text: lines.join("\n"), value: results, exitCode: isValid ? 0 : COMMAND_EXIT.failed };
  },
};

export const subject: Subject = {
  name: "skills",
  summary: "list, check, reload and use skills",
  heading: "Subagents, skills and extensions",
  specs: [LIST, RELOAD, VALIDATE],
  shell: {
    about: "Lists and checks skills. In a session: /skills, /skills:NAME.",
    more: "A skill of a project counts only when it is approved ('oxbow ack').",
    open: async (place) => {
      const port = async () => {
        const [{ SkillRegistry }, { builtInSkills }, settings, files] = await Promise.all([
          import("./registry.js"),
          import("./built-in.js"),
          place.settings(skillSettings),
          place.approved(["skill", "skill-file"], place.notify),
        ]);
        const of = (kind: string) => files.filter((file) => file.kind === kind);
        const skills = { skills: of("skill"), files: of("skill-file"), builtIn: builtInSkills(settings) };
        return { registry: await SkillRegistry.load(skills) };
      };
      return { commands: [...withPort([LIST], port), VALIDATE] };
    },
  },
};

const TAKEN: ReadonlySet<string> = new Set(["list", "reload", "validate"]);

export function sessionCommands(live: SessionSkills, session: SkillsContext): readonly Command[] {
  const own = live.registry.list().filter(({ id, forPeople }) => forPeople && !TAKEN.has(id));
  return [
    ...withPort<SessionSkills>([LIST, RELOAD], () => live),
    ...own.map((skill) => useCommand(skill, live, session)),
  ];
}

function useCommand(skill: Skill, live: SessionSkills, session: SkillsContext): Command {
  const hint = skill.argumentHint ?? "WHAT";
  return {
    name: `skills:${skill.id}`,
    summary: skill.description.slice(0, 200),
    usage: `/skills:${skill.id} [${hint.replace(/^\[(.*)\]$/, "$1")}]`,
    arguments: [{ name: "WHAT", kind: "line", optional: true, rest: "text" }],
    reaches: "session",
    users: EVERYONE,
    places: BETWEEN_TURNS,
    run: (args, { signal }) => {
      const { id, scope } = skill;
      const line = args.text("WHAT") ?? "";
      const typed = `skills:${id}`;
      return session.asPrompt({ name: id, typed, line, source: scope, signal }, async () => {
        const notice = await live.activate(skill, withArguments(await skill.body(), line));
        const input = [text(`/${typed}${line === "" ? "" : ` ${line}`}`)];
        return { text: "", value: { skill: id }, turn: { input, notice } };
      });
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

/** Shows all skills, and below them the problems. */
function listing(registry: SkillRegistry, { screen }: Pick<CommandContext, "screen">): CommandAnswer {
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
      ...{ path, license, compatibility },
    })),
    problems: registry.problems.map((problem) => ({ ...problem })),
  };
  return { text: lines.join("\n"), value: asValue(value) };
}
