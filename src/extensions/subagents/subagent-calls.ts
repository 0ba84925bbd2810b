/** Answers the calls of `agent` in one session, within its limits. */
import { shorten } from "../../base/cap-text.js";
import type { ToolCall, ToolLinkContext, ToolOutcome } from "../../engine/ports.js";
import type { Turn } from "../../engine/turn.js";
import { ownText } from "../../protocol/content.js";
import { type AgentType, agentTypes, findType } from "./agent-types.js";
import { modelOfDelegate, modelOfType } from "./choose-model.js";
import type { SubagentsContext, SubagentWork } from "./context.js";
import { Slots, TurnCount } from "./limits.js";
import { runSubagent } from "./start-subagent.js";

export class SubagentCalls {
  readonly #context: SubagentsContext;
  readonly #slots: Slots;
  readonly #counts = new WeakMap<Turn, TurnCount>();
  readonly #running = new Set<Promise<unknown>>();

  constructor(context: SubagentsContext) {
    this.#context = context;
    this.#slots = new Slots(context.settings.agents_at_once.value);
  }

  async answer(call: ToolCall, context: ToolLinkContext): Promise<ToolOutcome> {
    const { turn } = context;
    if (turn === undefined) return refused("A subagent can only be started in a turn.");
    const type = await this.#typeOf(call.args.type);
    if (typeof type === "string") return refused(type);
    const prompt = String(call.args.prompt ?? "").trim();
    if (prompt === "") return refused("The prompt is empty.");
    const count = this.#countOf(turn);
    if (!count.add()) {
      const most = this.#context.settings.agents_per_turn.value;
      return refused(`This turn has started ${most} subagents, which is its limit. Do the rest yourself.`);
    }
    const working = this.#work(call, context, { turn, type, prompt, count });
    this.#running.add(working);
    try {
      return await working;
    } finally {
      this.#running.delete(working);
    }
  }

  /** Resolves when no subagent is left; their turns end with the parent's. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #work(
    { call, args }: ToolCall,
    { signal }: ToolLinkContext,
    asked: Pick<SubagentWork, "turn" | "type" | "prompt" | "count">,
  ): Promise<ToolOutcome> {
    const { turn, type, prompt } = asked;
    const release = await this.#slots.take(signal);
    if (release === undefined) return { status: "cancelled", content: [ownText("Cancelled before it started.")] };
    try {
      const chosen =
        args.model === "cheap"
          ? await modelOfDelegate(turn.model, this.#context)
          : await modelOfType(type.model, turn.model, this.#context.models);
      if ("problem" in chosen) return refused(`The model of the type ${type.name} cannot be used. ${chosen.problem}`);
      const { model, note } = chosen;
      const description = firstLine(String(args.description ?? "").trim() || prompt);
      const notes = note === undefined ? [] : [note];
      return await runSubagent(this.#context, { ...asked, model, description, call, signal, notes });
    } finally {
      release();
    }
  }

  #countOf(turn: Turn): TurnCount {
    const { parent, settings } = this.#context;
    const count = parent?.count ?? this.#counts.get(turn) ?? new TurnCount(settings.agents_per_turn.value);
    this.#counts.set(turn, count);
    return count;
  }

  /** Finds the type, or says why there is none. Files added during the session count too. */
  async #typeOf(name: unknown): Promise<AgentType | string> {
    const { extensions, parent } = this.#context;
    const wanted = typeof name === "string" && name.trim() !== "" ? name : "general";
    await extensions.refresh();
    const { types, faults } = await agentTypes(extensions.of("agent"));
    const usable = types.filter((type) => parent?.agents?.includes(type.name) ?? true);
    const found = findType(usable, wanted);
    if (found !== undefined) return found;
    const broken = faults.map(({ path, fault }) => `${path}: ${fault}.`);
    return [`There is no type "${wanted}". Available: ${usable.map((type) => type.name).join(", ")}.`, ...broken].join(
      "\n",
    );
  }
}

function refused(message: string): ToolOutcome {
  return { status: "error", content: [ownText(message)] };
}

function firstLine(text: string): string {
  const line = text.split("\n", 1)[0] ?? "";
  return shorten(line, 60);
}
