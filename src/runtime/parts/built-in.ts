/**
 * The built-in parts of a session.
 *
 * 1. They are made in this order: each may use what the ones before it have made (`opening.built`).
 * 2. They are closed in reverse order: what the tools still write when they end goes to the journal, which closes after them.
 * 3. Their commands load with the first command that a client sends.
 */

import { OutsideResults } from "../../chain/outside-results.js";
import { lateQuestion } from "../../chain/permission-link.js";
import { instructions } from "../../context/instructions/part.js";
import { knowledgeBase } from "../../context/knowledge-base/part.js";
import { memory } from "../../context/memory/part.js";
import { given } from "../../context/pinned/part.js";
import { promptFiles } from "../../context/prompt-files/part.js";
import { retrieval } from "../../context/retrieval/part.js";
import { skills } from "../../context/skills/part.js";
import { aliases } from "../../extensions/aliases/part.js";
import { eventHooks } from "../../extensions/hooks/part.js";
import { mcp } from "../../extensions/mcp/part.js";
import { subagents } from "../../extensions/subagents/part.js";
import type { CreateFeature } from "../../feature/part.js";
import { rawTraffic } from "../../providers/raw-traffic/part.js";
import { Audit } from "../../security/audit/part.js";
import { PLAN_MODE_INSTRUCTION } from "../../security/permissions/plan-mode-instruction.js";
import { ask } from "../../tools/ask.js";
import { CATALOG } from "../../tools/catalog.js";
import {
  featureContext,
  givenContext,
  hooksContext,
  instructionsContext,
  mcpContext,
  promptFilesContext,
  retrievalContext,
} from "../feature-context.js";
import { modelFits } from "../models/model-fit.js";
import { type Opening, type RunEffort, runOf } from "../opening.js";
import type { SessionPart } from "../part.js";
import { pastEvents } from "../sessions/resumed-session.js";
import { sessionMark } from "../sessions/session-mark.js";
import type { Settings } from "../settings/settings.js";
import { subagentsContext } from "../subagents.js";
import { RunCompaction } from "./compaction.js";
import { RunCosts } from "./costs.js";
import { Executables } from "./executables.js";
import { openJournal } from "./journal.js";
import { isBuiltInTool } from "./own-tools.js";
import { recall } from "./recall.js";
import { RunRecording } from "./recording.js";
import { toolsPart } from "./tools.js";
import { webSearch } from "./web-search.js";

export type CreateBuiltIn = (opening: Opening) => SessionPart | Promise<SessionPart>;

/** Tells which model answers, how much it thinks and how often it is tried. */
const models: CreateBuiltIn = (opening) => {
  const { engine, before, parent, built } = opening;
  const { settings, roots } = engine.loaded;
  const { routes, clock, variables, hint } = engine;
  const level = before === undefined ? (parent?.effort ?? settings.effort.value) : before.effort.level;
  const effort: RunEffort = { level };
  built.add({ effort });
  return {
    name: "models",
    services: {
      openRoute: (name) => routes.open(name),
      retry: { clock, random: Math.random, totalWaitMs: settings.retry_wait.value },
      fit: modelFits({ variables, roots, hint }),
      effort: () => effort.level,
      ...(settings.max_output_tokens.value !== undefined && { maxOutputTokens: settings.max_output_tokens.value }),
    },
    commands: async () => (await import("../models/commands.js")).modelPartCommands(opening),
  };
};

const content: CreateBuiltIn = ({ engine, current }) => {
  engine.content?.begin();
  const touched = async (paths: readonly string[]) => {
    const texts = [await engine.content?.touched(paths)];
    for (const part of current.parts ?? []) texts.push(await part.touched?.(paths));
    return texts.filter((text) => text !== undefined).join("\n\n") || undefined;
  };
  return { name: "content", services: { content: { touched, forget: () => engine.content?.forget() } } };
};

