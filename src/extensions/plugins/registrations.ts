/** Collects what one plugin adds, and refuses what cannot be used. */
import { VERSION } from "../../base/version.js";
import type { RequestLink, ToolLink } from "../../engine/ports.js";
import type { Envelope } from "../../protocol/envelope.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import type {
  Oxbow,
  PluginCommand,
  PluginHook,
  PluginLifecycle,
  PluginProvider,
  PluginStage,
  PluginTool,
  PluginToolSource,
  PluginTransport,
} from "./api.js";

export interface Registrations {
  readonly requestLinks: RequestLink[];
  readonly toolLinks: ToolLink[];
  readonly hooks: { readonly stage: PluginStage; readonly hook: PluginHook }[];
  readonly lifecycles: PluginLifecycle[];
  readonly listeners: ((event: Envelope) => void)[];
  readonly tools: PluginTool[];
  readonly sources: PluginToolSource[];
  readonly providers: PluginProvider[];
  readonly transports: PluginTransport[];
  readonly commands: PluginCommand[];
  readonly rules: JsonObject[];
  readonly closers: (() => void | Promise<void>)[];
  /** Of its commands and events. */
  namespace: string;
  /** Publishes an event in each open session. */
  readonly sessions: Map<string, PublishCustom>;
}

export type PublishCustom = (event: { namespace: string; kind: string; payload: JsonValue }) => void;

const MOST_EVENT_CHARACTERS = 64 * 1024;

export interface RegisteringPlugin {
  readonly name: string;
  readonly settings: JsonObject;
  readonly log: Oxbow["log"];
}

const LINK = /^\d\d-[a-z0-9]+(-[a-z0-9]+)*$/;
const TOOL = /^[A-Za-z0-9_-]{1,64}$/;
const WORD = /^[a-z][a-z0-9-]{0,63}$/;
const STAGES: readonly string[] = ["start", "assemble", "send", "receive", "tool_exec", "tool_done", "done", "error"];

/** The interface for `register`, and what it collects. `end` refuses everything that comes later. */
export function registrationsOf({ name, settings, log }: RegisteringPlugin): {
  readonly oxbow: Oxbow;
  readonly registrations: Registrations;
  end(): void;
} {
  const registrations = emptyRegistrations(name);
  let isOpen = true;
  const add: Add = (what, problem, action) => {
    if (!isOpen) throw new Error(`${what} comes too late: add it before register returns`);
    if (problem !== undefined) throw new Error(problem);
    action();
  };
  return {
    oxbow: { version: VERSION, plugin: name, settings, log, ...additionsTo(registrations, add) },
    registrations,
    end: () => {
      isOpen = false;
    },
  };
}

/** Adds an entry that has no problem and comes in time. */
type Add = (what: string, problem: string | undefined, action: () => void) => void;

function additionsTo(to: Registrations, add: Add): Omit<Oxbow, "version" | "plugin" | "settings" | "log"> {
  const named = (kind: string, pattern: RegExp, each: { readonly name: string }, run: unknown) =>
    nameProblem(each, pattern) ?? functionProblem(run, `the ${kind} "${each.name}"`);
  return {
    addRequestLink: (link) => add("a request link", linkProblem(link), () => to.requestLinks.push(link)),
    addToolLink: (link) => add("a tool link", linkProblem(link), () => to.toolLinks.push(link)),
    addHook: (stage, hook) => {
      const problem = isStage(stage) ? linkProblem(hook) : `there is no stage "${stage}"`;
      add("a hook", problem, () => to.hooks.push({ stage, hook }));
    },
    addLifecycle: (lifecycle) => add("a lifecycle", lifecycleProblem(lifecycle), () => to.lifecycles.push(lifecycle)),
    subscribe: (listener) =>
      add("a subscriber", functionProblem(listener, "subscribe"), () => to.listeners.push(listener)),
    publish: (session, kind, payload) => publish(to, { session, kind, payload }),
    addTool: (tool) => add("a tool", toolProblem(tool), () => to.tools.push(tool)),
    addToolSource: (source) =>
      add("a tool source", named("tool source", TOOL, source, source?.list), () => to.sources.push(source)),
    addProvider: (provider) =>
      add("a provider", named("provider", WORD, provider, provider?.stream), () => to.providers.push(provider)),
    addTransport: (transport) =>
      add("a transport", named("transport", WORD, transport, transport?.start), () => to.transports.push(transport)),
    addCommand: (command) =>
      add("a command", named("command", WORD, command, command?.run), () => to.commands.push(command)),
    claimNamespace: (namespace) =>
      add("a namespace", WORD.test(namespace) ? undefined : `"${namespace}" is not a namespace`, () => {
        to.namespace = namespace;
      }),
    addPermissionRule: (rule) => {
      const problem = isJsonObject(rule) ? undefined : "a permission rule is not an object";
      add("a permission rule", problem, () => to.rules.push(rule));
    },
    onClose: (close) => add("onClose", functionProblem(close, "onClose"), () => to.closers.push(close)),
  };
}

