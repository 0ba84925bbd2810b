/** The event hooks of a session. */
import { homedir } from "node:os";
import { join } from "node:path";
import type { ExtensionFile } from "../../base/extension-files.js";
import type { ToolLink } from "../../engine/ports.js";
import type { Turn } from "../../engine/turn.js";
import type { ApprovalGate } from "../../feature/part.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { SessionEndReason } from "../../protocol/events.js";
import type { JsonObject } from "../../protocol/json.js";
import { fileHooks, namedProfileHooks } from "./configured-hooks.js";
import type { HookSurroundings, HooksContext } from "./context.js";
import { takeEnvironment } from "./environment-file.js";
import { EventHooks } from "./event-hooks.js";
import { FrontMatterHooks, isFrontMatter } from "./front-matter-hooks.js";
import type { SessionEvents } from "./part.js";
import { ToolHooks } from "./tool-hooks.js";
import { Transcript } from "./transcript.js";
import { TurnHooks } from "./turn-hooks.js";

const END_REASONS: Readonly<Record<SessionEndReason, string>> = {
  user: "prompt_input_exit",
  idle: "other",
  paused: "other",
  error: "other",
  "binary-shutdown": "other",
};

export interface OpenedEventHooks extends SessionEvents, Pick<TurnHooks, "stages" | "compactions"> {
  readonly link: ToolLink;
  readonly gate: ApprovalGate;
  onEvent(event: Envelope): void;
  /** Reads approved files and uses their hooks from now on. */
  add(files: readonly ExtensionFile[]): Promise<void>;
  close(): Promise<void>;
}

/** With `isStart` the hooks of the session's start are still to run. */
export async function openEventHooks(
  context: HooksContext,
  { isStart }: { readonly isStart: boolean },
): Promise<OpenedEventHooks> {
  const { parent, root, roots, session, settings, notify, clock } = context;
  const surroundings = await context.open();
  const { profiles, setup, instructions, recorded, readArguments } = surroundings;
  const place = { root, config: roots.config, profiles };
  const report = (problems: readonly string[]) => {
    // The session that started a subagent has reported them.
    if (parent !== undefined) return;
    for (const problem of problems) notify(`Hooks: ${problem}`);
  };
  const named = namedProfileHooks(settings.hooks.value, place);
  report(named.problems);
  const path = join(roots.state, "output", session, "transcript.jsonl");
  const transcript = new Transcript(path, { sessionId: session, cwd: root });
  const late: Late = { turn: () => turns.turn, keep: (event, text) => turns.keep(event, text) };
  const hooks = new EventHooks(named.hooks, optionsOf(context, surroundings, { transcript, ...late }));
  const source = isStart ? surroundings.source : undefined;
  const agent = parent?.isOfHook ? "hook" : parent?.name.type;
  const turns: TurnHooks = new TurnHooks(hooks, { source, agent, root, loads: instructions, setup });
  const tools = new ToolHooks({
    hooks,
    root,
    now: () => clock.now(),
    recorded,
    readArguments,
  });
  const inFrontMatter = new FrontMatterHooks({ ...context, surroundings, files: place }, () => turns.commandFile);
  let reason: SessionEndReason = "user";
  return {
    stages: turns.stages,
    compactions: turns.compactions,
    has: (event) => hooks.has(event),
    fire: async (event, occasion) => (await hooks.fire(event, occasion)).answer,
    aside: (event, occasion) => hooks.aside(event, occasion, (answer) => turns.keep(event, answer.context)),
    keep: (event, text) => turns.keep(event, text),
    link: tools.link,
    gate: tools.gate,
    onEvent: (event) => {
      if (event.kind === "SessionEnded") reason = event.payload.reason;
      turns.onEvent(event);
    },
    add: async (files) => {
      const isPlain = (file: ExtensionFile) => !isFrontMatter(file);
      const { hooks: found, problems } = await fileHooks(files.filter(isPlain), place);
      const more = await inFrontMatter.read(files.filter(isFrontMatter));
      report([...problems, ...more.problems]);
      hooks.add([...found, ...more.hooks]);
    },
    close: async () => {
      const ended = END_REASONS[reason];
      if (turns.hasEnd) await hooks.fire("SessionEnd", { subject: ended, input: { reason: ended } });
      await hooks.close();
      await inFrontMatter.close();
      transcript.remove();
    },
  };
}

/** Describes what the hooks of a session learn from its turns. */
interface Late {
  readonly turn: () => Turn | undefined;
  readonly keep: (event: string, text: string) => void;
}

function optionsOf(
  { root, session, bus, clock, variables, parent, log, notify, conversation }: HooksContext,
  { environment, added, addedValue, wrap, facts, safe, services }: HookSurroundings,
  { transcript, turn, keep }: Late & { readonly transcript: Transcript },
): ConstructorParameters<typeof EventHooks>[1] {
  return {
    ...{ root, session, environment, clock, wrap, redact: safe, onLate: keep },
    home: variables.HOME || homedir(),
    common: (): JsonObject => {
      transcript.update(conversation());
      return {
        session_id: session,
        transcript_path: transcript.path,
        cwd: root,
        ...facts(),
        ...(parent && { agent_id: session, agent_type: parent.name.type, agent_transcript_path: transcript.path }),
      };
    },
    onTimeout: ({ event, command, timeoutMs }) =>
      void bus.publish("HookTimeout", { event, command, timeout_ms: timeoutMs }),
    onError: ({ event, command, exitCode, detail }) => {
      bus.publish("HookError", { event, command, exit_code: exitCode });
      log("warn", "hooks", "a hook failed", { event, command, detail });
    },
    onMessage: (message) => void bus.publish("Notice", { level: "warning", message }),
    onStatus: (message) => void bus.publish("Notice", { level: "progress", message }),
    onEnvironment: ({ text, isContained }) => {
      const owner = isContained ? "project" : "user";
      for (const problem of takeEnvironment(added, { text, owner, known: environment, addedValue }))
        notify(`Hooks: CLAUDE_ENV_FILE: ${problem}`);
    },
    services: services(turn),
    isOfHook: parent?.isOfHook === true,
  };
}
