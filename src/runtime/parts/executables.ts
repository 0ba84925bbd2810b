/**
 * Programs in folders: tools and hooks, in any language. Oxbow searches for them again before each iteration; a session without such
 * files loads none of this.
 */

import { join } from "node:path";
import type { ExtensionFiles } from "../../base/extension-files.js";
import type { IdSource } from "../../base/ulid.js";
import { isBuiltInHook } from "../../chain/build.js";
import type { PermissionPrompts } from "../../control/permission-prompts.js";
import type { Tool } from "../../engine/ports.js";
import type { NamedHook, Stage, Turn } from "../../engine/turn.js";
import type { Containment } from "../../extensions/executable/containment.js";
import type { Command } from "../../feature/command.js";
import type { WaitingFile } from "../../security/trust/extension-files.js";
import type { PlaceExtensions } from "../content/place-extensions.js";
import type { Opening } from "../opening.js";
import type { SessionPart } from "../part.js";
import { isBuiltInTool } from "./own-tools.js";

const DEFAULT_TIMEOUT_MS = 300_000;

type Hooks = Partial<Record<Stage, readonly NamedHook[]>>;

/** Hooks that answer open calls, save the session and report failures cannot be replaced. */
export function isKept(stage: string, name: string): boolean {
  return (stage === "done" || stage === "error") && isBuiltInHook(stage, name);
}

export class Executables {
  readonly #opening: Opening;
  readonly #files: ExtensionFiles;
  readonly #reported = new Set<string>();
  #containment: Promise<Containment> | undefined;
  #tools: readonly Tool[] = [];
  #hooks: Hooks = {};
  #hasHooks = false;
  /** The version of the files that the tools and hooks were made of. */
  #loaded: number | undefined;
  /** A call may have changed a file in place. */
  #mayHaveChanged = true;

  constructor(opening: Opening) {
    this.#opening = opening;
    this.#files = opening.extensions;
  }

  part(): SessionPart {
    return {
      name: "executables",
      tools: () => this.#tools,
      changingHooks: () => this.#hooks,
      holdsCalls: () => this.#hooks.tool_exec !== undefined,
      refresh: (turn) => this.#beforeStage(turn),
      commands: () => this.#commands(),
      commandsStamp: () => String(this.#version),
      subscribers: [
        {
          name: "60-extensions",
          run: ({ kind, payload }) => {
            if (kind === "TurnStarted") this.#mayHaveChanged = true;
            if (kind === "ToolResult") this.#recordCall((payload as { readonly tool: string }).tool);
          },
        },
      ],
    };
  }

  async #beforeStage(turn: Turn): Promise<void> {
    if (turn.iterations === 0 && this.#opening.engine.content?.extensions.isFresh !== false) return;
    await this.refresh(turn.signal);
    if (await this.#askAboutNew(turn)) await this.refresh(turn.signal);
    if (this.#hasHooks) await (await import("./executable-hooks.js")).prepareConversation(turn);
  }

  /** Files added since the start, such as a tool that the model wrote, are usable after the user approves them. */
  async #askAboutNew(turn: Turn): Promise<boolean> {
    const { engine, person, current } = this.#opening;
    const { extensions } = engine.content ?? {};
    const waiting = extensions?.takeWaiting() ?? [];
    const mayAsk = person.present() && (current.run?.originator.identity ?? "human") === "human";
    if (extensions === undefined || waiting.length === 0) return false;
    if (!mayAsk) {
      this.report(`Skipped because it is not approved: ${waiting.map(({ title }) => title).join(", ")}`);
      return false;
    }
    return askAbout(waiting, { extensions, person, turn, ids: engine.ids, report: (note) => this.report(note) });
  }

  /** Never throws: a session works without its extensions, too. */
  async refresh(signal?: AbortSignal): Promise<void> {
    try {
      const depth = this.#mayHaveChanged ? "files" : "folders";
      this.#mayHaveChanged = false;
      await this.#files.refresh(depth);
      // Others refresh the same files, so one of them may have seen the change.
      if (this.#loaded === this.#version) return;
      this.#loaded = this.#version;
      await this.#load(signal);
      // A cancelled turn may have left out tools that did not answer in time.
      if (signal?.aborted) this.#loaded = undefined;
    } catch (error) {
      this.report(`Oxbow could not search the extensions: ${(error as Error).message}`);
    }
  }

  /** Once for each message. */
  report(problem: string): void {
    if (this.#reported.has(problem)) return;
    this.#reported.add(problem);
    this.#opening.engine.notify(problem);
  }

  async #load(signal: AbortSignal | undefined): Promise<void> {
    await Promise.all([this.#loadTools(signal), this.#loadHooks()]);
  }

  async #loadHooks(): Promise<void> {
    const files = this.#files.of("hook");
    this.#hasHooks ||= files.length > 0;
    if (files.length === 0) {
      this.#hooks = {};
      return;
    }
    const [{ executableHooks }, { namedHook }] = await Promise.all([
      import("../../extensions/executable/hooks.js"),
      import("./executable-hooks.js"),
    ]);
    const report = (problem: string) => this.report(problem);
    const options = {
      containment: await this.containment(),
      root: this.#opening.root,
      report,
      isBuiltIn: isBuiltInHook,
    };
    const hooks: Partial<Record<Stage, NamedHook[]>> = {};
    for (const hook of executableHooks(files, { report, isKept })) {
      if (hook.stage === "sources" || hook.stage === "resolve") continue;
      const list = hooks[hook.stage] ?? [];
      hooks[hook.stage] = [...list, namedHook(hook, options)];
    }
    this.#hooks = hooks;
  }

  async #loadTools(signal: AbortSignal | undefined): Promise<void> {
    const tools = this.#files.of("tool");
    if (tools.length === 0) {
      this.#tools = [];
      return;
    }
    const { executableTools } = await import("../../extensions/executable/tools.js");
    this.#tools = await executableTools(tools, {
      containment: await this.containment(),
      folder: this.#answers,
      isBuiltIn: isBuiltInTool,
      signal,
      timeoutMs: this.#timeoutMs,
      report: (problem) => this.report(problem),
    });
  }

  async #commands(): Promise<readonly Command[]> {
    const { engine, root } = this.#opening;
    const { sourceCommands } = await import("../commands/sources.js");
    const about = sourceCommands({ ...engine, root });
    const files = this.#files.of("command");
    if (files.length === 0) return about;
    const [{ executableCommands }, { isSessionCommand }] = await Promise.all([
      import("../../extensions/executable/commands.js"),
      import("../commands/catalogue.js"),
    ]);
    const own = await executableCommands(files, {
      containment: await this.containment(),
      folder: this.#answers,
      timeoutMs: this.#timeoutMs,
      report: (problem) => this.report(problem),
      isBuiltIn: isSessionCommand,
    });
    return [...about, ...own];
  }

