/**
 * A tool call that a command makes between two turns: it goes through the permissions and the other links like a call of the model. Only
 * the ledger is left out: it records calls of turns, and the session may have none yet.
 */

import type { Run } from "../../control/run.js";
import { compose } from "../../engine/compose.js";
import type { EnginePorts, ToolOutcome } from "../../engine/ports.js";
import { Timing } from "../../engine/timing.js";
import { ownText } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";

export interface CallPlace {
  readonly run: Run;
  readonly ports: EnginePorts;
  readonly signal: AbortSignal;
}

export async function callTool(tool: string, args: JsonObject, place: CallPlace): Promise<ToolOutcome> {
  const { run, ports, signal } = place;
  const definition = ports.tools.find(tool);
  if (definition === undefined) return { status: "error", content: [ownText(`The tool ${tool} is off.`)] };
  const call = run.newCall();
  run.bus.publish("ToolCallStarted", { call, tool, args });
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
