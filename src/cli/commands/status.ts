/** `oxbow status`: the engine that runs in this home. */
import { safeLine } from "../../base/terminal-text.js";
import type { Variables } from "../../base/variables.js";
import { asValue, COMMAND_EXIT, type CommandResult } from "../../feature/command.js";
import type { SessionInfo } from "../../protocol/queries.js";
import { clientLines, healthLines } from "../../runtime/commands/engine.js";
import { ENGINE_STATUS } from "../../runtime/commands/program.js";
import { reachEngine } from "../attach/reach.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "status",
  specs: [ENGINE_STATUS],
  about: "Shows the running engine: its sessions, clients, addresses and parts.",
  more: "Exit code 1 if no engine runs, or it does not answer.",
  open: async (_flags, variables) => ({ commands: [{ ...ENGINE_STATUS, run: () => status(variables) }] }),
};

export const run = shellRunner(shell);

async function status(variables: Variables): Promise<CommandResult> {
  const reached = await reachEngine(variables, { name: "oxbow status", canAnswer: false });
  const failed = { exitCode: COMMAND_EXIT.failed };
  if (reached.kind === "none") {
    const text = "No engine runs here. 'oxbow' and 'oxbow serve' start one.";
    return { text, value: { running: false }, ...failed };
  }
  const { pid } = reached;
  if (reached.kind === "unreachable") {
    const text = `Process ${pid ?? "of another system"} is the engine: ${reached.reason}.`;
    return { text, value: { running: true, pid: pid ?? null, problem: reached.reason }, ...failed };
  }
  const { client } = reached;
  const [health, listed, sessions] = await Promise.all([
    client.query("GetHealth", {}),
    client.query("ListClients", {}),
    client.query("ListSessions", { empty: true }),
  ]);
  await client.close();
  if (!health.ok)
    return { text: health.failure.message, value: { running: true, problem: health.failure.message }, ...failed };
  const clients = listed.ok ? listed.answer.clients.filter(({ id }) => id !== client.id) : [];
  const open = sessions.ok ? sessions.answer.sessions.filter(({ live }) => live) : [];
  const parts = [healthLines({ ...health.answer, clients: clients.length }), sessionLines(open), clientLines(clients)];
  return {
    text: parts.filter((part) => part !== "").join("\n\n"),
    value: asValue({ running: true, ...health.answer, clients, sessions: open }),
  };
}

function sessionLines(sessions: readonly SessionInfo[]): string {
  return sessions
    .map(({ id, title, cwd, provider, model, unfinished }) => {
      const state = unfinished ? "working" : "idle   ";
      return `${state}  ${id}  ${safeLine(cwd)}  ${provider}:${model}  ${safeLine(title ?? "")}`.trimEnd();
    })
    .join("\n");
}
