/** `/agents`, `/agents:TYPE PROMPT` and `oxbow agents`. */
import { shorten } from "../../base/cap-text.js";
import { formatDuration } from "../../base/duration.js";
import { renderTable } from "../../base/text-table.js";
import {
  asValue,
  BETWEEN_TURNS,
  type Command,
  type CommandAnswer,
  type CommandContext,
  type CommandOf,
  EVERYONE,
  EVERYWHERE,
  type Subject,
  withPort,
} from "../../feature/command.js";
import { text } from "../../protocol/content.js";
import { type AgentType, type AgentTypes, agentTypes } from "./agent-types.js";
import type { RunningSubagent, SubagentsContext } from "./context.js";
import { worktreeRecords } from "./settings.js";
import type { LeftWorktree } from "./worktree.js";

interface AgentsPort {
  find(): Promise<AgentTypes>;
  /** The subagents of the session that work now. */
  running(): readonly RunningSubagent[];
  now(): number;
  left(): Promise<readonly LeftWorktree[]>;
}

const LIST: CommandOf<AgentsPort> = {
  name: "agents:list",
  aliases: ["agents"],
  summary: "list the types of subagents, where they were found and what they shadow",
  shellFlags: [{ name: "cwd", value: "DIR", complete: "folder", help: "the folder (default: the current one)" }],
  reaches: "session",
  users: EVERYONE,
  places: EVERYWHERE,
  run: (_args, port, context) => list(port, context),
};

export const subject: Subject = {
  name: "agents",
  summary: "types of subagents: list them, or start one with a prompt",
  heading: "Subagents, skills and extensions",
  specs: [LIST],
  shell: {
    about: "Lists the types of subagents that a session in this folder has, where they are and what they shadow.",
    more: "A type is a Markdown file in agents/ of your configuration folder, .oxbow/ or .claude/: docs/subagents.md",
    open: async ({ approved, notify, roots }) => {
      const find = async () => agentTypes(await approved(["agent"], notify));
      const port = { find, running: () => [], now: () => 0, left: () => leftIn(roots) };
      return { commands: withPort([LIST], () => port) };
    },
  },
};

/** Returns the list, and for a session that can start subagents a command for each type. */
export async function sessionCommands(
  { extensions, clock, roots, running }: SubagentsContext,
  { canStart }: { readonly canStart: boolean },
): Promise<readonly Command[]> {
  const find = async () => {
    await extensions.refresh();
    return agentTypes(extensions.of("agent"));
  };
  const listed = withPort([LIST], () => ({ find, running, now: () => clock.now(), left: () => leftIn(roots) }));
  if (!canStart) return listed;
  const { types } = await agentTypes(extensions.of("agent"));
  return [...listed, ...types.filter(({ name }) => TYPED.test(name) && name !== "list").map(startCommand)];
}

async function leftIn(roots: SubagentsContext["roots"]): Promise<readonly LeftWorktree[]> {
  return (await import("./worktree.js")).leftWorktrees(worktreeRecords(roots));
}

/** Names that can be typed as a part of a command. */
const TYPED = /^[\p{L}\p{N}_.-]+$/u;

const STARTED = "The user has started a subagent, which does not know this conversation. Answer with what it reports.";
/** About as long as what models write. */
const LONGEST_DESCRIPTION = 60;

function shortened(prompt: string): string {
  const line = prompt.replace(/\s+/g, " ").trim();
  return shorten(line, LONGEST_DESCRIPTION);
}

function startCommand({ name, description }: AgentType): Command {
  return {
    name: `agents:${name}`,
    summary: description.replace(/\s+/g, " ").slice(0, 200),
    usage: `/agents:${name} PROMPT`,
    arguments: [{ name: "PROMPT", kind: "line", rest: "text", missing: `What should it do? /agents:${name} PROMPT` }],
    reaches: "session",
    places: BETWEEN_TURNS,
    run: (args) => {
      const prompt = args.text("PROMPT") ?? "";
      const input = [text(`/agents:${name} ${prompt}`)];
      const calls = [{ tool: "agent", args: { type: name, prompt, description: shortened(prompt) } }];
      return { text: "", value: { type: name }, turn: { input, notice: STARTED, calls } };
    },
  };
}

async function list(
  { find, running, now, left }: AgentsPort,
  { warn, screen }: Pick<CommandContext, "warn" | "screen">,
): Promise<CommandAnswer> {
  const { types, shadowed, faults } = await find();
  for (const { path, fault } of faults) warn(`${path}: ${fault}.`);
  const rows = types.map((type) => ({ type, shadows: shadowed.filter(({ name }) => name === type.name) }));
  const table = renderTable(
    [
      { header: "TYPE", value: ({ type }) => type.name, priority: 9 },
      { header: "TOOLS", value: ({ type }) => toolsText(type), priority: 4, maxWidth: 30 },
      { header: "MODEL", value: ({ type }) => type.model ?? "inherit", priority: 5 },
      { header: "FROM", value: ({ type }) => place(type), priority: 6 },
      { header: "SHADOWS", value: ({ shadows }) => shadows.map(place).join(", "), priority: 3 },
      { header: "DESCRIPTION", value: ({ type }) => type.description, priority: 7, minWidth: 20 },
    ],
    rows,
    { width: screen?.width, color: screen?.color ?? false },
  );
  const working = running();
  const also = working.length === 0 ? "" : `\n\n${runningText(working, { now: now(), screen })}`;
  const ended = (await left()).map(
    ({ top, branch, description }) =>
      `\n\nA subagent in ${top} was killed (${description}). The next session keeps its work on the branch ${branch} and removes its worktree.`,
  );
  return { text: `${table}${also}${ended.join("")}`, value: asValue(rows.map(asData)) };
}

function runningText(
  working: readonly RunningSubagent[],
  { now, screen }: { readonly now: number; readonly screen: CommandContext["screen"] },
): string {
  const table = renderTable(
    [
      { header: "WORKS NOW", value: ({ session }) => session, priority: 9 },
      { header: "TYPE", value: ({ type }) => type, priority: 8 },
      { header: "SINCE", value: ({ since }) => formatDuration(Math.max(0, Math.round(now - since))), priority: 5 },
      { header: "TOKENS", value: ({ tokens }) => String(tokens()), priority: 3 },
      { header: "PROMPT", value: ({ description }) => description, priority: 6, minWidth: 12 },
      { header: "DOES", value: ({ does }) => does(), priority: 7, minWidth: 12 },
    ],
    working,
    { width: screen?.width, color: screen?.color ?? false },
  );
  return `${table}\n/sessions shows the conversation of one, as does 'oxbow attach SESSION' in another terminal.`;
}

function place({ scope, path }: AgentType): string {
  return path ?? scope;
}

function toolsText({ tools, without }: AgentType): string {
  const allowed = tools?.join(", ") ?? "all";
  return without.length === 0 ? allowed : `${allowed} without ${without.join(", ")}`;
}

function asData({ type, shadows }: { readonly type: AgentType; readonly shadows: readonly AgentType[] }) {
  const { name, description, scope, path, tools, without, model, isolation } = type;
  return {
    ...{ name, description, scope, path: path ?? null },
    ...{ tools: tools ?? null, without, model: model ?? null, isolation: isolation ?? null },
    shadows: shadows.map(place),
  };
}
