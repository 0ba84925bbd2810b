/**
 * What hooks that are not programs need: requests, model calls, subagents and MCP tools.
 *
 * 1. The request of a project's hook passes the same guard as the addresses that a model names. The user's own hooks may also call
 *    services of this machine.
 * 2. A project's hook gets no key of a model provider for a header.
 * 3. The turn pays for model calls: its budgets and its costs contain them.
 */
import type { Model } from "../../../engine/ports.js";
import { callBeside } from "../../../engine/side-call.js";
import type { Turn } from "../../../engine/turn.js";
import type { HookServices } from "../../../extensions/hooks/run-service.js";
import { VERDICT_PROMPT } from "../../../extensions/hooks/verdict.js";
import { toolName } from "../../../extensions/mcp/tool-names.js";
import type { AgentType } from "../../../extensions/subagents/agent-types.js";
import { TurnCount } from "../../../extensions/subagents/limits.js";
import { resultText, text } from "../../../protocol/content.js";
import { NAMED_PROVIDERS } from "../../../providers/named.js";
import type { Opening } from "../../opening.js";
import { agentModels, subagentsContext } from "../../subagents.js";

const ANSWER_BYTES = 64 * 1024;
const CONNECT_MS = 10_000;
const VERDICT_TOKENS = 1_000;

/** It looks around and runs checks, and changes nothing by itself: commands need the permissions of the session. */
const VERIFIER: AgentType = {
  name: "hook",
  description: "checks the condition of a hook",
  prompt: VERDICT_PROMPT,
  tools: ["read", "ls", "glob", "grep", "git", "bash"],
  without: [],
  agents: [],
  maxIterations: 50,
  scope: "built-in",
};

type Ask = Parameters<HookServices["ask"]>[0];

/** `turn` is the one that runs now. */
export function hookServices(opening: Opening, turn: () => Turn | undefined): HookServices {
  const { engine, current } = opening;
  return {
    post: (request) => post(opening, request),
    variable: (name, scope) => (scope === "project" && isKey(name) ? undefined : engine.variables[name]),
    ask: async (question) => {
      const now = turn();
      if (now === undefined) throw new Error("there is no turn for a model call");
      const { modelOfType } = await import("../../../extensions/subagents/choose-model.js");
      const chosen = await modelOfType(question.model, now.model, agentModels(engine));
      if ("problem" in chosen) throw new Error(chosen.problem);
      const ask = question.type === "agent" ? askAgent : askOnce;
      return ask(question, { turn: now, model: chosen.model, opening });
    },
    callTool: async ({ server, tool, input, signal }) => {
      const name = toolName(server, tool);
      const found = current.parts?.map((part) => part.findTool?.(name)).find((each) => each !== undefined);
      if (found === undefined) throw new Error(`no MCP server ${server} has a tool ${tool}`);
      const { status, content } = await found.run(input, { signal, progress: () => {} });
      if (status !== "ok") throw new Error(resultText(content).slice(0, 500));
      return resultText(content);
    },
  };
}

function isKey(name: string): boolean {
  return name.startsWith("OXBOW_") || NAMED_PROVIDERS.some(({ keyName }) => keyName === name);
}

async function post(
  { engine }: Opening,
  { url, headers, body, scope, signal }: Parameters<HookServices["post"]>[0],
): ReturnType<HookServices["post"]> {
  const { webServices } = await import("../../web-services.js");
  const { web_hosts, web_names } = engine.loaded.settings;
  const { guard, http } = webServices({
    variables: engine.variables,
    webHosts: web_hosts.value,
    webNames: web_names.value,
  });
  try {
    const admitted = scope === "project" ? await guard.admit(url, signal) : undefined;
    if (admitted !== undefined && !admitted.allowed) throw new Error(admitted.reason);
    const response = await http.request({
      ...{ method: "POST", url: admitted?.url.href ?? url, headers, body, signal },
      timeouts: { connectMs: CONNECT_MS },
      ...(admitted !== undefined && { lookup: admitted.lookup }),
    });
    return { status: response.status, text: await response.text(ANSWER_BYTES) };
  } finally {
    http.close();
  }
}

interface Asking {
  readonly turn: Turn;
  readonly model: Model;
  readonly opening: Opening;
}

async function askOnce({ prompt, signal }: Ask, { turn, model }: Asking): Promise<string> {
  const messages = [{ role: "user" as const, content: [text(prompt)] }];
  const request = { model: model.model, system: VERDICT_PROMPT, messages, tools: [], maxOutputTokens: VERDICT_TOKENS };
  const place = { bus: turn.bus, ports: turn.ports, signal: AbortSignal.any([signal, turn.signal]), turn };
  const answer = await callBeside({ model, request, purpose: "hook" }, place);
  if ("cancelled" in answer) throw new Error("it was cancelled");
  if ("failure" in answer) throw new Error(answer.failure.message);
  return answer.text;
}

async function askAgent({ prompt, signal }: Ask, { turn, model, opening }: Asking): Promise<string> {
  const { runSubagent } = await import("../../../extensions/subagents/start-subagent.js");
  const work = {
    ...{ type: VERIFIER, model, prompt, description: "a check of a hook", call: opening.engine.ids.next("call") },
    ...{ turn, signal: AbortSignal.any([signal, turn.signal]), count: new TurnCount(0), notes: [] },
    isOfHook: true as const,
  };
  const { status, content } = await runSubagent(subagentsContext(opening), work);
  if (status !== "ok") throw new Error(resultText(content).slice(0, 500));
  return resultText(content);
}
