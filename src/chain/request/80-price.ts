import type { AnsweringModel, ModelEvent, ModelStream } from "../../engine/ports.js";
import type { ModelFacts } from "../../providers/catalogue/facts.js";
import type { CostKeeper, CreateRequestLink } from "../services.js";

/** Puts the price on what the provider counted. It stands where the model is settled; a model made of several says who answers. */
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
async function* priced(
  stream: ModelStream,
  first: AnsweringModel,
  costs: CostKeeper,
): AsyncGenerator<readonly ModelEvent[]> {
  const iterator = stream[Symbol.asyncIterator]();
  let known: Known | undefined;
  let loading: Promise<void> = Promise.resolve();
  /** The newest count, as long as it has gone out without its price. */
  let waiting: UsageEvent | undefined;
  const learn = (model: AnsweringModel) => {
    known = undefined;
    waiting = undefined;
    const asked = load(model, costs).then((loaded) => {
      if (loading === asked) known = loaded;
    });
    loading = asked;
  };
  const pay = (event: ModelEvent): ModelEvent => {
    if (event.type === "answering") learn(event.by);
    if (event.type !== "usage" || event.cost !== undefined) return event;
    waiting = known === undefined ? event : undefined;
    const price = known?.facts.price;
    return known === undefined || price === undefined ? event : { ...event, cost: known.costOf(event.usage, price) };
  };
  try {
    let next = iterator.next();
    for (let isFirst = true; ; isFirst = false) {
      const { done, value } = await next;
      if (done) return;
      // Not before: the request is on its way then.
      if (isFirst) learn(first);
      if (known === undefined && value.some(endsAttempt)) await loading;
      const late = waiting !== undefined && known !== undefined ? [pay(waiting)] : [];
      const batch = value.some(isOfInterest) ? value.map(pay) : value;
      yield late.length > 0 ? [...late, ...batch] : batch;
      next = iterator.next();
    }
  } finally {
    await iterator.return?.();
  }
}

/** What is unpaid by then would be told without its price. */
function endsAttempt({ type }: ModelEvent): boolean {
  return type === "stop" || type === "failure" || type === "again" || type === "failover";
}

function isOfInterest({ type }: ModelEvent): boolean {
  return type === "usage" || type === "answering";
}

async function load(model: AnsweringModel, costs: CostKeeper): Promise<Known> {
  const [facts, { costOf }] = await Promise.all([costs.facts(model), import("../../providers/catalogue/facts.js")]);
  return { facts, costOf };
}
