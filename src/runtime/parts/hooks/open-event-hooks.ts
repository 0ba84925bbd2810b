/** The event hooks of a session. */
import { homedir } from "node:os";
import { join } from "node:path";
import type { ExtensionFile } from "../../../base/extension-files.js";
import type { ApprovalGate } from "../../../chain/approval-gate.js";
import type { ToolLink } from "../../../engine/ports.js";
import type { Turn } from "../../../engine/turn.js";
import { EventHooks } from "../../../extensions/hooks/event-hooks.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { SessionEndReason } from "../../../protocol/events.js";
import type { JsonObject } from "../../../protocol/json.js";
import { withoutForgedInstructions } from "../../../security/untrusted/forged-instructions.js";
import { childEnvironment } from "../../../tools/child-environment.js";
import type { Opening } from "../../opening.js";
import type { SessionEvents } from "../event-hooks.js";
import { fileHooks, namedProfileHooks } from "./configured-hooks.js";
import { isFrontMatter } from "./front-matter-file.js";
import { FrontMatterHooks } from "./front-matter-hooks.js";
import { hookServices } from "./hook-services.js";
import { takeEnvironment } from "./take-environment.js";
import { ToolHooks } from "./tool-hooks.js";
import { Transcript } from "./transcript.js";
import { type SetupTrigger, type StartSource, TurnHooks } from "./turn-hooks.js";

/** The names of the modes for hooks. */
const MODES: Readonly<Record<string, string>> = {
  ask: "default",
  auto: "auto",
  review: "default",
  allow: "bypassPermissions",
  deny: "dontAsk",
};

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
export function openEventHooks(opening: Opening, { isStart }: { readonly isStart: boolean }): OpenedEventHooks {
  const { engine } = opening;
  const place = { loaded: engine.loaded, root: engine.root };
  const report = (problems: readonly string[]) => {
    // The session that started a subagent has reported them.
    if (opening.parent !== undefined) return;
    for (const problem of problems) engine.notify(`Hooks: ${problem}`);
  };
  const named = namedProfileHooks(place);
  report(named.problems);
  const transcript = transcriptOf(opening);
  const late: Late = { turn: () => turns.turn, keep: (event, text) => turns.keep(event, text) };
  const hooks = new EventHooks(named.hooks, placeOf(opening, transcript, late));
  const source = isStart ? sourceOf(opening) : undefined;
  const agent = opening.parent?.isOfHook ? "hook" : opening.parent?.name.type;
  const loads = () => engine.content?.loads ?? [];
  const turns: TurnHooks = new TurnHooks(hooks, { source, agent, root: engine.root, loads, setup: setupOf(opening) });
  const tools = new ToolHooks({
    hooks,
    root: engine.root,
    now: () => engine.clock.now(),
    undo: opening.built.get("undo"),
    newCall: () => engine.ids.next("call"),
  });
  const inFrontMatter = new FrontMatterHooks(opening, () => turns.commandFile);
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

function setupOf({ engine: { flags }, parent }: Opening): SetupTrigger | undefined {
  if (parent !== undefined || flags === undefined) return undefined;
  return flags.has("init") ? "init" : flags.has("maintenance") ? "maintenance" : undefined;
}

function sourceOf({ resumed, before }: Opening): StartSource {
  if (resumed !== undefined) return "resume";
  return before === undefined ? "startup" : "clear";
}

function transcriptOf({ engine, session, root }: Opening): Transcript {
  const path = join(engine.loaded.roots.state, "output", session, "transcript.jsonl");
  return new Transcript(path, { sessionId: session, cwd: root });
}

/** What the hooks of a session learn from its turns. */
interface Late {
  readonly turn: () => Turn | undefined;
  readonly keep: (event: string, text: string) => void;
}

function placeOf(opening: Opening, transcript: Transcript, late: Late): ConstructorParameters<typeof EventHooks>[1] {
  const { engine, session, root, bus, current, built, parent } = opening;
  const { variables, clock } = engine;
  const sandbox = built.get("sandbox");
  return {
    root,
    home: variables.HOME || homedir(),
    session,
    environment: childEnvironment(variables),
    clock,
    // The sandbox of commands that the user allowed: the home folder is readable and repositories are writable.
    wrap: (plain) =>
      sandbox.wrap(plain, { onTerminal: false, outside: false, openings: ["git"], hasInput: true, writes: "held" }),
    common: (): JsonObject => {
      const permissions = built.get("permissions");
      transcript.update(current.run?.conversation ?? []);
      return {
        session_id: session,
        transcript_path: transcript.path,
        cwd: root,
        permission_mode: permissions.planning ? "plan" : (MODES[permissions.mode] ?? permissions.mode),
        model: current.run?.model.model,
        ...(parent && { agent_id: session, agent_type: parent.name.type, agent_transcript_path: transcript.path }),
      };
    },
    redact: async (text) => {
      const { redact } = await import("../../../security/redact/redact.js");
      // A hook may quote a file; the text must not imitate an instruction file.
      return withoutForgedInstructions(redact(text));
    },
    onTimeout: ({ event, command, timeoutMs }) =>
      void bus.publish("HookTimeout", { event, command, timeout_ms: timeoutMs }),
    onError: ({ event, command, exitCode, detail }) => {
      bus.publish("HookError", { event, command, exit_code: exitCode });
      engine.log("warn", "hooks", "a hook failed", { event, command, detail });
    },
    onMessage: (message) => void bus.publish("Notice", { level: "warning", message }),
    onStatus: (message) => void bus.publish("Notice", { level: "progress", message }),
    onEnvironment: ({ text, isContained }) => {
      const owner = isContained ? "project" : "user";
      const known = childEnvironment(variables);
      for (const problem of takeEnvironment(built.get("hookVariables"), { text, owner, known }))
        engine.notify(`Hooks: CLAUDE_ENV_FILE: ${problem}`);
    },
    onLate: late.keep,
    services: hookServices(opening, late.turn),
    isOfHook: parent?.isOfHook === true,
  };
}
