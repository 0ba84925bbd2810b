/** The links around each call of a tool. `order.ts` has their order; the one for permissions is in permission-link.ts. */
import { cutMiddle, lineBreaks } from "../base/cap-text.js";
import { formatDuration } from "../base/duration.js";
import { groupDigits } from "../base/group-digits.js";
import { schemaProblems } from "../base/json-schema.js";
import { LateConsumer } from "../base/late-consumer.js";
import { TurnFailure } from "../engine/cancel.js";
import type { ToolOutcome } from "../engine/ports.js";
import { ownText, type ResultContent } from "../protocol/content.js";
import { failure } from "../protocol/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.js";
import { MARKER } from "../security/redact/marker.js";
import { withoutForgedInstructions } from "../security/untrusted/forged-instructions.js";
import { notSaved } from "../sessions/not-saved.js";
import type { CreateToolLink } from "./services.js";

/** Logs every call with its end, never its arguments or its result: they may hold secrets. */
export const logCall: CreateToolLink =
  ({ log }) =>
  async (call, _context, next) => {
    const outcome = await next(call);
    log("debug", "tools", "call", { tool: call.tool, call: call.call, status: outcome.status });
    return outcome;
  };

/** Restores text that the model copied from a marked result, so that edits find and write the original. */
export const restoreCopiedText: CreateToolLink =
  ({ outside }) =>
  async (call, _context, next) => {
    if (outside?.wraps !== true || !holdsChanged(call.args)) return next(call);
    const { mendCopied } = await import("../security/untrusted/untrusted.js");
    return next({ ...call, args: mended(call.args, mendCopied) as JsonObject });
  };

function holdsChanged(value: JsonValue | undefined): boolean {
  if (typeof value === "string") return value.includes("‹") || value.includes("⟦");
  if (Array.isArray(value)) return value.some(holdsChanged);
  return isJsonObject(value) && Object.values(value).some(holdsChanged);
}

function mended(value: JsonValue, mend: (text: string) => string): JsonValue {
  if (typeof value === "string") return mend(value);
  if (Array.isArray(value)) return value.map((inner) => mended(inner, mend));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, inner === undefined ? inner : mended(inner, mend)]),
  );
}

/** Checks arguments first; the model reads which field was wrong and why. */
export const checkArguments: CreateToolLink = () => async (call, context, next) => {
  const { definition } = context;
  const { canonical, inputSchema } = definition;
  const args = (await canonical?.(call.args)) ?? call.args;
  const problems = (await definition.check?.(args)) ?? schemaProblems(inputSchema, args);
  if (problems.length === 0) return next(args === call.args ? call : { ...call, args });
  return { status: "error", content: [ownText(`Not run: ${problems.join("; ")}.`)] };
};

/**
 * Records the intent of a call that makes changes, after the permission and before the start: a question that no client
 * answered is not a call that may have run. The end is written with the result. Writing takes time; the
 * later links prepare meanwhile, and `90-wait-for-intent` waits. A call that only reads waits until the session
 * can be stored: a turn that cannot be saved runs no tool.
 */
export const ledger: CreateToolLink =
  ({ journal, undo: recorder }) =>
  async (call, context, next) => {
    if (journal === undefined) return next(call);
    const refuse = (error: Error): never => {
      throw new TurnFailure(notSaved(error));
    };
    if (!context.definition.mutating) {
      await journal.ready?.().catch(refuse);
      return next(call);
    }
    const { definition, openings = [] } = context;
    const isWhole = definition.set === "command" ? recorder?.isWhole?.(call, definition, openings) : undefined;
    const intended = journal.intend(call, { isWhole }).catch(refuse);
    // A link that refuses the call never waits for it.
    intended.catch(() => {});
    return next(call, { ...context, intended });
  };

/**
 * Tells undo which call is running. A command that cannot be recorded still runs, and the log says so. A file tool refuses changes that
 * cannot be recorded.
 */