  get #version(): number {
    return this.#files.version;
  }

  get #answers(): string {
    return join(this.#opening.engine.loaded.roots.data, "programs", "answers");
  }

  get #timeoutMs(): number {
    return this.#opening.engine.loaded.settings.run_timeout.value ?? DEFAULT_TIMEOUT_MS;
  }

  containment(): Promise<Containment> {
    const { engine, root, clock, session, built } = this.#opening;
    this.#containment ??= import("./containment.js").then(({ containmentOf }) =>
      containmentOf({ ...engine, root, clock, session, sandbox: built.get("sandbox") }),
    );
    return this.#containment;
  }

  #recordCall(tool: string): void {
    const { built } = this.#opening;
    if (built.get("toolbox").find(tool)?.mutating !== false) this.#mayHaveChanged = true;
  }
}

interface AskOptions {
  readonly extensions: PlaceExtensions;
  readonly person: PermissionPrompts;
  readonly turn: Turn;
  readonly ids: IdSource;
  readonly report: (note: string) => void;
}

/** True if something was approved. */
async function askAbout(waiting: readonly WaitingFile[], options: AskOptions): Promise<boolean> {
  const { extensions, person, turn, ids, report } = options;
  let approved = false;
  for (const file of waiting) {
    if (turn.signal.aborted) break;
    if (file.text === undefined) {
      report(`The ${file.title} is new, and Oxbow cannot show it here. 'oxbow ack' asks about it.`);
      continue;
    }
    const question = {
      call: ids.next("call"),
      tool: "approve",
      args: {},
      summary: `approve the ${file.title}`,
      reason: "It is new in this session. Oxbow uses this version once you approve it, and asks again when it changes.",
      preview: file.text,
      once_only: true as const,
    };
    const answer = await person.ask(question, turn.signal);
    if (answer.unanswered !== undefined || turn.signal.aborted) continue;
    if (answer.decision === "deny") await extensions.refuse(file);
    else {
      await extensions.approve(file);
      approved = true;
    }
  }
  return approved;
}
