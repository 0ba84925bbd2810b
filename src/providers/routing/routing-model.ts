/**
 * A model made of several: tries them in order until one answers.
 *
 * 1. Every model gets the request as if it were alone: thinking, cache marks and token counts stay with their provider.
 * 2. Each answer, and each failed attempt with a cost, names the model that made it.
 * 3. Text appears once: the text of a failed model is withdrawn unless the next one repeats it.
 * 4. A failed model is skipped for a while, so that the calls of a turn do not wait for it again and again.
 * 5. A search of the web goes to those models whose service has one, whatever a rule says.
 */
import type { Clock } from "../../base/clock.js";
import type {
  AnsweringModel,
  Model,
  ModelEvent,
  ModelRequest,
  ModelStream,
  RequestContext,
} from "../../engine/ports.js";
import type { Failure } from "../../protocol/errors.js";
import { mayFailOver, whileFailingOver } from "../retry/policy.js";
import { ShownAnswer } from "../retry/shown-answer.js";

/** The provider name of all routes, so that `route:NAME` works wherever a model name works. */
const ROUTE_PROVIDER = "route";

export interface RoutingOptions {
  /** Absent if the user named a model, not a route. */
  readonly route?: string;
  /** In the order in which they are tried; opened when needed. One that does not exist is left out. */
  readonly members: readonly (() => Promise<Model | undefined>)[];
  readonly clock: Clock;
  /** Tells which members answer this call, and the rule that says so; default: all, in their order. */
  readonly choose?: (request: ModelRequest, context: RequestContext) => ChosenMembers;
  /** The members whose limits and prices count; default: all. */
  readonly deciding?: readonly number[];
  /** Tells whether the next model may do better; default: unless the conversation itself is the cause. */
  readonly mayFailOver?: (failure: Failure) => boolean;
}

export interface ChosenMembers {
  readonly rule: string;
  /** Their places in the list, in the order in which they are tried. */
  readonly members: readonly number[];
}

/** Sets how long a failed model is skipped, if the provider gives no time itself. */
const REST_MS = 60_000;

export function createRoutingModel(options: RoutingOptions): Model {
  const members = options.members.map((open) => new Member(open, options.clock));
  const { route, choose, deciding, mayFailOver: mayGoOn = mayFailOver } = options;
  const those = (places: readonly number[]) => places.flatMap((place) => members[place] ?? []);
  const deciders = deciding === undefined ? members : those(deciding);
  return {
    provider: ROUTE_PROVIDER,
    family: ROUTE_PROVIDER,
    model: route ?? "",
    candidates: async () => (await Promise.all(deciders.map((member) => member.model()))).filter(isThere),
    stream: (request, context) => {
      const chosen = choose?.(request, context);
      const order = chosen === undefined ? members : those(chosen.members);
      return stream(request, context, { name: { route, rule: chosen?.rule }, members: order, mayGoOn });
    },
  };
}

/** Describes how the user and a rule of the route chose a model. */
interface Way {
  readonly route: string | undefined;
  readonly rule: string | undefined;
}

class Member {
  readonly #open: () => Promise<Model | undefined>;
  readonly #clock: Clock;
  #model: Promise<Model | undefined> | undefined;
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(open: () => Promise<Model | undefined>, clock: Clock) {
    this.#open = open;
    this.#clock = clock;
  }

  get rests(): boolean {
    return this.#clock.now() < this.#restsUntil;
  }

  model(): Promise<Model | undefined> {
    this.#model ??= this.#open();
    return this.#model;
  }

  rest({ retry_after_ms = REST_MS }: Failure): void {
    this.#restsUntil = this.#clock.now() + Math.max(retry_after_ms, REST_MS);
    // Opening it may succeed the next time.
    this.#model = undefined;
  }
}

async function* stream(
  request: ModelRequest,
  context: RequestContext,
  {
    name,
    members,
    mayGoOn,
  }: {
    readonly name: Way;
    readonly members: readonly Member[];
    readonly mayGoOn: (failure: Failure) => boolean;
  },
): ModelStream & AsyncGenerator<readonly ModelEvent[]> {
  const ready = members.filter((member) => !member.rests);
  const order = ready.length > 0 ? ready : members;
  const shown = new ShownAnswer();
  let problem: Failure | undefined;
  let failed = "";
  // Only these can answer it, also while they rest.
  const searching = request.webSearch === true ? await searchersOf(members) : undefined;
  for (const member of searching ?? order) {
    const model = await member.model();
    if (model === undefined) continue;
    const by = nameOf(model, name);
    if (problem !== undefined) {
      yield [{ type: "failover", failure: whileFailingOver(problem, failed), to: by }];
      shown.restart(problem.reason);
    }
    yield [{ type: "answering", by }];
    problem = undefined;
    for await (const batch of model.stream({ ...request, model: model.model }, { ...context, model })) {
      const end = batch.findIndex((event) => event.type === "failure");
      const events = shown.take(end === -1 ? batch : batch.slice(0, end));
      if (events.length > 0) yield events;
      const last = batch[end];
      if (last?.type !== "failure") continue;
      problem = last.failure;
      break;
    }
    if (problem === undefined || context.signal.aborted) return;
    if (!mayGoOn(problem) || shown.calls > 0) break;
    member.rest(problem);
    failed = model.provider;
  }
  if (problem !== undefined) yield [...shown.end(), { type: "failure", failure: problem }];
}

async function searchersOf(members: readonly Member[]): Promise<readonly Member[]> {
  const models = await Promise.all(members.map((member) => member.model()));
  return members.filter((_, index) => models[index]?.searchesWeb === true);
}

function nameOf({ provider, family, model }: Model, { route, rule }: Way): AnsweringModel {
  return { provider, family, model, ...(route !== undefined && { route }), ...(rule !== undefined && { rule }) };
}

function isThere(model: Model | undefined): model is Model {
  return model !== undefined;
}