export const undo: CreateToolLink = ({ undo, log }) => {
  const failed = (message: string, error: unknown) => log("warn", "undo", message, { error: String(error) });
  return async (call, context, next) => {
    const { mutating, set } = context.definition;
    // A subagent records its own calls.
    if (undo === undefined || !mutating || set === "agents") return next(call);
    const isHeld = set === "command" && (await undo.holdsBack?.(call, context.definition)) === true;
    const changes = set === "edit" ? "announced" : isHeld ? "held" : "unknown";
    const recorded = await undo.begin({ call: call.call, tool: call.tool, changes }).catch((error: unknown) => {
      failed("Oxbow cannot record a call, so undo cannot revert it", error);
      return undefined;
    });
    let outcome: ToolOutcome | undefined;
    try {
      outcome = await (recorded === undefined ? next(call) : recorded.during(() => next(call)));
    } finally {
      const goesOn = typeof outcome?.details?.background_id === "string";
      await recorded?.end({ goesOn }).catch((error: unknown) => {
        failed("Oxbow could not record the end of a call", error);
      });
    }
    return changes === "unknown" && outcome.status === "cancelled" ? cancelled(outcome) : outcome;
  };
};

/** A stopped command may have changed files, and nothing knows which. */
function cancelled(outcome: ToolOutcome): ToolOutcome {
  const ms = outcome.details?.duration_ms;
  if (typeof ms !== "number") return outcome;
  const { reason, message } = failure("BashCancelledMidCommand", { duration: formatDuration(ms) });
  const details = { ...outcome.details, failure: { reason, message } };
  return { ...outcome, content: [...outcome.content, ownText(message)], details };
}

/** Limits what one call adds to the conversation; a file holds the rest. It counts all parts of a result together. */
const MOST_CHARACTERS = 12_000;
/** The limit for tools that give a part that was asked for, or text of Oxbow's own. */
const MOST_OF_PAGES = 100_000;
/** A part with less room than this is left out: a few words of it do not help. */
const LEAST_CHARACTERS = 1000;
const NOT_KEPT = () => "ask for a smaller part to see it";

export const cap: CreateToolLink =
  ({ outputs }) =>
  async (call, context, next) => {
    const outcome = await next(call);
    const { pages, ownResults } = context.definition;
    const most = pages === true || ownResults === true ? MOST_OF_PAGES : MOST_CHARACTERS;
    const texts = outcome.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
    if (texts.reduce((sum, text) => sum + text.length, 0) <= most) return outcome;
    const advice = (await outputs?.save(texts.join("\n"))) ?? NOT_KEPT;
    return { ...outcome, content: capped(outcome.content, { most, advice }) };
  };

/** Tells what fits, from the beginning; one part is cut in its middle, and the parts after it are left out. */
function capped(
  content: readonly ResultContent[],
  { most, advice }: { readonly most: number; readonly advice: (line: number) => string },
): readonly ResultContent[] {
  const kept: ResultContent[] = [];
  let room = most;
  let missing = 0;
  let lines = 0;
  let firstMissing = 0;
  for (const block of content) {
    if (block.type !== "text") {
      kept.push(block);
      continue;
    }
    const before = lines;
    lines += lineBreaks(block.text) + 1;
    const isNote = block.own === true && block.text.length < LEAST_CHARACTERS;
    if (isNote || block.text.length <= room) {
      kept.push(block);
      room = Math.max(0, room - block.text.length);
    } else if (room >= LEAST_CHARACTERS) {
      const { head, note, tail } = cutMiddle(block.text, room, (line) => advice(before + line));
      kept.push({ ...block, text: head }, ownText(note), { ...block, text: tail });
      room = 0;
    } else {
      if (missing === 0) firstMissing = before + 1;
      missing += block.text.length;
    }
  }
  if (missing > 0)
    kept.push(ownText(`[… ${groupDigits(missing)} more characters are left out: ${advice(firstMissing)} …]`));
  return kept;
}

