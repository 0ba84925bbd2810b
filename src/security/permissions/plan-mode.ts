/**
 * Plan mode: the model reads and plans, and changes nothing until the user approves.
 *
 * 1. Anyone may switch it on: that only takes away. Only a human may switch it off.
 * 2. `ExitPlanMode` without approval leaves it on: the plan goes back to the model.
 */
import { type Answerer, type MayAnswer, mayAnswer, type QuestionedTurn } from "./identity.js";

export interface PlanExit {
  readonly approve: boolean;
  readonly client: Answerer;
  /** The turn that made the plan. */
  readonly turn: QuestionedTurn;
}

export class PlanMode {
  #on = false;

  get on(): boolean {
    return this.#on;
  }

  enter(): void {
    this.#on = true;
  }

  exit({ approve, client, turn }: PlanExit): MayAnswer {
    if (!this.#on) return { ok: false, reason: "Plan mode is not on." };
    if (!approve) return { ok: true };
    const may = mayAnswer(client, turn);
    if (may.ok) this.#on = false;
    return may;
  }
}
