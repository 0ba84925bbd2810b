/** `oxbow mcp-server`: another agent drives Oxbow. */
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { Command, CommandContext, CommandResult } from "../../feature/command.js";
import {
  MCP_SERVER,
  MCP_SERVER_APPROVE,
  MCP_SERVER_FORGET,
  MCP_SERVER_PARENTS,
} from "../../runtime/commands/program.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";
import { SERVED_RUN_FLAGS } from "./run-flags.js";

export const shell: ShellCommand = {
  name: "mcp-server",
  specs: [{ ...MCP_SERVER, shellFlags: SERVED_RUN_FLAGS }, MCP_SERVER_APPROVE, MCP_SERVER_PARENTS, MCP_SERVER_FORGET],
  about: `Serves sessions to another agent over the Model Context Protocol on standard input and output. The other agent starts this command.
It cannot approve its own calls: questions come to you. docs/editors.md explains how to set it up.`,
  open: async (flags, variables) => ({
    commands: parentCommands(variables),
    terminalCommands: [
      {
        ...MCP_SERVER,
        take: async () => (await import("../mcp-server/serve-agent.js")).serveAgent(flags, variables),
      },
    ],
  }),
};

export const run = shellRunner(shell);

function parentCommands(variables: Variables): readonly Command[] {
  return [
    { ...MCP_SERVER_PARENTS, run: () => list(variables) },
    { ...MCP_SERVER_APPROVE, run: (_args, context) => approve(variables, context) },
    { ...MCP_SERVER_FORGET, run: (args) => forget(variables, Number(args.text("NUMBER"))) },
  ];
}

async function openParents(variables: Variables) {
  const [{ McpParents }, { roots }, { nameOf }] = await Promise.all([
    import("../../security/trust/mcp-parents.js"),
    import("../../system/xdg-paths.js"),
    import("../mcp-server/parent-gate.js"),
  ]);
  return { parents: new McpParents(roots(variables)), nameOf };
}

async function list(variables: Variables): Promise<CommandResult> {
  const { parents, nameOf } = await openParents(variables);
  const [allowed, waiting] = await Promise.all([parents.list(), parents.waiting()]);
  const lines = [
    ...allowed.map((parent, index) => `${index + 1}  ${nameOf(parent)}  allowed ${parent.allowed_at}`),
    ...waiting.map((parent) => `-  ${nameOf(parent)}  waits; 'oxbow mcp-server approve' allows it`),
  ];
  const value = { allowed: allowed.map((each) => ({ ...each })), waiting: waiting.map((each) => ({ ...each })) };
  return {
    text: lines.join("\n") || "No program may drive Oxbow, and no program is waiting.",
    value: JSON.parse(JSON.stringify(value)),
  };
}

async function approve(variables: Variables, { confirm, warn }: CommandContext): Promise<CommandResult> {
  const { parents, nameOf } = await openParents(variables);
  if (confirm === undefined) throw new UsageError("Only a person at a terminal can allow a program.");
  const waiting = await parents.waiting();
  if (waiting.length === 0) return { text: "No program waits to drive Oxbow.", value: { allowed: [] } };
  const allowed: string[] = [];
  for (const parent of waiting) {
    warn(`${nameOf(parent)} wants to run an AI agent with a shell here. sha256 ${parent.sha256}`);
    if (!(await confirm("Allow it?"))) {
      await parents.stopWaiting(parent);
      continue;
    }
    const attach = (await confirm("Always show you the sessions that it starts?")) ? "always" : "never";
    await parents.allow(parent, { attach, allowed_at: new Date().toISOString() });
    allowed.push(nameOf(parent));
  }
  return { text: allowed.length === 0 ? "Nothing was allowed." : `Allowed: ${allowed.join(", ")}`, value: { allowed } };
}

async function forget(variables: Variables, number: number): Promise<CommandResult> {
  const { parents, nameOf } = await openParents(variables);
  const found = (await parents.list())[number - 1];
  if (found === undefined)
    throw new UsageError("There is no program with this number: see 'oxbow mcp-server parents'.");
  await parents.forget(found);
  return {
    text: `${nameOf(found)} may no longer drive Oxbow until you allow it again.`,
    value: { forgotten: found.path },
  };
}
