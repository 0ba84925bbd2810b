/** The hooks of the stages, in the order of a turn. `order.ts` has the order within each stage. */
import { groupDigits } from "../base/group-digits.js";
import { withOrigin } from "../base/message-origin.js";
import { shellWord } from "../base/shell-word.js";
import { TurnFailure } from "../engine/cancel.js";
import { compose } from "../engine/compose.js";
import { Dispatch } from "../engine/dispatch.js";
import type { Model, RequestContext, Tool } from "../engine/ports.js";
import { preparedAnswer } from "../engine/prepared-answer.js";
import { receive } from "../engine/receive.js";
import type { Turn, Unanswered } from "../engine/turn.js";
import { inputMessage, type Message, ownText } from "../protocol/content.js";
import { type Failure, failure } from "../protocol/errors.js";
import { estimateRequestTokens } from "../providers/tokens/estimate-request.js";
import type { ChainServices, Compaction, CreateHook } from "./services.js";

/** The user may have edited the conversation since the last turn: the turn starts from the edited one. */
export const editedConversation: CreateHook =
  ({ journal }) =>
  async (turn): Promise<undefined> => {
    const edited = await journal?.editedConversation().catch((error: Error) => {
      throw new TurnFailure(failure("SessionUnreadable", { session: turn.bus.session, detail: error.message }));
    });
    if (edited !== undefined) turn.conversation.splice(0, turn.conversation.length, ...edited);
  };

/** Sends an input that names a route to that route, for this turn. */
export const route: CreateHook =
  ({ openRoute }) =>
  async (turn): Promise<undefined> => {
    if (turn.route === undefined) return;
    const found = await openRoute?.(turn.route);
    if (found === undefined)
      throw new TurnFailure(failure("NoModel", { detail: `there is no route '${turn.route}'.` }));
    if ("failure" in found) throw new TurnFailure(found.failure);
    turn.model = found.model;
  };

/** Adds the user's input as the newest message. */
export const input: CreateHook = () => (turn) => {
  turn.conversation.push(withOrigin(inputMessage(turn.input, turn.notice), turn.firstEvent));
};

/** Starts the request with the whole conversation; later hooks add to it. */
export const messages: CreateHook = (services) => (turn) => {
  const messages = services.outside?.asSent(turn.conversation) ?? [...turn.conversation];
  // Only the first result from outside needs to wait.
  if (messages instanceof Promise) return messages.then((ready) => begin(turn, ready, services));
  return begin(turn, messages, services);
};

