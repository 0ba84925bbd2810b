import type { Model, ModelEvent, ModelStream, Paid } from "../../engine/ports.js";
import type { Usage } from "../../protocol/usage.js";
import type { ModelFacts } from "../../providers/catalogue/facts.js";
import type { CostKeeper, CreateRequestLink } from "../services.js";

/** Puts the price on what the provider counted. It stands where the model is settled: whoever answered is named and paid. */
export const create: CreateRequestLink =
  ({ costs }) =>
  async (request, context, next) => {
    const stream = await next(request);
    return costs === undefined ? stream : priced(stream, context.model, costs);
  };

type UsageEvent = Extract<ModelEvent, { type: "usage" }>;

interface Known {
  readonly facts: ModelFacts;
  readonly costOf: typeof import("../../providers/catalogue/facts.js").costOf;
}

/** The price is looked up while the provider thinks. It is there before the answer ends, or the end waits for it. */
async function* priced(stream: ModelStream, model: Model, costs: CostKeeper): AsyncGenerator<readonly ModelEvent[]> {
  const iterator = stream[Symbol.asyncIterator]();
  let known: Known | undefined;
  /** The newest count, as long as it has gone out without its price. */
  let waiting: UsageEvent | undefined;
  const pay = (event: ModelEvent): ModelEvent => {
    if (event.type !== "usage" || event.paid?.cost !== undefined) return event;
    const { paid: _paid, ...bare } = event;
    waiting = known === undefined ? bare : undefined;
    return { ...bare, paid: paidTo(model, bare.usage, known) };
  };
  try {
    let next = iterator.next();
    const loading = load(model, costs).then((loaded) => {
      known = loaded;
    });
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      if (known === undefined && value.some(isEnd)) await loading;
      const late = waiting !== undefined && known !== undefined ? [pay(waiting)] : [];
      const batch = value.some(({ type }) => type === "usage") ? value.map(pay) : value;
      yield late.length > 0 ? [...late, ...batch] : batch;
      next = iterator.next();
    }
  } finally {
    await iterator.return?.();
  }
}

function isEnd({ type }: ModelEvent): boolean {
  return type === "stop" || type === "failure";
}

function paidTo({ provider, model }: Model, usage: Usage, known: Known | undefined): Paid {
  const price = known?.facts.price;
  return { provider, model, ...(known && price && { cost: known.costOf(usage, price) }) };
}

async function load(model: Model, costs: CostKeeper): Promise<Known> {
  const [facts, { costOf }] = await Promise.all([costs.facts(model), import("../../providers/catalogue/facts.js")]);
  return { facts, costOf };
}
