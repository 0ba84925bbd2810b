/** Collects what one plugin adds, and refuses what cannot be used. */
import { VERSION } from "../../base/version.js";
import type { RequestLink, ToolLink } from "../../engine/ports.js";
import type { Envelope } from "../../protocol/envelope.js";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
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
  /** Of its commands. */
  namespace: string;
}

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
  const { requestLinks, toolLinks, hooks, lifecycles, listeners, tools, sources } = registrations;
  const { providers, transports, commands, rules, closers } = registrations;
  let isOpen = true;
  const add = (what: string, problem: string | undefined, action: () => void) => {
    if (!isOpen) throw new Error(`${what} comes too late: add it before register returns`);
    if (problem !== undefined) throw new Error(problem);
    action();
  };
  const oxbow: Oxbow = {
    version: VERSION,
    plugin: name,
    settings,
    log,
    addRequestLink: (link) => add("a request link", linkProblem(link), () => requestLinks.push(link)),
    addToolLink: (link) => add("a tool link", linkProblem(link), () => toolLinks.push(link)),
    addHook: (stage, hook) => {
      const problem = isStage(stage) ? linkProblem(hook) : `there is no stage "${stage}"`;
      add("a hook", problem, () => hooks.push({ stage, hook }));
    },
    addLifecycle: (lifecycle) => add("a lifecycle", lifecycleProblem(lifecycle), () => lifecycles.push(lifecycle)),
    subscribe: (listener) =>
      add("a subscriber", functionProblem(listener, "subscribe"), () => listeners.push(listener)),
    addTool: (tool) => add("a tool", toolProblem(tool), () => tools.push(tool)),
    addToolSource: (source) => {
      const problem = nameProblem(source, TOOL) ?? functionProblem(source.list, `the tool source "${source.name}"`);
      add("a tool source", problem, () => sources.push(source));
    },
    addProvider: (provider) => {
      const problem =
        nameProblem(provider, WORD) ?? functionProblem(provider.stream, `the provider "${provider.name}"`);
      add("a provider", problem, () => providers.push(provider));
    },
    addTransport: (transport) => {
      const problem =
        nameProblem(transport, WORD) ?? functionProblem(transport.start, `the transport "${transport.name}"`);
      add("a transport", problem, () => transports.push(transport));
    },
    addCommand: (command) => {
      const problem = nameProblem(command, WORD) ?? functionProblem(command.run, `the command "${command.name}"`);
      add("a command", problem, () => commands.push(command));
    },
    claimNamespace: (namespace) =>
      add("a namespace", WORD.test(namespace) ? undefined : `"${namespace}" is no namespace`, () => {
        registrations.namespace = namespace;
      }),
    addPermissionRule: (rule) =>
      add("a permission rule", isJsonObject(rule) ? undefined : "a permission rule is not an object", () =>
        rules.push(rule),
      ),
    onClose: (close) => add("onClose", functionProblem(close, "onClose"), () => closers.push(close)),
  };
  return {
    oxbow,
    registrations,
    end: () => {
      isOpen = false;
    },
  };
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

/** What is wrong with a tool; undefined when it can be used. */
export function toolProblem(tool: PluginTool): string | undefined {
  const wrong = nameProblem(tool, TOOL) ?? functionProblem(tool.run, `the tool "${tool.name}"`);
  if (wrong !== undefined) return wrong;
  if (typeof tool.description !== "string") return `the tool "${tool.name}" has no description`;
  if (!isJsonObject(tool.inputSchema)) return `the tool "${tool.name}" has no inputSchema`;
  return undefined;
}

function linkProblem(link: { readonly name: string; readonly run: unknown }): string | undefined {
  if (typeof link?.name !== "string" || !LINK.test(link.name)) {
    return `"${String(link?.name)}" is no name for a hook or a link: use NN-name, such as 45-check-style`;
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