const journal: CreateBuiltIn = async (opening) => {
  const { engine, session, resumed, parent, current, built } = opening;
  const { log, notify, sessions, loaded, variables, root } = engine;
  const opened = await openJournal({
    modelNow: () => opening.current.run?.model,
    ...engine,
    session,
    resumed,
    parent: parent?.link,
    profile: loaded.chosen.name,
    onFailure: (cause) => {
      log("error", "sessions", "the session cannot be saved", { session, error: cause.message });
      if (current.run?.busy) current.run.fail("session store", cause);
      else notify(cause.message);
    },
  });
  built.add({ journal: opened });
  return {
    name: "journal",
    services: { journal: opened },
    commands: async () => {
      const { conversationSessionCommands } = await import("../commands/sessions/commands.js");
      const { settings, roots } = loaded;
      const place = { folder: root, base: root, current: session };
      return conversationSessionCommands({
        ...place,
        stores: sessions,
        settings,
        roots,
        variables,
        clock: engine.clock,
        give: (command, text) => void built.get("gathered").add(command, text),
        ...(engine.live && { live: engine.live }),
      });
    },
    close: () => opened.close(),
  };
};

const costs: CreateBuiltIn = (opening) => {
  const { engine, session, resumed, previous, parent, built } = opening;
  const kept = new RunCosts({
    ...engine,
    ...engine.loaded,
    session,
    isResumed: resumed !== undefined,
    journal: built.get("journal"),
    before: previous?.costs,
    outer: parent,
  });
  built.add({ costs: kept });
  return {
    name: "costs",
    services: { costs: kept },
    commands: async () => {
      const { costCommands } = await import("../../costs/commands.js");
      const store = () => engine.sessions.open();
      return costCommands({ session: kept, store, folder: engine.root, roots: engine.loaded.roots, wall: Date.now });
    },
    close: () => kept.close(),
  };
};

const compaction: CreateBuiltIn = (opening) => {
  const { engine, session, current, built } = opening;
  const { settings } = engine.loaded;
  const results = settings.untrusted_results.value;
  const outside = new OutsideResults(() => sessionMark(session, engine.sessions), { results });
  const shortening = new RunCompaction({
    outside,
    share: settings.compact_at.value,
    limitsOf: (model) => built.get("costs").limitsOf(model),
    summaryModel: () => engine.routes.summary(),
    conversation: () => current.run?.conversation ?? [],
    journal: built.get("journal"),
    pinned: async (place) => {
      const each = await Promise.all((current.parts ?? []).map((part) => part.pinned?.(place) ?? []));
      const { openWork } = await import("../../context/compaction/open-work.js");
      const planMark = PLAN_MODE_INSTRUCTION;
      return [
        ...each.flat(),
        ...openWork(current.run?.conversation ?? [], { ...place, planMark, todoTool: CATALOG.todo.name }),
      ];
    },
    onShortened: () => engine.content?.forget(),
  });
  built.add({ outside, compaction: shortening });
  return {
    name: "compaction",
    services: { compaction: shortening, outside },
    commands: async () => {
      const { compactionCommands } = await import("../commands/compaction.js");
      return compactionCommands({ run: runOf(opening), compaction: shortening });
    },
  };
};

const recording: CreateBuiltIn = (opening) => {
  const { engine, root, current, built } = opening;
  const model = () => `${current.run?.model.provider}:${current.run?.model.model}`;
  const { clock, notify } = engine;
  const refusalOf = async (path: string) => {
    const { Gatherer } = await import("../gatherer.js");
    return new Gatherer(opening).writeRefusalOf(path, "");
  };
  const made = new RunRecording({ workspace: root, model, wall: clock.wall, notify, refusalOf });
  built.add({ recording: made });
  return {
    name: "recording",
    subscribers: [{ name: "60-recording", run: (event) => made.take(event) }],
    commands: made.commands(),
    close: () => made.stop(),
  };
};

const audit: CreateBuiltIn = ({ engine, resumed, built }) => {
  const made = new Audit(resumed && (() => pastEvents(engine.sessions, resumed.record)));
  built.add({ audit: made });
  return made.part();
};

