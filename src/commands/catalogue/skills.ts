/** Commands about skills. */
import type { CommandSpec } from "../command.js";

export const SKILLS_NAMESPACE = { skills: "list, check, reload and use skills" };

export const SKILLS_LIST: CommandSpec = {
  name: "skills:list",
  aliases: ["skills"],
  summary: "list the skills, where they are from and what is wrong with them",
  shellFlags: [
    { name: "cwd", value: "DIR", complete: "folder", help: "the folder to look from (default: the current one)" },
  ],
  reaches: "session",
  users: ["people", "agents"],
  places: ["during a turn", "between turns", "without a session"],
};

export const SKILLS_RELOAD: CommandSpec = {
  name: "skills:reload",
  summary: "search for skills again",
  reaches: "session",
  users: ["people", "agents"],
  places: ["during a turn", "between turns"],
};

export const SKILLS_VALIDATE: CommandSpec = {
  name: "skills:validate",
  summary: "check skills against the open specification",
  arguments: [
    { name: "FOLDER", kind: "path", rest: "list", complete: "folder", missing: "Give the folder that holds SKILL.md." },
  ],
  reaches: "user",
  users: ["people", "agents"],
  places: ["without a session"],
};
