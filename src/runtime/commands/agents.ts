/** `/agents` and `oxbow agents`: the types of subagents of a place. */
import { shorten } from "../../base/cap-text.js";
import { formatDuration } from "../../base/duration.js";
import { renderTable } from "../../base/text-table.js";
import { AGENTS } from "../../commands/catalogue/agents.js";
import { asValue, type Command, type CommandContext } from "../../commands/command.js";
import type { AgentType } from "../../extensions/subagents/agent-type.js";
import { type AgentTypes, agentTypes } from "../../extensions/subagents/agent-types.js";
import { text } from "../../protocol/content.js";
import type { Roots } from "../../system/xdg-paths.js";
import type { Opening } from "../opening.js";
import { type RunningSubagent, worktreeRecords } from "../subagents/running-subagents.js";
import type { LeftWorktree } from "../subagents/worktree.js";

type Place = Pick<Opening, "extensions"> & Partial<Running> & { readonly roots: Pick<Roots, "state"> };

/** The subagents of a session that work now. */
interface Running {
  readonly running: () => readonly RunningSubagent[];
  readonly now: () => number;
  readonly left: () => Promise<readonly LeftWorktree[]>;
}

/** The list, and for a session that can start subagents a command for each type. */
export async function sessionAgentCommands(
  { extensions, engine, session, clock }: Pick<Opening, "extensions" | "engine" | "session" | "clock">,
  { canStart }: { readonly canStart: boolean },
): Promise<readonly Command[]> {
  const running = () => engine.subagents?.of(session) ?? [];
  const list = listCommand({ extensions, running, now: () => clock.now(), roots: engine.loaded.roots });
  if (!canStart) return [list];
  const { types } = await agentTypes(extensions.of("agent"));
  return [list, ...types.filter(({ name }) => TYPED.test(name) && name !== "list").map(startCommand)];
}

export function listCommand({ extensions, running = () => [], now = () => 0, roots }: Place): Command {
  const find = async () => {
    await extensions.refresh();
    return agentTypes(extensions.of("agent"));
  };
  const left = async () => (await import("../subagents/worktree.js")).leftWorktrees(worktreeRecords(roots));
  return agentsCommand(find, { running, now, left });
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
    users: ["people"],
    places: ["between turns"],
    run: (args) => {
      const prompt = args.text("PROMPT") ?? "";
      const input = [text(`/agents:${name} ${prompt}`)];
      const calls = [{ tool: "agent", args: { type: name, prompt, description: shortened(prompt) } }];
      return { text: "", value: { type: name }, turn: { input, notice: STARTED, calls } };
    },
  };
}

export function agentsCommand(find: () => Promise<AgentTypes>, { running, now, left }: Running = IDLE): Command {
  return {
    ...AGENTS,
    run: async (_args, { warn, screen }) => {
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
    },
  };
}

const IDLE: Running = { running: () => [], now: () => 0, left: async () => [] };

function runningText(
  working: readonly RunningSubagent[],
  { now, screen }: { readonly now: number; readonly screen: CommandContext["screen"] },
): string {
  const table = renderTable(
    [
      { header: "WORKS NOW", value: ({ run }) => run.session, priority: 9 },
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
