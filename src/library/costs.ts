/** Spending and budgets of a library harness. It loads the catalogue during the first request, and only with a budget or a price. */

import type { CostTracker, PricedModel } from "../chain/services.js";
import type { Budget, BudgetLimit, CallBudget } from "../costs/budget.js";
import type { Envelope } from "../protocol/envelope.js";
import type { ModelFacts, Price } from "../providers/catalogue/facts.js";

export interface CostOptions {
  /** Of everything the harness does, and of each prompt. */
  readonly budget: BudgetLimit | undefined;
  readonly budgetTurn: BudgetLimit | undefined;
  readonly price: Price | undefined;
}

const HARNESS = "this harness";
const PROMPT = "this prompt";

export class LibraryCosts implements CostTracker {
  readonly #options: CostOptions;
  #facts: Promise<ModelFacts> | undefined;
  #whole: Promise<Budget> | undefined;
  #prompt: Promise<Budget> | undefined;

  constructor(options: CostOptions) {
    this.#options = options;
  }

  /** Each prompt has its own budget within the total. */
  onEvent({ kind }: Envelope): void {
    if (kind === "TurnStarted") this.#prompt = undefined;
  }

  facts(model: PricedModel): Promise<ModelFacts> {
    this.#facts ??= this.#lookUp(model);
    return this.#facts;
  }

  get countsDollars(): boolean {
    const { budget, budgetTurn } = this.#options;
    return budget?.usd !== undefined || budgetTurn?.usd !== undefined;
  }

  callBudget(): Promise<CallBudget> | undefined {
    const { budget, budgetTurn } = this.#options;
    if (budget === undefined && budgetTurn === undefined) return undefined;
    this.#prompt ??= this.#open(budget, budgetTurn);
    return this.#prompt;
  }

  adviceFor(scope: string): string {
    return scope === PROMPT ? "the option budgetTurn" : "the option budget";
  }

  priceAdvice(): string {
    return "Give it with the option price";
  }

  /** The embedding program sees the usage itself. */
  async windowNews(): Promise<undefined> {
    return undefined;
  }

  async #open(budget: BudgetLimit | undefined, budgetTurn: BudgetLimit | undefined): Promise<Budget> {
    this.#whole ??= import("../costs/budget.js").then(
      ({ Budget }) => new Budget({ scope: HARNESS, ...(budget !== undefined && { limit: budget }) }),
    );
    return (await this.#whole).child(PROMPT, budgetTurn);
  }

  async #lookUp(model: PricedModel): Promise<ModelFacts> {
    const { Catalogue } = await import("../providers/catalogue/catalogue.js");
    const facts = await new Catalogue().facts(model);
    const { price } = this.#options;
    return price === undefined ? facts : { ...facts, price };
  }
}
