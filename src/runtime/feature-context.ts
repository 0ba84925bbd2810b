/** Describes what the part of a feature gets from the session that it belongs to. */
import { hkdfSync } from "node:crypto";
import type { InstructionsContext } from "../context/instructions/part.js";
import { GatheredContext } from "../context/pinned/gathered-context.js";
import type { GivenContext } from "../context/pinned/part.js";
import { PinnedContext } from "../context/pinned/pinned-context.js";
import type { PromptFilesContext } from "../context/prompt-files/part.js";
import type { RetrievalContext } from "../context/retrieval/session-retrieval.js";
import { callBeside } from "../engine/side-call.js";
import type { HooksContext } from "../extensions/hooks/context.js";
import type { SessionEvents } from "../extensions/hooks/part.js";
import type { McpContext } from "../extensions/mcp/context.js";
import { type CommandResult, refuse } from "../feature/command.js";
import type { AsideAnswer, AsideCall, FeatureContext, PromptCommand, SafeText } from "../feature/part.js";
import type { Opening } from "./opening.js";
import type { SessionStores } from "./sessions/session-stores.js";
import type { Settings } from "./settings/settings.js";

export function featureContext(opening: Opening): FeatureContext<Settings> {
  const { session, bus, root, clock, log, extensions, engine, person, parent, current } = opening;
  const { loaded, variables, flags } = engine;
  let text: Promise<SafeText> | undefined;
  return {
    ...{ session, bus, root, clock, log, extensions, variables, person, parent },
    newCall: () => engine.ids.next("call"),
    settings: loaded.settings,
    roots: loaded.roots,
    isHeadless: (flags?.words.length ?? 0) > 0,
    conversation: () => current.run?.conversation ?? [],
    aside: (call) => aside(opening, call),
    safeText: () => {
      text ??= safeText(opening);
      return text;
    },
    approvedText: async () => {
      const [{ wrapApproved }, { contentMark }] = await Promise.all([
        import("../security/untrusted/untrusted.js"),
        import("../security/untrusted/content-mark.js"),
      ]);
      return (block) => wrapApproved(block, contentMark([block.source, block.text]));
    },
    mayOffer: ({ name, set }) => loaded.settings.tool_sets.value.offers(name, set) && (parent?.mayUse(name) ?? true),
    asPrompt: (command, expand) => hookedPrompt(command, opening.built.get("events"), expand),
    notify: engine.notify,
    give: (command, text) => opening.built.get("gathered").add(command, text),
    refusalOf: async (access, path) => {
      const { Gatherer } = await import("./gatherer.js");
      const gatherer = new Gatherer(opening);
      return access === "write" ? gatherer.writeRefusalOf(path, "") : gatherer.readRefusalOf(path);
    },
    key: (purpose) => keyFor(purpose, engine.sessions),
  };
}

export function givenContext(opening: Opening): GivenContext {
  const { before, resumed, parent, built } = opening;
  const pinned =
    resumed === undefined
      ? new PinnedContext(parent === undefined ? before?.pinned.text : undefined)
      : PinnedContext.from(resumed.rebuilt.messages);
  const gathered = new GatheredContext();
  built.add({ pinned, gathered });
  return { pinned, gathered, gathering: async () => new (await import("./gatherer.js")).Gatherer(opening) };
}

export function instructionsContext(opening: Opening): InstructionsContext {
  return {
    ...featureContext(opening),
    markers: () => opening.engine.content?.markers ?? [],
    openMarkers: async () => (await import("./markers.js")).sessionMarkers(opening),
  };
}

export function promptFilesContext(opening: Opening): PromptFilesContext {
  const promptPlace = async () => (await import("./prompt-files.js")).promptPlace(opening);
  return { ...featureContext(opening), promptPlace };
}

export function retrievalContext(opening: Opening): RetrievalContext {
  const { engine, current } = opening;
  return {
    ...featureContext(opening),
    openEmbedder: (spec) => engine.registry.embedder(spec),
    documents: async () => (await import("./retrieval.js")).sessionDocuments(opening),
    answering: () => {
      const model = current.run?.model;
      return model === undefined ? undefined : `${model.provider}:${model.model}`;
    },
  };
}