function publish(
  { sessions, namespace }: Registrations,
  { session, kind, payload }: { readonly session: string; readonly kind: string; readonly payload: JsonValue },
): void {
  const send = sessions.get(session);
  if (send === undefined) throw new Error(`there is no open session "${session}"`);
  if (typeof kind !== "string" || !TOOL.test(kind)) throw new Error(`"${kind}" is not the kind of an event`);
  const json = JSON.stringify(payload) as string | undefined;
  if (json === undefined || json.length > MOST_EVENT_CHARACTERS) {
    throw new Error(`the payload of "${kind}" is not JSON of at most ${MOST_EVENT_CHARACTERS / 1024} KB`);
  }
  send({ namespace, kind, payload: JSON.parse(json) as JsonValue });
}

function emptyRegistrations(name: string): Registrations {
  return {
    requestLinks: [],
    toolLinks: [],
    hooks: [],
    lifecycles: [],
    listeners: [],
    tools: [],
    sources: [],
    providers: [],
    transports: [],
    commands: [],
    rules: [],
    closers: [],
    namespace: name,
    sessions: new Map(),
  };
}

export function isStage(name: string): name is PluginStage {
  return STAGES.includes(name);
}

const MOMENTS: ReadonlySet<string> = new Set([
  ...["beforeTurn", "beforeInference", "reviewCall", "onToolEvidence"],
  ...["beforeCompaction", "afterCompaction", "afterTurn"],
]);

function lifecycleProblem(lifecycle: PluginLifecycle): string | undefined {
  if (typeof lifecycle !== "object" || lifecycle === null) return "a lifecycle is not an object";
  const unknown = Object.keys(lifecycle).find((name) => !MOMENTS.has(name));
  if (unknown !== undefined) return `a lifecycle has no moment "${unknown}"`;
  const wrong = Object.entries(lifecycle).find(([, act]) => typeof act !== "function");
  return wrong === undefined ? undefined : `the moment "${wrong[0]}" is not a function`;
}

/** The problem with a tool; undefined if it can be used. */
export function toolProblem(tool: PluginTool): string | undefined {
  const wrong = nameProblem(tool, TOOL) ?? functionProblem(tool.run, `the tool "${tool.name}"`);
  if (wrong !== undefined) return wrong;
  if (typeof tool.description !== "string") return `the tool "${tool.name}" has no description`;
  if (!isJsonObject(tool.inputSchema)) return `the tool "${tool.name}" has no inputSchema`;
  return undefined;
}

function linkProblem(link: { readonly name: string; readonly run: unknown }): string | undefined {
  if (typeof link?.name !== "string" || !LINK.test(link.name)) {
    return `"${String(link?.name)}" is not a name for a hook or a link: use NN-name, such as 45-check-style`;
  }
  return functionProblem(link.run, `"${link.name}"`);
}

function nameProblem(named: { readonly name: string }, pattern: RegExp): string | undefined {
  return typeof named?.name === "string" && pattern.test(named.name)
    ? undefined
    : `"${String(named?.name)}" is not a usable name`;
}

function functionProblem(value: unknown, where: string): string | undefined {
  return typeof value === "function" ? undefined : `${where} has no function`;
}
