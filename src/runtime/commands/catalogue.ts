/** Every built-in command, as data: for completion, documentation and checks. The path to a model request does not read it. */
import { usageOf } from "../../commands/usage.js";
import { INSTRUCTION_COMMANDS } from "../../context/instructions/commands.js";
import { subject as knowledgeBase } from "../../context/knowledge-base/commands.js";
import { subject as memory } from "../../context/memory/commands.js";
import { subject as context } from "../../context/pinned/commands.js";
import { subject as promptFiles } from "../../context/prompt-files/commands.js";
import { subject as retrieval } from "../../context/retrieval/commands.js";
import { subject as skills } from "../../context/skills/commands.js";
import { subject as cost } from "../../costs/commands.js";
import { subject as mcp } from "../../extensions/mcp/commands.js";
import { subject as agents } from "../../extensions/subagents/commands.js";
import { type Argument, type CommandSpec, mayUse, namespaceOf, type Subject, worksOn } from "../../feature/command.js";
import type { ArgumentInfo, CommandInfo } from "../../protocol/queries.js";
import { subject as bench } from "../../providers/bench/commands.js";
import { subject as ollama } from "../../providers/ollama/commands.js";
import { subject as rawTraffic } from "../../providers/raw-traffic/part.js";
import { subject as route } from "../../providers/routing/commands.js";
import { subject as models } from "../../providers/selection/commands.js";
import { subject as audit } from "../../security/audit/commands.js";
import { subject as auth, creds } from "../../security/credentials/commands.js";
import { subject as permissions, planSubject } from "../../security/permissions/commands.js";
import { subject as ports } from "../../security/ports/commands.js";
import { subject as safeMode } from "../../security/safe-mode/commands.js";
import { ANSWER_COMMANDS } from "../../tools/answer/commands.js";
import { BACKGROUND_COMMANDS } from "../../tools/background-commands.js";
import { CONFIG_RESET, CONFIG_SET } from "../settings/save-settings.js";
import * as engine from "./engine.js";
import { subject as profiles } from "./profiles.js";
import * as program from "./program.js";
import * as screen from "./screen.js";
import * as sessions from "./sessions/specs.js";
import { hooksSubject, subject as sources } from "./sources.js";
import * as conversation from "./specs.js";

/** The subjects that declare their commands in their own folder. */
export const DECLARED: readonly Subject[] = [
  agents,
  context,
  promptFiles,
  skills,
  memory,
  retrieval,
  knowledgeBase,
  mcp,
  permissions,
  safeMode,
  planSubject,
  audit,
  models,
  route,
  bench,
  ollama,
  auth,
  cost,
  ports,
  rawTraffic,
  profiles,
  sources,
  hooksSubject,
];

/** The subjects of a conversation's commands, with the heading that `/help` puts above them. */
const SUBJECTS: readonly (readonly [heading: string, subject: object])[] = [
  ["Conversation", conversation],
  ["Files and context", BACKGROUND_COMMANDS],
  ["Files and context", [...ANSWER_COMMANDS, ...INSTRUCTION_COMMANDS]],
  ["Sessions", sessions],
  ["Conversation", screen],
  ["Conversation", [CONFIG_SET, CONFIG_RESET]],
  ...DECLARED.map(({ heading, specs }) => [heading, specs] as const),
  ["Engine", engine],
];

const specsOf = (subject: object): readonly CommandSpec[] => Object.values(subject).filter(isSpec);

/** The commands of a session. */
export const SESSION_SPECS: readonly CommandSpec[] = SUBJECTS.flatMap(([, subject]) => specsOf(subject));

/** Holds what a person needs most: `/` lists these first. */
const DAILY: readonly string[] = ["model", "resume", "clear", "undo", "rewind", "context", "compact", "help"];