const tools: CreateBuiltIn = (opening) => {
  const { engine, session, bus, resumed, before, back, parent, current, built, request, person } = opening;
  const ended = new AbortController();
  const aside = { call: engine.ids.next("call"), tool: "approve" };
  const { part, ...made } = toolsPart(engine, {
    session,
    bus,
    turnsBefore: resumed === undefined ? 0 : resumed.turns,
    originator: () => current.run?.originator.identity ?? "human",
    before: before?.permissions,
    back,
    folders: opening.folders,
    isPlanning: resumed?.isPlanning ?? false,
    // Another profile comes with its own permissions.
    mode: request.place?.profile === undefined ? resumed?.mode : undefined,
    parent,
    model: () => current.run?.model,
    tools: () => current.run?.tools,
    askPerson: () =>
      parent === undefined && person.present()
        ? lateQuestion(aside, { person, context: { signal: ended.signal } })
        : undefined,
  });
  built.add(made);
  return {
    ...part,
    close: async () => {
      ended.abort();
      await part.close?.();
    },
    commands: async () => (await import("../commands/of-tools.js")).toolPartCommands(opening),
  };
};

const executables: CreateBuiltIn = (opening) => new Executables(opening).part();

/** A process without plugins loads none of it. */
const plugins: CreateBuiltIn = async (opening) => {
  const { plugins: loaded = [] } = opening.engine;
  if (loaded.length === 0) return { name: "plugins" };
  const { pluginPart } = await import("../../extensions/plugins/part.js");
  return pluginPart(loaded, { ...featureContext(opening), isBuiltInTool });
};

/** The settings files; nothing of a turn uses it. */
const profiles: CreateBuiltIn = (opening) => {
  let stamp: (() => string) | undefined;
  return {
    name: "profiles",
    commands: async () => {
      const [{ namesHere, sessionProfileCommands }, { settingCommands }] = await Promise.all([
        import("../commands/profiles.js"),
        import("../settings/save-settings.js"),
      ]);
      stamp = () => namesHere(opening).join("\n");
      return [...sessionProfileCommands(opening), ...settingCommands(() => opening.engine.loaded)];
    },
    // Each profile has a command, also one that was made since.
    commandsStamp: () => stamp?.() ?? "",
  };
};

/** Stored keys; nothing of a turn uses it. */
const credentials: CreateBuiltIn = ({ engine: { variables } }) => ({
  name: "credentials",
  commands: async () => (await import("../credentials/commands.js")).keyCommands({ variables, warn: () => {} }),
});

/** A feature sees what its context offers, and nothing else of the session. */
const feature =
  (create: CreateFeature<Settings>): CreateBuiltIn =>
  (opening) =>
    create(featureContext(opening));

/** Only a copy can run turns of another session again. */
const copied: CreateBuiltIn = async (opening) =>
  opening.resumed?.record.branch_of === undefined
    ? { name: "rerun" }
    : (await import("../sessions/rerun.js")).rerunPart(opening);

export const BUILT_IN: readonly CreateBuiltIn[] = [
  models,
  content,
  journal,
  costs,
  (opening) => given(givenContext(opening)),
  compaction,
  credentials,
  profiles,
  (opening) => rawTraffic(featureContext(opening), opening.engine.writesTraffic),
  recording,
  audit,
  tools,
  webSearch,
  feature(ask),
  plugins,
  (opening) => subagents(subagentsContext(opening)),
  feature(skills),
  feature(memory),
  recall,
  copied,
  (opening) => promptFiles(promptFilesContext(opening)),
  (opening) => retrieval(retrievalContext(opening)),
  feature(knowledgeBase),
  feature(aliases),
  (opening) => mcp(mcpContext(opening)),
  (opening) => instructions(instructionsContext(opening)),
  // After the others, so that a tool or command in the user's own folder replaces one of any other part.
  executables,
  // After what looks for new files.
  (opening) => eventHooks(hooksContext(opening)),
];
