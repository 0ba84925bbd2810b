import type { AnsweringModel, ModelEvent, ModelStream } from "../../engine/ports.js";
import type { ModelFacts } from "../../providers/catalogue/facts.js";
import type { CostTracker, CreateRequestLink } from "../services.js";

/** Adds the price to the provider's count. At this point the model is known; a model made of several names the one that answers. */
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

/** The price is looked up while the provider works. The end of the answer waits for it if necessary. */
async function* priced(
  stream: ModelStream,
  first: AnsweringModel,
  costs: CostTracker,
): AsyncGenerator<readonly ModelEvent[]> {
  const iterator = stream[Symbol.asyncIterator]();
  let known: Known | undefined;
  let loading: Promise<void> = Promise.resolve();
  /** The newest count that was sent without its price. */
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
      // Not earlier: by now the request has been sent.
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

/** A count that is still here would be reported without its price. */
function endsAttempt({ type }: ModelEvent): boolean {
  return type === "stop" || type === "failure" || type === "again" || type === "failover";
}

function isOfInterest({ type }: ModelEvent): boolean {
  return type === "usage" || type === "answering";
}

async function load(model: AnsweringModel, costs: CostTracker): Promise<Known> {
  const [facts, { costOf }] = await Promise.all([costs.facts(model), import("../../providers/catalogue/facts.js")]);
  return { facts, costOf };
}
