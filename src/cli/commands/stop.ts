/** `oxbow stop`: ends the engine of this home. */
import type { Variables } from "../../base/variables.js";
import { COMMAND_EXIT, type CommandResult } from "../../feature/command.js";
import { STOP } from "../../runtime/commands/program.js";
import { nodeClock } from "../../system/node-clock.js";
import { refuseAgents } from "../agent-limits.js";
import { reachEngine } from "../attach/reach.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "stop",
  specs: [STOP],
  about: "Ends the engine of this home. Turns that run are cancelled; sessions are stored and can be resumed.",
  more: "Exit code 1 if no engine runs, or it does not end.",
  open: async (_flags, variables) => ({ commands: [{ ...STOP, run: () => stop(variables) }] }),
};

export const run = shellRunner(shell);

const PATIENCE_MS = 15_000;
const LOOK_MS = 50;

async function stop(variables: Variables): Promise<CommandResult> {
  refuseAgents(variables, "'oxbow stop'");
  const failed = { exitCode: COMMAND_EXIT.failed };
  const reached = await reachEngine(variables, { name: "oxbow stop", canAnswer: false });
  if (reached.kind === "none") return { text: "No engine runs here.", value: { stopped: false }, ...failed };
  const { pid } = reached;
  if (reached.kind === "connected") await reached.client.close();
  if (pid === undefined) {
    return { text: "The engine runs on another system. End it there.", value: { stopped: false }, ...failed };
  }
  process.kill(pid, "SIGTERM");
  for (const until = nodeClock.now() + PATIENCE_MS; nodeClock.now() < until; ) {
    if (isGone(pid)) return { text: `The engine (process ${pid}) has ended.`, value: { stopped: true, pid } };
    await new Promise<void>((resolve) => nodeClock.after(LOOK_MS, resolve));
  }
  return { text: `Process ${pid} does not end. Kill it: kill -9 ${pid}`, value: { stopped: false, pid }, ...failed };
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
