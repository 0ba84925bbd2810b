/**
 * Event hooks: commands that the user configured for moments of a session.
 *
 * 1. Nothing is loaded for a session without them.
 * 2. Hooks that the person approves during the session count from the next stage on.
 */
import type { ExtensionFile } from "../../base/extension-files.js";
import type { SessionPart } from "../../feature/part.js";
import type { HooksContext } from "./context.js";
import type { HookOccasion } from "./event-hooks.js";
import type { HookAnswer } from "./hook-answer.js";
import type { HookEvent } from "./hook-events.js";
import type { OpenedEventHooks } from "./open-event-hooks.js";

/** For the other parts: their events. */
export interface SessionEvents {
  has(event: HookEvent): boolean;
  /** The joined answer of the hooks; an empty one without hooks. */
  fire(event: HookEvent, occasion: HookOccasion): Promise<HookAnswer>;
  /** Does not wait for the hooks. Text for the model goes with the next request. */
  aside(event: HookEvent, occasion: HookOccasion): void;
  /** Text of a hook for the model, with the next request. */
  keep(event: HookEvent, text: string | undefined): void;
}

/** Of a session without hooks. */
export const NO_EVENTS: SessionEvents = { has: () => false, fire: async () => ({}), aside: () => {}, keep: () => {} };

export async function eventHooks(context: HooksContext): Promise<SessionPart> {
  const hooks = new LateEventHooks(context);
  context.offer(hooks);
  await hooks.load();
  return hooks.part();
}

class LateEventHooks implements SessionEvents {
  readonly #context: HooksContext;
  /** The approved version of each entry that is in use. */
  readonly #inUse = new Map<string, string>();
  #version: number | undefined;
  #opened: OpenedEventHooks | undefined;
  #hasTurn = false;

  constructor(context: HooksContext) {
    this.#context = context;
  }

  part(): SessionPart {
    return {
      name: "event-hooks",
      refresh: async () => {
        await this.load();
        this.#hasTurn = true;
      },
      changingHooks: () => this.#opened?.stages ?? NO_STAGES,
      links: {
        tool: [
          {
            name: "15-event-hooks",
            run: (call, context, next) => this.#opened?.link.run(call, context, next) ?? next(call),
          },
        ],
      },
      gates: [{ review: (call, about) => this.#opened?.gate.review(call, about) }],
      compactions: [
        {
          before: async (compaction) => this.#opened?.compactions.before?.(compaction),
          after: async (compaction) => this.#opened?.compactions.after?.(compaction),
        },
      ],
      subscribers: [{ name: "60-event-hooks", run: (event) => this.#opened?.onEvent(event) }],
      close: () => this.#opened?.close(),
    };
  }

  has(event: HookEvent): boolean {
    return this.#opened?.has(event) === true;
  }

  async fire(event: HookEvent, occasion: HookOccasion): Promise<HookAnswer> {
    return this.has(event) ? ((await this.#opened?.fire(event, occasion)) ?? {}) : {};
  }

  aside(event: HookEvent, occasion: HookOccasion): void {
    if (this.has(event)) this.#opened?.aside(event, occasion);
  }

  keep(event: HookEvent, text: string | undefined): void {
    this.#opened?.keep(event, text);
  }

  /** Never throws: a session works without its hooks, too. */
  async load(): Promise<void> {
    const { extensions, settings, notify } = this.#context;
    if (this.#version === extensions.version) return;
    this.#version = extensions.version;
    const files = this.#newOnes(extensions.of("event-hooks"));
    const hasProfile = this.#opened === undefined && settings.hooks.value.length > 0;
    if (files.length === 0 && !hasProfile) return;
    try {
      const { openEventHooks } = await import("./open-event-hooks.js");
      this.#opened ??= await openEventHooks(this.#context, { isStart: !this.#hasTurn });
      await this.#opened.add(files);
      // The files of this moment are in use; hooks may decide about later ones.
      void extensions.version;
    } catch (error) {
      notify(`Oxbow could not load the hooks: ${(error as Error).message}`);
    }
  }

  #newOnes(files: readonly ExtensionFile[]): readonly ExtensionFile[] {
    return files.filter((file) => {
      const entry = `${file.path}\n${file.entry ?? ""}`;
      const isNew = this.#inUse.get(entry) !== file.sha256;
      this.#inUse.set(entry, file.sha256);
      return isNew;
    });
  }
}

const NO_STAGES = {};
