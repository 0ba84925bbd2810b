/** The links around the provider call. `order.ts` has their order. */
import type { AnsweringModel, ModelEvent, ModelStream } from "../engine/ports.js";
import type { ModelFacts } from "../providers/catalogue/facts.js";
import { attempts } from "../providers/retry/attempts.js";
import type { CostTracker, CreateRequestLink } from "./services.js";

/** Adds the text of the session's prompt variant. Work beside the conversation, such as a summary, goes without. */
export const variant: CreateRequestLink =
  ({ promptVariant }) =>
  async (request, context, next) => {
    if (promptVariant === undefined || promptVariant === "" || context.facts === undefined) return next(request);
    return next({ ...request, system: [request.system, promptVariant].filter((part) => part !== "").join("\n\n") });
  };

/** Retries a failing call. The answer appears once, however many attempts it takes. */
export const retry: CreateRequestLink =
  ({ retry }) =>
  async (request, context, next) => {
    if (retry === undefined) return next(request);
    const { model, signal } = context;
    return attempts({ provider: model.provider, signal, open: () => next(request) }, retry);
  };

/** Reserves from the budgets before the call and charges them after it. Without a budget it loads nothing. */
export const budget: CreateRequestLink =
  ({ costs }) =>
  async (request, context, next) => {
    const budget = costs?.callBudget();
    if (costs === undefined || budget === undefined) return next(request);
    const { payForCall } = await import("./pay-for-call.js");
    return payForCall(request, context, { costs, budget: await budget, next });
  };

/** Adds the price to the provider's count. At this point the model is known; a model made of several names the one that answers. */
export const price: CreateRequestLink =
  ({ costs }) =>
  async (request, context, next) => {
    const stream = await next(request);
    return costs === undefined ? stream : priced(stream, context.model, costs);
  };

type UsageEvent = Extract<ModelEvent, { type: "usage" }>;

interface Known {
  readonly facts: ModelFacts;
  readonly costOf: typeof import("../providers/catalogue/facts.js").costOf;
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
  const [facts, { costOf }] = await Promise.all([costs.facts(model), import("../providers/catalogue/facts.js")]);
  return { facts, costOf };
}

export const logRequest: CreateRequestLink = (services) => async (request, context, next) => {
  services.log("debug", `provider.${context.model.provider}`, "request", {
    model: request.model,
    messages: request.messages.length,
    tools: request.tools.length,
  });
  return next(request);
};
