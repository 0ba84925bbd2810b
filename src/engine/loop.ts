/**
 * The loop (features L1, L4, L14). It only follows states; what happens in a state is the business of that stage's hooks.
 *
 * 1. Exactly one TurnStarted and one TurnEnded, whatever happens in between. It never throws.
 * 2. `send` is entered at most `maxIterations` times: the turn is bounded.
 * 3. A cancelled or failed turn visits no further working stage, only `error` and `done`.
 */
import { failure } from "../protocol/errors.js";
import type { EventPayloads, TurnOutcome } from "../protocol/events.js";
import { TurnFailure } from "./cancel.js";
import type { Stage, StageChains, Turn } from "./turn.js";

export type TurnResult = EventPayloads["TurnEnded"];

/** Hooks choose the next stage, so a faulty one could walk in circles without ever calling the model. */
const STAGES_PER_ITERATION = 8;

export async function runTurn(turn: Turn, stages: StageChains): Promise<TurnResult> {
  const { id, input, notice, route, queued } = turn;
  turn.firstEvent = turn.bus.publish("TurnStarted", {
    turn: id,
    input,
    ...(notice !== undefined && { notice }),
    ...(route !== undefined && { route }),
    ...(queued > 0 && { queued }),
  });
  const bound = STAGES_PER_ITERATION * (turn.ports.maxIterations + 2);
  let stage: Stage | undefined = "start";
  for (let visited = 0; stage !== undefined && visited < bound; visited++) {
    const next: Stage | undefined = await visit(stage, turn, stages);
    stage = redirect(stage, next, turn);
  }
  if (stage !== undefined) turn.fail(failure("Internal", { detail: `the hooks of ${stage} lead nowhere` }));
  const result = conclude(turn);
  turn.bus.publish("TurnTiming", { turn: turn.id, parts: turn.timing.report() });
  turn.bus.publish("TurnEnded", result);
  turn.abort.dispose();
  return result;
}

async function visit(stage: Stage, turn: Turn, stages: StageChains): Promise<Stage | undefined> {
  let next: Stage | undefined;
  try {
    for (const hook of stages[stage]) {
      next = await turn.timing.measure(`${stage}/${hook.name}`, () => hook.run(turn));
    }
  } catch (error) {
    if (error instanceof TurnFailure) return turn.fail(error.failure);
    if (turn.signal.aborted) return "done";
    return turn.fail(failure("Internal", { detail: error instanceof Error ? error.message : String(error) }));
  }
  return next;
}

/** Where the hooks' wish gives way to what has happened to the turn. */
function redirect(from: Stage, wish: Stage | undefined, turn: Turn): Stage | undefined {
  if (from === "done") return undefined;
  if (from === "error") return wish === "error" ? "done" : wish;
  if (turn.failure !== undefined) return turn.outcome === "limit" ? "done" : "error";
  if (turn.signal.aborted) return "done";
  if (wish !== "send") return wish;
  if (turn.iterations >= turn.ports.maxIterations) {
    turn.outcome = "limit";
    turn.failure = failure("IterationLimit", { limit: turn.ports.maxIterations });
    return "done";
  }
  turn.iterations++;
  return "send";
}

function conclude(turn: Turn): TurnResult {
  const reason = turn.cancelReason;
  const cause = reason?.failure ?? turn.failure;
  let outcome: TurnOutcome = turn.outcome ?? "answered";
  if (reason !== undefined) outcome = reason.failure === undefined ? "cancelled" : (reason.outcome ?? "limit");
  else if (turn.failure !== undefined && turn.outcome === undefined) outcome = "failed";
  if (outcome === "cancelled") turn.bus.publish("Cancelled", { turn: turn.id, by: reason?.by ?? "" });
  return {
    turn: turn.id,
    outcome,
    text: turn.text,
    iterations: turn.iterations,
    usage: turn.usage,
    ...(turn.cost !== undefined && turn.cost !== "unknown" && { cost: turn.cost }),
    ...(turn.truncated && { truncated: true as const }),
    ...(cause !== undefined && outcome !== "cancelled" && { failure: cause }),
  };
}