function begin(
  turn: Turn,
  messages: readonly Message[],
  { effort: wanted, maxOutputTokens }: ChainServices,
): undefined {
  const effort = wanted?.();
  const isUntold = turn.emptyAnswer === "untold";
  if (isUntold) turn.emptyAnswer = "told";
  turn.request = {
    model: turn.model.model,
    system: "",
    messages: isUntold ? [...messages, { role: "user", content: [ownText(NOTHING_SAID)] }] : messages,
    tools: [],
    cacheKey: turn.bus.session,
    ...(effort !== undefined && { effort }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  };
}

/** Offers the tools, in a fixed order so that the prompt's prefix stays the same. In mode `deny` it offers none. */
export const tools: CreateHook =
  (services) =>
  async (turn): Promise<undefined> => {
    if (turn.request === undefined || services.gate.mode === "deny") return;
    const fit = await services.fit?.(turn.model);
    const offered = offeredTo(turn.model, services.tools.list(), fit?.without);
    const tools = offered.map(({ name, description, inputSchema, habits, freeform }) => ({
      ...{ name, description, inputSchema },
      ...(freeform !== undefined && { freeform }),
      ...(habits?.names !== undefined && { alsoNamed: habits.names }),
    }));
    turn.request = { ...turn.request, tools };
  };

/** Leaves out what the model failed at, and what another offered tool replaces for it. */
function offeredTo({ model }: Model, tools: readonly Tool[], without: readonly string[] = []): readonly Tool[] {
  const able = tools.filter(({ name }) => !without.includes(name));
  return able.filter(({ replacedBy }) => {
    if (replacedBy === undefined || !replacedBy.models(model)) return true;
    return !able.some(({ name }) => name === replacedBy.tool);
  });
}

export const systemPrompt: CreateHook =
  (services) =>
  async (turn): Promise<undefined> => {
    if (turn.request === undefined) return;
    const fit = await services.fit?.(turn.model);
    turn.request = { ...turn.request, system: services.systemPrompt(fit?.prompt ?? "full") };
  };

/** Compacts the conversation before the window is full. Usually one comparison. */
export const shortenInTime: CreateHook =
  ({ compaction, outside }) =>
  (turn) => {
    const due = compaction?.isDue(turn) ?? false;
    return compaction !== undefined && due ? shorten(turn, due, { compaction, outside }) : undefined;
  };

async function shorten(
  turn: Turn,
  due: true | Promise<boolean>,
  { compaction, outside }: { readonly compaction: Compaction; readonly outside: ChainServices["outside"] },
): Promise<undefined> {
  if ((await due) && (await compaction.shorten(turn, "nearly full")) && turn.request !== undefined) {
    const messages = (await outside?.asSent(turn.conversation)) ?? [...turn.conversation];
    turn.request = { ...turn.request, messages };
  }
}

/** Longer answers are rarely meant, and each token of the limit is taken from the window. */
const MOST_OUTPUT = 32_000;
/** The largest budget for thinking, which some models get besides the limit. */
const MOST_THINKING = 16_384;
const LEAST_OUTPUT = 1024;
/** The catalogue is loaded after the first request, unless that is so long that the window could end. */
const LONG_PROMPT = 60_000;
/** The count of the prompt is an estimate. */
const MARGIN = 1.15;

/** Sets the length of an answer where the service needs one: what the model writes, and what is left of the window. */
export const outputLimit: CreateHook =
  ({ costs }) =>
  (turn) => {
    const { request, model } = turn;
    if (request === undefined || request.maxOutputTokens !== undefined || costs === undefined) return;
    if (model.needsOutputLimit !== true && model.candidates === undefined) return;
    const prompt = estimateRequestTokens(request, model.family);
    const isFirst = !turn.conversation.some(({ role }) => role === "assistant");
    return isFirst && prompt < LONG_PROMPT ? undefined : limit(turn, prompt, costs);
  };

async function limit(turn: Turn, prompt: number, costs: NonNullable<ChainServices["costs"]>): Promise<undefined> {
  const models = (await turn.model.candidates?.()) ?? [turn.model];
  if (models.every(({ needsOutputLimit }) => needsOutputLimit !== true)) return;
  const facts = await costs.facts(turn.model);
  if (facts.assumed || turn.request === undefined) return;
  const thinking = turn.request.effort === undefined ? 0 : MOST_THINKING;
  const left = facts.context - Math.ceil(prompt * MARGIN);
  const most = Math.min(MOST_OUTPUT, facts.output - thinking, left - thinking);
  turn.request = { ...turn.request, maxOutputTokens: Math.max(LEAST_OUTPUT, most) };
}

/** Opens the model's answer through the request chain, or the calls that a person wants first. */
export const send: CreateHook =
  ({ callFacts, compaction }) =>
  async (turn): Promise<undefined> => {
    const { request, ports, timing, signal, calls } = turn;
    if (calls !== undefined) {
      turn.calls = undefined;
      turn.dispatch = new Dispatch(turn);
      turn.stream = preparedAnswer(calls);
      return;
    }
    if (request === undefined) throw new Error("nothing was assembled to send");
    const facts = callFacts?.();
    const context: RequestContext = { model: turn.model, signal, ...(facts && { facts }) };
    compaction?.sent?.(request, turn.model, facts);
    const send = compose(ports.requestLinks, async (final, inner) => inner.model.stream(final, inner), {
      timing,
      prefix: "request-link",
    });
    turn.dispatch = new Dispatch(turn);
    turn.stream = await send(request, context);
  };

/** Reads the answer and decides whether the turn continues. */
export const readAnswer: CreateHook = (services) => async (turn) => {
  const { stream, dispatch } = turn;
  if (stream === undefined || dispatch === undefined) throw new Error("nothing was sent to receive from");
  const answer = await receive(turn, stream, dispatch);
  if (!answer.complete) return (await isShorterNow(turn, services)) ? { next: "assemble" } : undefined;
  turn.compacted = false;
  if (answer.stop === "refusal") {
    turn.fail(failure("ContentRefused", { name: turn.model.provider, detail: turn.text || "no reason given" }));
    return undefined;
  }
  if (answer.yielded) return undefined;
  if (dispatch.size > 0) return { next: "tool_exec" };
  if (answer.stop === "pause") return { next: "assemble" };
  return turn.text.trim() === "" && answer.stop !== "length" ? afterNothing(turn) : undefined;
};

const NOTHING_SAID = "Your last answer was empty. Continue the work, or say how it ended.";

/** Models end with nothing by mistake. Most continue when they learn that. */
function afterNothing(turn: Turn): { readonly next: "assemble" } | undefined {
  if (turn.emptyAnswer === undefined) {
    turn.emptyAnswer = "untold";
    return { next: "assemble" };
  }
  const message = "The model answered nothing, twice. Say what it should do, or choose another model.";
  turn.bus.publish("Notice", { turn: turn.id, level: "warning", message });
  return undefined;
}

/** Compacts a conversation that is too long for its model once; if that does not help, the turn fails. */
async function isShorterNow(turn: Turn, { compaction }: ChainServices): Promise<boolean> {
  const tooLong = turn.failure;
  if (tooLong?.reason !== "ContextTooLong" || compaction === undefined) return false;
  if (turn.compacted) {
    turn.failure = { ...tooLong, message: `${tooLong.message} Oxbow shortened it, but it is still too long.` };
    return false;
  }
  turn.compacted = true;
  if (!(await compaction.shorten(turn, "too long"))) return false;
  turn.failure = undefined;
  return true;
}

/** One answer may be cut by chance; the next one knows. */
const MOST_CUT = 2;

/** Runs the calls and answers each of them in the conversation. */
export const runCalls: CreateHook =
  () =>
  async (turn): Promise<undefined> => {
    if (turn.dispatch === undefined) throw new Error("no calls to run");
    const { results, failure: cause } = await turn.dispatch.finish();
    turn.dispatch = undefined;
    turn.conversation.push({ role: "user", content: results });
    if (cause !== undefined) throw new TurnFailure(cause);
    if (turn.cutCalls >= MOST_CUT) throw new TurnFailure(answersCut(turn));
  };

function answersCut({ model, outputLimit }: Turn): Failure {
  const limit = outputLimit === undefined ? "" : ` of ${groupDigits(outputLimit)} tokens`;
  return failure("AnswersCut", { name: model.provider, limit });
}

/** Sends input from during the turn to the model with the results of its calls. */
export const steer: CreateHook = () => (turn) => {
  for (const { content, from } of turn.takeSteering()) {
    const event = turn.bus.publish("InputSteered", { turn: turn.id, input: content, from });
    turn.conversation.push(withOrigin({ role: "user", content }, event));
  }
};

/** Between two calls of a long turn, and at its end: warns when the conversation almost fills the context window. */
export const windowNotice: CreateHook =
  (services) =>
  async (turn): Promise<undefined> => {
    await notifyWindow(turn, services);
  };

/** Answers calls that never ran; otherwise the provider would reject the next request. */
export const openCalls: CreateHook =
  () =>
  async (turn): Promise<undefined> => {
    const open = turn.dispatch;
    turn.dispatch = undefined;
    if (open === undefined || open.size === 0) return;
    open.abandon();
    const { results } = await open.finish();
    turn.conversation.push({ role: "user", content: results });
  };

/** A longer list would hide the first. */
const MOST_NAMED = 3;
const MOST_CHARACTERS = 200;

/** If a permission was missing, the answer is incomplete: the outcome names the call and how to allow it. */
export const missingPermission: CreateHook = () => (turn) => {
  const [first] = turn.unanswered;
  if (first === undefined || turn.outcome !== undefined || turn.failure !== undefined) return;
  turn.outcome = "denied";
  const { tool, afterMs } = first;
  if (afterMs !== undefined) {
    turn.failure = failure("PermissionTimeout", { tool, timeout: Math.round(afterMs / 1000) });
    return;
  }
  const about = [...new Set(turn.unanswered.map((each) => short(each.about)))];
  const more = about.length > MOST_NAMED ? ` and ${about.length - MOST_NAMED} more` : "";
  turn.failure = failure("PermissionUnanswerable", {
    tool,
    about: `${about.slice(0, MOST_NAMED).join("; ")}${more}`,
    how: advice(turn.unanswered),
  });
};

function advice(unanswered: readonly Unanswered[]): string {
  const words = [...new Set(unanswered.flatMap((each) => each.words ?? []))];
  const toml = [...new Set(unanswered.flatMap((each) => each.toml ?? []))];
  const byFlag = words.length === 0 ? [] : [`add ${words.map((each) => `--allow ${shellWord(each)}`).join(" ")}`];
  const byFile = toml.length === 0 ? [] : [`write permissions.rules = [${toml.join(", ")}] into config.toml`];
  const byMode = unanswered.every(({ words: fitting = [] }) => fitting.length > 0)
    ? ["allow everything with --permission-mode allow"]
    : [];
  const ways = ["run it on a terminal", ...byFlag, ...byFile, ...byMode];
  if (ways.length === 1) return ways.join();
  return `${ways.slice(0, -1).join(", ")}, or ${ways.at(-1)}`;
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS - 1)}…` : line;
}

/** A turn counts as answered only when it is saved. The time for the log is known then, too. */
export const save: CreateHook =
  ({ journal }) =>
  async (turn): Promise<undefined> => {
    if (journal === undefined) return;
    try {
      await journal.flush();
    } catch (error) {
      turn.outcome = undefined;
      turn.fail(failure("SessionNotSaved", { detail: (error as Error).message }));
    }
    turn.timing.add("log/write", journal.takeWriteMs());
  };

/** Publishes the failure of a turn before it ends. */
export const report: CreateHook = (services) => (turn) => {
  if (turn.failure !== undefined) {
    turn.bus.publish("Error", { ...turn.failure, turn: turn.id });
    services.log("error", "engine", turn.failure.message, { reason: turn.failure.reason, turn: turn.id });
  }
};

/** A failure here does not fail the turn. */
async function notifyWindow(turn: Turn, { costs, log }: ChainServices): Promise<void> {
  try {
    const news = await costs?.windowNews(turn.model);
    if (news !== undefined) turn.bus.publish("ContextNearlyFull", { turn: turn.id, ...news });
  } catch (error) {
    log("warn", "engine", "the size of the conversation is unknown", { error: String(error) });
  }
}