export function mcpContext(opening: Opening): McpContext {
  const { engine, current, built, request, root } = opening;
  const { notify, loaded, variables } = engine;
  return {
    ...featureContext(opening),
    ...{ notify, handedIn: request.mcpServers },
    byPerson: () => current.run?.originator.identity !== "agent",
    judge: (call, tool) => built.get("permissions").judge(call, tool),
    sample: (asked, turn, signal) => {
      const { model, bus, ports } = turn;
      const request = { model: model.model, tools: [], ...asked };
      const both = AbortSignal.any([signal, turn.signal]);
      return callBeside({ model, purpose: "sampling", request }, { bus, ports, signal: both, turn });
    },
    hooks: () => built.get("events"),
    host: async (report) => {
      const { serverHost } = await import("./mcp/open-server.js");
      return serverHost({ loaded, variables, root, notify: report });
    },
  };
}

export function hooksContext(opening: Opening): HooksContext {
  return {
    ...featureContext(opening),
    parent: opening.parent,
    offer: (events) => opening.built.add({ events }),
    open: async () => (await import("./hooks.js")).hookSurroundings(opening),
  };
}

export async function keyFor(purpose: string, keys: Pick<SessionStores, "key">): Promise<Uint8Array> {
  return new Uint8Array(hkdfSync("sha256", await keys.key(), "", purpose, 32));
}

async function safeText({ session, engine }: Opening): Promise<SafeText> {
  const [{ redact }, { wrapUntrusted }, { sessionMark }] = await Promise.all([
    import("../security/redact/redact.js"),
    import("../security/untrusted/untrusted.js"),
    import("./sessions/session-mark.js"),
  ]);
  const mark = await sessionMark(session, engine.sessions);
  return { redact, mark, delimit: ({ kind = "text", ...block }) => wrapUntrusted({ kind, ...block }, mark) };
}

async function aside({ engine, built, current }: Opening, call: AsideCall): Promise<AsideAnswer> {
  const { run } = current;
  if (run === undefined) throw new Error("the run has not begun");
  const [{ transcriptOf, newestText }, untrusted] = await Promise.all([
    import("../context/compaction/transcript.js"),
    built.get("outside").wrapper(),
  ]);
  const input = call.input(({ chars, resultChars }) =>
    newestText(run.conversation, (message) => transcriptOf(message, { resultChars, untrusted }), chars),
  );
  const model = (await engine.routes.summary()) ?? run.model;
  const { system, maxOutputTokens } = call;
  const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: input }] }];
  const request = { model: model.model, system, messages, tools: [], maxOutputTokens };
  return run.between(({ signal, ports }) =>
    callBeside({ model, request, purpose: "summary" }, { bus: run.bus, ports, signal }),
  );
}

/** The names that existing hooks know. */
const SOURCES = { "built-in": "builtin", user: "userSettings", project: "projectSettings", mcp: "mcp" } as const;

/** Lets hooks see a command before it becomes the prompt. */
async function hookedPrompt(
  { name, line, source, typed = name, type = "slash_command", signal }: PromptCommand,
  events: SessionEvents,
  expand: () => CommandResult | Promise<CommandResult>,
): Promise<CommandResult> {
  if (!events.has("UserPromptExpansion")) return expand();
  const input = {
    expansion_type: type,
    command_name: name,
    command_args: line,
    command_source: SOURCES[source],
    prompt: `/${typed}${line === "" ? "" : ` ${line}`}`,
  };
  const answer = await events.fire("UserPromptExpansion", { subject: name, input, signal });
  if (answer.refuses || answer.stop !== undefined)
    return refuse(`A hook refused /${typed}: ${answer.stop ?? answer.reason ?? "it gave no reason."}`);
  const result = await expand();
  if ("turn" in result && result.turn !== undefined) events.keep("UserPromptExpansion", answer.context);
  return result;
}
