/** Answers the calls of `agent` and `delegate` in one session, within its limits. */
import { shorten } from "../../base/cap-text.js";
import type { ToolCall, ToolLinkContext, ToolOutcome } from "../../engine/ports.js";
import type { Turn } from "../../engine/turn.js";
import { type AgentType, DELEGATE } from "../../extensions/subagents/agent-type.js";
import { agentTypes, findType } from "../../extensions/subagents/agent-types.js";
import { ownText } from "../../protocol/content.js";
import { openRun } from "../open-run.js";
import type { Opening } from "../opening.js";
import type { SessionAgents } from "../parts/subagents.js";
import { modelOfDelegate, modelOfType } from "./choose-model.js";
import { type OpenSubagent, runSubagent } from "./start-subagent.js";

export class SubagentCalls {
  readonly #opening: Opening;
  readonly #agents: SessionAgents;
  readonly #running = new Set<Promise<unknown>>();

  constructor(opening: Opening, agents: SessionAgents) {
    this.#opening = opening;
    this.#agents = agents;
  }

  async answer(call: ToolCall, context: ToolLinkContext): Promise<ToolOutcome> {
    const { turn } = context;
    if (turn === undefined) return refused("A subagent can only be started in a turn.");
    const type = call.tool === "delegate" ? DELEGATE : await this.#typeOf(call.args.type);
    if (typeof type === "string") return refused(type);
    const prompt = String(call.args.prompt ?? "").trim();
    if (prompt === "") return refused("The prompt is empty.");
    if (!this.#agents.countOf(turn).add()) {
      const most = this.#opening.engine.loaded.settings.agents_per_turn.value;
      return refused(`This turn has started ${most} subagents, which is its limit. Do the rest yourself.`);
    }
    const working = this.#work(call, context, { turn, type, prompt });
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
    { tool, call, args }: ToolCall,
    { signal }: ToolLinkContext,
    { turn, type, prompt }: { readonly turn: Turn; readonly type: AgentType; readonly prompt: string },
  ): Promise<ToolOutcome> {
    const release = await this.#agents.slots.take(signal);
    if (release === undefined) return { status: "cancelled", content: [ownText("Cancelled before it started.")] };
    try {
      const { engine } = this.#opening;
      const chosen =
        tool === "delegate" || args.model === "cheap"
          ? await modelOfDelegate(turn.model, engine)
          : await modelOfType(type.model, turn.model, engine);
      if ("problem" in chosen) return refused(`The model of the type ${type.name} cannot be used. ${chosen.problem}`);
      const { model, note } = chosen;
      const description = firstLine(String(args.description ?? "").trim() || prompt);
      const count = this.#agents.countOf(turn);
      const notes = note === undefined ? [] : [note];
      const work = { type, model, prompt, description, call, turn, signal, count, notes };
      return await runSubagent(this.#opening, work, subagentOpener(this.#opening));
    } finally {
      release();
    }
  }

  /** The type, or why there is none. Files added during the session count too. */
  async #typeOf(name: unknown): Promise<AgentType | string> {
    const { extensions, parent } = this.#opening;
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

export function subagentOpener({ bus }: Opening): OpenSubagent {
  return async (engine, parent) => {
    const request = { originator: bus.originator, personPresent: () => parent.prompts.present() };
    const opened = await openRun(engine, request, { parent });
    return "failure" in opened ? { problem: opened.failure.message } : opened;
  };
}

function refused(message: string): ToolOutcome {
  return { status: "error", content: [ownText(message)] };
}

function firstLine(text: string): string {
  const line = text.split("\n", 1)[0] ?? "";
  return shorten(line, 60);
}
