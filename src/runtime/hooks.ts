/**
 * Joins hooks with what they use: the sandbox, permissions, undo, skills, instructions, requests, model calls, subagents and MCP tools.
 *
 * 1. The request of a project's hook passes the same guard as the addresses that a model names. The user's own hooks may also call
 *    services of this machine.
 * 2. A project's hook gets no key of a model provider for a header.
 * 3. The turn pays for model calls: its budgets and its costs contain them.
 */
import { join } from "node:path";
import { copier, removeCopies } from "../context/skills/copies.js";
import { SkillRegistry } from "../context/skills/registry.js";
import { skillFolder } from "../context/skills/settings.js";
import { ownTexts, skillsIn } from "../context/skills/skill-text.js";
import type { Model } from "../engine/ports.js";
import { readCall } from "../engine/read-call.js";
import { callBeside } from "../engine/side-call.js";
import type { Turn } from "../engine/turn.js";
import type { HookSurroundings } from "../extensions/hooks/context.js";
import type { HookServices } from "../extensions/hooks/run-service.js";
import { VERDICT_PROMPT } from "../extensions/hooks/verdict.js";
import { toolName } from "../extensions/mcp/tool-names.js";
import type { AgentType } from "../extensions/subagents/agent-types.js";
import { TurnCount } from "../extensions/subagents/limits.js";
import { resultText, text } from "../protocol/content.js";
import { NAMED_PROVIDERS } from "../providers/named.js";
import { withoutForgedInstructions } from "../security/untrusted/forged-instructions.js";
import { MAX_KEPT_BYTES } from "../sessions/undo/limits.js";
import { type ObservedEntry, observed } from "../system/observed-change.js";
import { entryOf, look } from "../system/overlay/change-set.js";
import { addedValue, childEnvironment } from "../tools/child-environment.js";
import type { Opening } from "./opening.js";
import { agentModels, subagentsContext } from "./subagents.js";

/** The names of the modes for hooks. */
const MODES: Readonly<Record<string, string>> = {
  ask: "default",
  auto: "auto",
  review: "default",
  allow: "bypassPermissions",
  deny: "dontAsk",
};

export function hookSurroundings(opening: Opening): HookSurroundings {
  const { engine, current, built, extensions, session, resumed, before, parent } = opening;
  const { loaded, flags, variables } = engine;
  const conversation = () => current.run?.conversation ?? [];
  // Apart from the copies for commands, which the part with the skills replaces and removes.
  const copies = join(skillFolder(loaded.roots), `${session}-hooks`);
  return {
    source: resumed !== undefined ? "resume" : before === undefined ? "startup" : "clear",
    setup:
      parent !== undefined
        ? undefined
        : flags?.has("init")
          ? "init"
          : flags?.has("maintenance")
            ? "maintenance"
            : undefined,
    profiles: loaded.layers.map(({ path }) => path),
    environment: childEnvironment(variables),
    added: built.get("hookVariables"),
    addedValue,
    // The sandbox of commands that the user allowed: the home folder is readable and repositories are writable.
    wrap: (plain) =>
      built
        .get("sandbox")
        .wrap(plain, { onTerminal: false, outside: false, openings: ["git"], hasInput: true, writes: "held" }),
    facts: () => {
      const { planning, mode } = built.get("permissions");
      return { permission_mode: planning ? "plan" : (MODES[mode] ?? mode), model: current.run?.model.model };
    },
    safe: async (text) => {
      const { redact } = await import("../security/redact/redact.js");
      // A hook may quote a file; the text must not imitate an instruction file.
      return withoutForgedInstructions(redact(text));
    },
    instructions: () => engine.content?.loads ?? [],
    skills: async () => {
      const files = { skills: extensions.of("skill"), files: extensions.of("skill-file"), copy: copier(copies) };
      return (await SkillRegistry.load(files)).list();
    },
    removeSkills: () => removeCopies(copies),
    skillsInUse: () => skillsIn(ownTexts(conversation())),
    services: (turn) => hookServices(opening, turn),
    readArguments: (tool, args) => {
      const registry = { list: () => [tool], find: (name: string) => (name === tool.name ? tool : undefined) };
      return readCall(registry, { tool: tool.name, args });
    },
    recorded: (files, act, onChanged) => recorded(opening, files, { act, onChanged }),
  };
}

/** Records changes of files. Hooks run even if that fails; undo then reports that another program changed the file. */
async function recorded<T>(
  { built, engine }: Opening,
  files: readonly string[],
  { act, onChanged }: { readonly act: () => Promise<T>; readonly onChanged: (files: readonly string[]) => void },
): Promise<T> {
  const undo = built.get("undo");
  const before = files.map((absolute) => ({ absolute, entry: fileAt(absolute) }));
  try {
    return await act();
  } finally {
    const changes = before
      .map(({ absolute, entry }) => ({ absolute, before: entry, after: fileAt(absolute) }))
      .filter((change) => !isSame(change.before, change.after));
    if (changes.length > 0) {
      onChanged(changes.map(({ absolute }) => absolute));
      const call = engine.ids.next("call");
      const begun = await undo.begin({ call, tool: "hook", changes: "announced" }).catch(() => undefined);
      const record = () => undo.beforeAll(changes.map((change) => () => change));
      await (begun === undefined ? record() : begun.during(record)).catch(() => {});
      await begun?.end({ goesOn: false });
    }
  }
}

function fileAt(absolute: string): ObservedEntry | undefined {
  const found = look(absolute);
  return found?.isFile() ? observed(absolute, entryOf(found, absolute), MAX_KEPT_BYTES) : undefined;
}

function isSame(one: ObservedEntry | undefined, other: ObservedEntry | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  const isKnown = one.content !== undefined && other.content !== undefined;
  return one.mode === other.mode && (!isKnown || one.content.equals(other.content));
}

const ANSWER_BYTES = 64 * 1024;
const CONNECT_MS = 10_000;
const VERDICT_TOKENS = 1_000;

/** It looks around and runs checks, and changes nothing by itself: commands need the permissions of the session. */
const VERIFIER: AgentType = {
  name: "hook",
  description: "checks the condition of a hook",
  prompt: VERDICT_PROMPT,
  tools: ["read", "ls", "glob", "grep", "bash"],
  without: [],
  agents: [],
  maxIterations: 50,
  scope: "built-in",
};

type Ask = Parameters<HookServices["ask"]>[0];

/** `turn` is the one that runs now. */
function hookServices(opening: Opening, turn: () => Turn | undefined): HookServices {
  const { engine, current } = opening;
  return {
    post: (request) => post(opening, request),
    variable: (name, scope) => (scope === "project" && isKey(name) ? undefined : engine.variables[name]),
    ask: async (question) => {
      const now = turn();
      if (now === undefined) throw new Error("there is no turn for a model call");
      const { modelOfType } = await import("../extensions/subagents/choose-model.js");
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
  const { webServices } = await import("./web-services.js");
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
  const { runSubagent } = await import("../extensions/subagents/start-subagent.js");
  const work = {
    ...{ type: VERIFIER, model, prompt, description: "a check of a hook", call: opening.engine.ids.next("call") },
    ...{ turn, signal: AbortSignal.any([signal, turn.signal]), count: new TurnCount(0), notes: [] },
    isOfHook: true as const,
  };
  const { status, content } = await runSubagent(subagentsContext(opening), work);
  if (status !== "ok") throw new Error(resultText(content).slice(0, 500));
  return resultText(content);
}