/** The place of a command in a list: daily ones, then the headings of `/help`. */
function rankOf(spec: CommandSpec): number {
  const daily = DAILY.indexOf(namespaceOf(spec.name) ?? spec.name);
  return daily === -1 ? DAILY.length + HELP_GROUPS.indexOf(helpGroupOf(spec)) : daily;
}

/** By the first word of its name or of an alias. */
export function isSessionCommand(name: string): boolean {
  return SESSION_SPECS.some((spec) =>
    [spec.name, ...(spec.aliases ?? [])].some((each) => (namespaceOf(each) ?? each) === name),
  );
}

const EVERY_DAY = "Every day";

/** The headings of `/help` in their order; the last one has what is not built in. */
export const HELP_GROUPS: readonly string[] = [EVERY_DAY, ...new Set(SUBJECTS.map(([heading]) => heading)), "Your own"];

/** Finds the heading of a command. One that is not built in belongs to its namespace: `/skills:pdf` to the skills. */
export function helpGroupOf({ name }: Pick<CommandSpec, "name">): string {
  const has = (known: (spec: CommandSpec) => boolean) =>
    SUBJECTS.find(([, subject]) => specsOf(subject).some(known))?.[0];
  const namespace = namespaceOf(name);
  if (DAILY.includes(namespace ?? name)) return EVERY_DAY;
  const found = has((spec) => spec.name === name);
  const ofNamespace = namespace && has((spec) => namespaceOf(spec.name) === namespace || spec.name === namespace);
  const ofProgram = specsOf(program).some((spec) => spec.name === name) ? "Engine" : "Your own";
  return found ?? ofNamespace ?? ofProgram;
}

/** The commands that only `oxbow NAME` has. */
export const PROGRAM_SPECS: readonly CommandSpec[] = specsOf(program);

/** One line of help for a first word of `oxbow`. */
export function programSummary(name: string): string {
  const namespace = NAMESPACES[name];
  if (namespace !== undefined) return namespace;
  // `/run` of a conversation is another command than `oxbow run`.
  const specs = [
    ...PROGRAM_SPECS,
    ...SESSION_SPECS.filter((spec) => worksOn(spec, { surface: "shell" })),
    ...SESSION_SPECS,
  ];
  return specs.find((spec) => spec.name === name || spec.aliases?.includes(name))?.summary ?? "";
}

const NAMESPACES: Readonly<Record<string, string | undefined>> = {
  ...sessions.SESSION_NAMESPACE,
  [creds.name]: creds.summary,
  ...Object.fromEntries(DECLARED.map(({ name, summary }) => [name, summary])),
  ...program.CONFIG_NAMESPACE,
  ...program.TOKEN_NAMESPACE,
  ...program.COMPLETION_NAMESPACE,
};

function isSpec(value: unknown): value is CommandSpec {
  return typeof value === "object" && value !== null && "summary" in value && "places" in value;
}

const SLASH = { surface: "slash" } as const;

export function commandInfos(specs: readonly CommandSpec[] = SESSION_SPECS): CommandInfo[] {
  return specs
    .filter((spec) => worksOn(spec, SLASH))
    .map((spec) => ({ spec, rank: rankOf(spec) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ spec }) => ({
      name: spec.name,
      aliases: spec.aliases ?? [],
      usage: usageOf(spec, SLASH),
      summary: spec.summary,
      arguments: (spec.arguments ?? []).map(argumentInfo),
      for_people: !mayUse(spec, "agents"),
      by_client: spec.places.includes("in a client"),
      during_turn: spec.places.includes("during a turn"),
    }));
}

function argumentInfo({ name, kind, optional, rest, complete }: Argument): ArgumentInfo {
  const source = typeof complete === "string" ? complete : kind === "path" ? "file" : undefined;
  return {
    name,
    ...(optional !== undefined && { optional: true as const }),
    ...(rest !== undefined && { rest: true as const }),
    ...(typeof complete === "object" && { choices: complete }),
    ...(source !== undefined && { source }),
  };
}
