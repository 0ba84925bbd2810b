/** Joins prompt files with what they name: commands, tools and models. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { PromptPlace } from "../context/prompt-files/commands.js";
import type { PromptPorts } from "../context/prompt-files/expand-prompt.js";
import type { Run } from "../control/run.js";
import { compose } from "../engine/compose.js";
import type { EnginePorts, Model, ToolOutcome } from "../engine/ports.js";
import { Timing } from "../engine/timing.js";
import { namespaceOf } from "../feature/command.js";
import { ownText, resultText } from "../protocol/content.js";
import type { JsonObject } from "../protocol/json.js";
import { CATALOG } from "../tools/catalog.js";
import { SESSION_SPECS } from "./commands/catalogue.js";
import { type Opening, runOf } from "./opening.js";

/** Namespaces whose commands depend on the session. */
const DYNAMIC = ["skills", "agents", "profiles", "sessions", "mcp"];
const NAMES = new Set(SESSION_SPECS.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
const NAMESPACES = new Set([...DYNAMIC, ...[...NAMES].flatMap((name) => namespaceOf(name) ?? [])]);

export function promptPlace(opening: Opening): PromptPlace {
  const { engine, built, root } = opening;
  return {
    isTaken: (name) => NAMES.has(name) || NAMESPACES.has(namespaceOf(name) ?? name),
    between: async (work) => {
      const run = runOf(opening);
      const outside = built.get("outside");
      const mark = outside.wraps ? await outside.wrapper() : (words: string) => words;
      return run.between(({ ports, signal }) => work(portsOf({ run, ports, signal }, { root, mark }), signal));
    },
    findModel: async (name) => {
      const spec = specOf(name, runOf(opening).model);
      const found =
        (await engine.routes.resolve(name)) ?? (spec === undefined ? undefined : await engine.registry.resolve(spec));
      return found !== undefined && "model" in found ? found.model : undefined;
    },
  };
}

/** Files for other tools have short names (`sonnet`), which no provider knows. A full name counts if it looks like the session's. */
function specOf(model: string, { provider, model: current }: Model): string | undefined {
  if (/^[\w.-]+:\S+$/.test(model)) return model;
  const family = (name: string) => name.split(/[-.\d]/)[0];
  return /[-\d]/.test(model) && family(model) === family(current) ? `${provider}:${model}` : undefined;
}

/** `mark`: marks text of files and commands as data, not the user's text. */
function portsOf(
  place: CallPlace,
  { root, mark }: { readonly root: string; readonly mark: (text: string, source: string) => string },
): PromptPorts {
  return {
    run: async (command: string) => outcomeText(command, await callTool(CATALOG.bash.name, { command }, place), mark),
    read: async (path: string) => {
      const full = resolve(root, path);
      const found = statSync(full, { throwIfNoEntry: false });
      const tool = found?.isFile() ? CATALOG.read : found?.isDirectory() ? CATALOG.ls : undefined;
      if (tool === undefined) return undefined;
      const outcome = await callTool(tool.name, { path }, place);
      return outcome.status === "ok" ? mark(contentText(outcome), path) : undefined;
    },
  };
}

function outcomeText(command: string, outcome: ToolOutcome, mark: (text: string, source: string) => string): string {
  const { status } = outcome;
  const words = contentText(outcome);
  if (status === "denied" || status === "cancelled") return `(${command}: ${status})\n${words}`;
  return `${status === "ok" ? "" : `(${command}: ${status})\n`}${mark(words, command)}`;
}

function contentText({ content }: ToolOutcome): string {
  return resultText(content).trimEnd();
}

interface CallPlace {
  readonly run: Run;
  readonly ports: EnginePorts;
  readonly signal: AbortSignal;
}

/**
 * Calls a tool between two turns: the call goes through the permissions and the other links like one of the model. Only the ledger is left
 * out: it records calls of turns, and the session may have none yet.
 */
async function callTool(tool: string, args: JsonObject, place: CallPlace): Promise<ToolOutcome> {
  const { run, ports, signal } = place;
  const definition = ports.tools.find(tool);
  if (definition === undefined) return { status: "error", content: [ownText(`The tool ${tool} is off.`)] };
  const call = run.newCall();
  const { kind } = definition;
  run.bus.publish("ToolCallStarted", { call, tool, ...(kind !== undefined && { tool_kind: kind }), args });
  const links = ports.toolLinks.filter(({ name }) => !name.endsWith("-ledger"));
  const chain = compose(links, (one, context) => definition.run(one.args, context), {
    timing: new Timing(ports.clock),
    prefix: "tool-link",
  });
  const progress = (text: string) => run.bus.publish("ToolCallProgress", { call, text });
  let outcome: ToolOutcome;
  try {
    outcome = await chain({ call, tool, args }, { definition, signal, progress });
  } catch (error) {
    outcome = { status: "error", content: [ownText(error instanceof Error ? error.message : String(error))] };
  }
  const { status, content, details, decidedBy } = outcome;
  run.bus.publish("ToolResult", {
    call,
    tool,
    status,
    content,
    ...(details !== undefined && { details }),
    ...(decidedBy !== undefined && { decided_by: decidedBy }),
  });
  return outcome;
}
