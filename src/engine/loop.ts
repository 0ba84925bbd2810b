/**
 * The loop. It only follows stages; their hooks do the work.
 *
 * 1. Every turn has exactly one TurnStarted and one TurnEnded. The loop never throws.
 * 2. `send` is entered at most `maxIterations` times: the turn is bounded.
 * 3. A cancelled, stopped or failed turn visits no further working stage, only `error` and `done`.
 * 4. `done` is visited exactly once in every turn, and each of its hooks runs even when one before it fails.
 * 5. A hook that returns nothing changes nothing: the turn goes to the stage's default successor. Of several explicit choices
 *    the last one counts.
 */
import { failure } from "../protocol/errors.js";
import type { EventPayloads, TurnOutcome } from "../protocol/events.js";
import { TurnFailure } from "./cancel.js";
import type { HookResult, Stage, StageChains, Turn } from "./turn.js";

export type TurnResult = EventPayloads["TurnEnded"];

const SUCCESSORS: Readonly<Record<Exclude<Stage, "done">, Stage>> = {
  start: "assemble",
  assemble: "send",
  send: "receive",
  receive: "done",
  tool_exec: "tool_done",
  tool_done: "assemble",
  error: "done",
};

/** Hooks may choose the next stage, so a faulty one could loop without ever calling the model. */
const STAGES_PER_ITERATION = 8;

export async function runTurn(turn: Turn, stages: StageChains): Promise<TurnResult> {
  const { id, input, notice, route, queued } = turn;
  turn.firstEvent = turn.bus.publish("TurnStarted", {
    turn: id,
    input,
    ...(notice !== undefined && { notice }),
    ...(route !== undefined && { route }),
    ...(queued > 0 && { queued }),
    ...(turn.ports.promptVariant !== undefined && { variant: turn.ports.promptVariant }),
    ...modeOf(turn),
    ...(turn.folders.length > 0 && { folders: turn.folders }),
  });
  const bound = STAGES_PER_ITERATION * (turn.ports.maxIterations + 2);
  let stage: Stage = "start";
  for (let visited = 0; stage !== "done" && visited < bound; visited++) {
    if (stage === "start" || stage === "assemble") await turn.ports.refresh?.(turn);
    const choice: Stage | undefined = await visit(stage, turn, stages);
    stage = nextStage(stage, choice, turn);
  }
  if (stage !== "done") {
    turn.fail(failure("Internal", { detail: `the hooks of ${stage} name no next stage` }));
    await visit("error", turn, stages);
  }
  await finish(turn, stages);
  const result = conclude(turn);
  turn.bus.publish("TurnTiming", { turn: turn.id, parts: turn.timing.report() });
  turn.bus.publish("TurnEnded", result);
  turn.abort.dispose();
  return result;
}

/** Runs the hooks of a stage until one fails or stops the turn. Returns the last explicit choice. */
async function visit(stage: Stage, turn: Turn, stages: StageChains): Promise<Stage | undefined> {
  let choice: Stage | undefined;
  try {
    for (const hook of stages[stage]) {
      const result: HookResult = await turn.timing.measure(`${stage}/${hook.name}`, () => hook.run(turn));
      if (result === undefined) continue;
      if ("stop" in result) {
        turn.stop(`${stage}/${hook.name}`, result.stop);
        return undefined;
      }
      choice = result.next;
    }
  } catch (error) {
    recordFault(turn, error);
  }
  return choice;
}

/** The stage `done`: if one hook fails, the others still run. */
async function finish(turn: Turn, stages: StageChains): Promise<void> {
  for (const hook of stages.done) await visit("done", turn, { ...stages, done: [hook] });
}

function recordFault(turn: Turn, error: unknown): void {
  if (error instanceof TurnFailure) turn.fail(error.failure);
  else if (!turn.signal.aborted)
    turn.fail(failure("Internal", { detail: error instanceof Error ? error.message : String(error) }));
}

/** The state of the turn overrides the choice of its hooks. */
function nextStage(from: Exclude<Stage, "done">, choice: Stage | undefined, turn: Turn): Stage {
  const next = choice ?? SUCCESSORS[from];
  if (turn.failure !== undefined) return from === "error" || turn.outcome === "limit" ? "done" : "error";
  if (turn.signal.aborted || turn.stopped !== undefined) return "done";
  if (from === "error" && next === "error") return "done";
  if (next !== "send") return next;
  if (turn.iterations >= turn.ports.maxIterations) {
    turn.outcome = "limit";
    turn.failure = failure("IterationLimit", { limit: turn.ports.maxIterations });
    return "done";
  }
  turn.iterations++;
  return "send";
}

function conclude(turn: Turn): TurnResult {
  const outcome = outcomeOf(turn);
  const reason = turn.cancelReason;
  const cause = reason?.failure ?? turn.failure ?? turn.stopped;
  if (outcome === "cancelled") turn.bus.publish("Cancelled", { turn: turn.id, by: reason?.by ?? "" });
  return {
    turn: turn.id,
    outcome,
    text: turn.text,
    iterations: turn.iterations,
    usage: turn.usage,
    ...(turn.cost !== undefined && turn.cost !== "unknown" && { cost: turn.cost }),
    ...(turn.shares.length > 1 && { by_model: turn.shares }),
    ...(turn.truncated && { truncated: true as const }),
    ...modeOf(turn),
    ...(cause !== undefined && outcome !== "cancelled" && { failure: cause }),
  };
}

/** A resumed session finds its mode in its last turn. */
function modeOf(turn: Turn): Pick<TurnResult, "plan" | "mode"> {
  const mode = turn.chosenMode();
  return { ...(turn.isPlanning() && { plan: true }), ...(mode !== undefined && { mode }) };
}

function outcomeOf({ cancelReason, failure: cause, outcome, stopped }: Turn): TurnOutcome {
  if (cancelReason !== undefined)
    return cancelReason.failure === undefined ? "cancelled" : (cancelReason.outcome ?? "limit");
  if (outcome !== undefined) return outcome;
  if (cause !== undefined) return "failed";
  return stopped === undefined ? "answered" : "stopped";
}