/** Hides secrets in what a tool shows and returns, before it is shown or stored. */
export const redactCall: CreateToolLink = () => async (call, context, next) => {
  const { set } = context.definition;
  if ((set === "edit" || set === "command") && MARKER.test(JSON.stringify(call.args))) return quotesMarker();
  // Loaded while the tool runs, so neither a start without tools nor a call waits for the patterns.
  const loading = load();
  const show = (shown: string) => {
    if (shown !== "") context.progress(shown);
  };
  const live = new LateConsumer({
    load: async () => new (await loading).RedactingStream(),
    consume: (redacting, piece: string) => show(redacting.push(piece)),
  });
  void live.ready();
  const progress = (piece: string) => live.push(piece);
  try {
    const outcome = await next(call, { ...context, progress });
    const { redact } = await loading;
    const content = outcome.content.map((block) =>
      block.type === "text" ? { ...block, text: redact(block.text) } : block,
    );
    const { details } = outcome;
    return details === undefined
      ? { ...outcome, content }
      : { ...outcome, content, details: redactObject(details, redact) };
  } catch (error) {
    // Its message becomes the result.
    const { redact } = await loading;
    if (error instanceof Error) error.message = redact(error.message);
    throw error;
  } finally {
    show((await live.ready()).end());
  }
};

async function load() {
  const { redact } = await import("../security/redact/redact.js");
  const { RedactingStream } = await import("../security/redact/redacting-stream.js");
  return { redact, RedactingStream };
}

type Redact = (text: string) => string;

function redactObject(value: JsonObject, redact: Redact): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactValue(inner, redact)]));
}

function redactValue(value: JsonValue | undefined, redact: Redact): JsonValue | undefined {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((inner) => redactValue(inner, redact) ?? null);
  return isJsonObject(value) ? redactObject(value, redact) : value;
}

/** Writing a marker to a file would destroy the secret behind it. */
function quotesMarker() {
  const advice =
    "Not run: the arguments quote «redacted:…», which stands for a secret that was hidden from you. It cannot be matched " +
    "or written. Leave the lines that hold it as they are, and refer to the secret by the name of its variable or file.";
  return { status: "error" as const, content: [ownText(advice)] };
}

/** Adds the instruction files of a folder to the first result that touches it. No result from outside can imitate them. */
export const folderInstructions: CreateToolLink =
  ({ content }) =>
  async (call, { definition }, next) => {
    const answered = await next(call);
    const outcome = definition.ownResults === true ? inOwnWords(answered) : withoutForgeries(answered);
    if (content === undefined) return outcome;
    const paths = touchedPaths(call.args);
    const instructions = paths.length === 0 ? undefined : await content.touched(paths);
    return instructions === undefined ? outcome : { ...outcome, content: [...outcome.content, ownText(instructions)] };
  };

function inOwnWords(outcome: ToolOutcome): ToolOutcome {
  const content = outcome.content.map((block) => (block.type === "text" ? ownText(block.text) : block));
  return { ...outcome, content };
}

function withoutForgeries(outcome: ToolOutcome): ToolOutcome {
  let changed = false;
  const content = outcome.content.map((block) => {
    if (block.type !== "text" || block.own === true) return block;
    const safe = withoutForgedInstructions(block.text);
    changed ||= safe !== block.text;
    return safe === block.text ? block : { ...block, text: safe };
  });
  return changed ? { ...outcome, content } : outcome;
}

const PATCHED = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm;

/** Argument names of the built-in tools. */
function touchedPaths({ path, patch }: JsonObject): readonly string[] {
  if (typeof path === "string") return [path];
  return typeof patch === "string" ? [...patch.matchAll(PATCHED)].map(([, file = ""]) => file.trim()) : [];
}

/** The last step before a tool runs: the intent is on disk, or the call does not start. */
export const waitForIntent: CreateToolLink =
  ({ outside }) =>
  async (call, context, next) => {
    if (context.intended !== undefined) await context.intended;
    const running = next(call);
    // Loaded while the tool runs: the next request does not wait for it and still gets its errors.
    if (outside?.wraps === true && context.definition.ownResults !== true) outside.wrapper().catch(() => {});
    return running;
  };
