/** `oxbow session undo ID` and `/undo`: shows what would be undone, and does it after a yes. */

import { resolve } from "node:path";
import { safeText } from "../../../base/terminal-text.js";
import { UsageError } from "../../../base/usage-error.js";
import {
  asValue,
  COMMAND_EXIT,
  type CommandArguments,
  type CommandContext,
  type CommandResult,
  refuse,
} from "../../../feature/command.js";
import { extraRoots } from "../../../security/sandbox/extra-folders.js";
import type { SessionRecord } from "../../../sessions/store.js";
import { applyUndo } from "../../../sessions/undo/apply.js";
import { onlyHunks, onlyThese } from "../../../sessions/undo/only.js";
import { planUndo, type UndoPlan } from "../../../sessions/undo/plan.js";
import { renderUndoPlan, undoPlanJson } from "../../../sessions/undo/render.js";
import type { UndoChoice } from "../../../sessions/undo/selection.js";
import { shownPath } from "../../../system/path-bytes.js";
import { RunGuard } from "../../parts/guard.js";
import { named, type OpenPort, type SessionAction } from "./port.js";
import { findTurn, turnNumber } from "./turn-number.js";
import { withLease } from "./with-lease.js";

interface Asked {
  /** The session, as it was typed. */
  readonly session: string | undefined;
  readonly turn?: string | undefined;
  readonly from?: string | undefined;
  readonly redo: boolean;
  readonly dryRun: boolean;
  readonly skipConflicts: boolean;
  readonly yes: boolean;
  readonly guarded: boolean;
  /** Paths as the plan shows them; empty: all of it. */
  readonly only: readonly string[];
  /** `PATH=1,3` */
  readonly hunks: readonly string[];
}

export const undo: SessionAction = async (args, port, context) => {
  const asked = askedOf(args, context);
  if (context.limits !== undefined && asked.guarded)
    throw new UsageError("To undo changes of guarded files, use a token without limits.");
  if (context.limits !== undefined && asked.session !== undefined && asked.session !== port.current)
    throw new UsageError("To undo changes of another session, use a token without limits.");
  const record = await named(asked.session, port);
  const work = () => undoIn(record, asked, { port, context });
  // A conversation has the lease of its own session.
  if (asked.dryRun || record.id === port.current) return work();
  return withLease(port, { session: record.id, advice: "Use /undo there, or close it first." }, work);
};

/** In a conversation, words can replace the flags: `/undo 2 yes`. */
function askedOf(args: CommandArguments, { surface }: CommandContext): Asked {
  const words = args.list("WHICH");
  const flags = {
    turn: args.flag("turn"),
    from: args.flag("from"),
    redo: args.hasFlag("redo"),
    dryRun: args.hasFlag("dry-run"),
    skipConflicts: args.hasFlag("skip-conflicts"),
    yes: args.hasFlag("yes"),
    guarded: args.hasFlag("guarded"),
    only: args.flags("only"),
    hunks: args.flags("hunks"),
  };
  if (surface === "shell") {
    if (words.length > 1) throw new UsageError("Name one session: oxbow session undo ID [flags]");
    return { session: words[0], ...flags };
  }
  const [session] = words.filter((word) => /^sess_/i.test(word));
  const rest = words.filter((word) => word !== session).join(" ");
  const [whole, which, yes, guarded] = /^(?:(redo|\d{1,9})(?:\s+|$))?(yes)?(\s+guarded)?$/i.exec(rest) ?? [];
  if (whole === undefined) throw new UsageError("Use /undo, /undo TURN or /undo redo; add 'yes' to do it.");
  const isRedo = which?.toLowerCase() === "redo";
  return {
    session,
    ...flags,
    turn: isRedo ? flags.turn : (which ?? flags.turn),
    redo: flags.redo || isRedo,
    yes: flags.yes || yes !== undefined,
    guarded: flags.guarded || guarded !== undefined,
  };
}

async function undoIn(
  record: SessionRecord,
  asked: Asked,
  { port, context }: { readonly port: OpenPort; readonly context: CommandContext },
): Promise<CommandResult> {
  const journal = await port.stores.undoJournal(record.id);
  try {
    const choice = await choiceOf(asked, { port, record });
    const whole = await planUndo(journal, { workspaceRoot: record.cwd, ...choice });
    const plan = chosenPart(whole, asked, journal);
    const guarded = await guardedUndo(plan, port);
    const color = context.screen?.color ?? false;
    const shown = [renderUndoPlan(plan, { color }), safeText(guarded.text)].filter((text) => text !== "").join("\n\n");
    const stop = await decide({ plan, guarded, asked, shown, context });
    if (stop !== undefined) return stop;
    const granted = context.confirm !== undefined || asked.guarded ? guarded.paths : [];
    const options = { skipConflicts: asked.skipConflicts, guarded: guarded.reason, granted };
    const { done, left } = await applyUndo(journal, plan, options);
    const paths = (entries: typeof done) => entries.map(({ path }) => shownPath(path));
    const isTold = port.give !== undefined && record.id === port.current && done.length > 0;
    if (isTold) port.give("/undo", forModel(plan, paths(done)));
    return {
      text: `${doneText(plan, paths(done), left.length)}${restText(whole, plan)}${isTold ? HINT : ""}`,
      value: asValue({ ...undoPlanJson(plan), done: paths(done), left: paths(left) }),
    };
  } finally {
    journal.close();
  }
}

/** A file with some chosen hunks is chosen, too. */
function chosenPart(whole: UndoPlan, { only, hunks }: Asked, journal: Parameters<typeof onlyHunks>[0]): UndoPlan {
  if (only.length === 0 && hunks.length === 0) return whole;
  const parts = hunks.map((typed) => {
    const [, path = "", numbers = ""] = /^(.+)=(\d+(?:,\d+)*)$/s.exec(typed) ?? [];
    if (path === "") throw new UsageError(`--hunks ${typed}: expected PATH=1,3. Nothing was undone.`);
    return { path, numbers: numbers.split(",").map(Number) };
  });
  const paths = chosenPaths(whole, [...only, ...parts.map(({ path }) => path)]);
  const chosen = new Map(parts.map(({ numbers }, index) => [paths[only.length + index] ?? "", numbers]));
  return onlyHunks(journal, onlyThese(whole, paths), chosen);
}

/** Paths are typed as the plan shows them. */
function chosenPaths({ items }: UndoPlan, only: readonly string[]): readonly string[] {
  const shown = (path: string) => path.replace(/^\.\//, "").replace(/\/$/, "");
  const known = new Map(items.map(({ path }) => [shownPath(path), path]));
  return only.map((typed) => {
    const path = known.get(shown(typed));
    if (path === undefined) throw new UsageError(`${typed} is not in the plan. Nothing was undone.`);
    return path;
  });
}

const HINT = " The model learns it with your next prompt.";
const MOST_NAMED = 3;
const MOST_TOLD = 20;

function forModel({ redo }: UndoPlan, done: readonly string[]): string {
  const more = done.length > MOST_TOLD ? ` and ${done.length - MOST_TOLD} more` : "";
  const what = redo ? "restored changes that had been undone" : "undid changes";
  return `The user ${what}: ${done.slice(0, MOST_TOLD).join(", ")}${more}. Read such a file again before you rely on it.`;
}

function doneText({ redo }: UndoPlan, done: readonly string[], left: number): string {
  const rest = left === 0 ? "" : ` ${left} left as they are.`;
  const what = done.length === 0 ? "nothing" : done.length > MOST_NAMED ? `${done.length} files` : done.join(", ");
  return `${redo ? "Restored" : "Reverted"} ${what}.${rest}`;
}

/** The undo applies to the whole turn, so changes that were not chosen need a redo first. */
function restText(whole: UndoPlan, { items }: UndoPlan): string {
  const chosen = new Set(items.map(({ path }) => path));
  const rest = whole.items.filter((item) => item.state === "ready" && !chosen.has(item.path)).length;
  const isPart = items.some(({ bytes }) => bytes !== undefined);
  if (rest === 0 && isPart) return " Changes that you did not choose stay. To choose again, redo first.";
  return rest === 0 ? "" : ` ${rest} not chosen. To choose again, redo first.`;
}

interface Decision {
  readonly plan: UndoPlan;
  readonly guarded: GuardedUndo;
  readonly asked: Asked;
  readonly shown: string;
  readonly context: CommandContext;
}

/** The answer if the plan is not carried out now; undefined if it is. */
async function decide({ plan, guarded, asked, shown, context }: Decision): Promise<CommandResult | undefined> {
  const value = { ...undoPlanJson(plan), guarded: guarded.paths.map((path) => shownPath(path)), done: [] };
  const unchanged = { text: shown, value: asValue(value) };
  if (asked.dryRun) return unchanged;
  const isReady = plan.items.some(({ state }) => state === "ready");
  const isBlocked = plan.items.some(({ state }) => state === "conflict") && !asked.skipConflicts;
  const isAnswered = asked.yes && (guarded.paths.length === 0 || asked.guarded);
  if (context.surface === "slash") {
    if (asked.yes) return undefined;
    return isReady ? { ...unchanged, text: `${shown}\n\n${nextStep(asked, guarded)}` } : unchanged;
  }
  if (context.wants !== "value") await context.write(`${shown}\n`);
  if (isBlocked || !isReady || isAnswered) return undefined;
  const question = plan.redo ? "Redo this?" : "Undo this?";
  if (context.confirm !== undefined) {
    if (await context.confirm(question)) return undefined;
    return { text: "", value: unchanged.value, exitCode: COMMAND_EXIT.cancelled };
  }
  if (asked.yes)
    return refuse(
      `${shownPath(guarded.paths[0] ?? "")} is guarded: --yes alone does not change it. Add --guarded as well.`,
    );
  return refuse(`${question} Add --yes to do it without a question.`);
}

/** The command that does it. */
function nextStep({ session, turn, from, redo, only, hunks }: Asked, { paths }: GuardedUndo): string {
  const which = [
    ...(session === undefined ? [] : [session]),
    ...(redo ? ["redo"] : turn === undefined ? [] : [turn]),
    "yes",
    ...(paths.length > 0 ? ["guarded"] : []),
    ...(from === undefined ? [] : [`--from ${from}`]),
    ...only.map((path) => `--only ${/\s/.test(path) ? `"${path}"` : path}`),
    ...hunks.map((part) => `--hunks ${/\s/.test(part) ? `"${part}"` : part}`),
  ];
  return `Nothing is changed yet: ${["/undo", ...which].join(" ")} does it.`;
}

async function choiceOf(
  { turn, from, redo }: Asked,
  { port, record }: { readonly port: OpenPort; readonly record: SessionRecord },
): Promise<UndoChoice> {
  const given = [turn !== undefined && "--turn", from !== undefined && "--from", redo && "--redo"].filter(Boolean);
  if (given.length > 1) throw new UsageError(`Use one of ${given.join(" and ")}.`);
  if (redo) return { redo: true };
  if (turn !== undefined) return { turn: (await findTurn(port, record, turnNumber("turn", turn))).turn };
  if (from !== undefined) return { from: (await findTurn(port, record, turnNumber("from", from))).turn };
  return {};
}

interface GuardedUndo {
  /** The paths of guarded entries that are ready. */
  readonly paths: readonly string[];
  /** One line for each; empty if there are none. */
  readonly text: string;
  reason(path: string): Promise<string | undefined>;
}

/** Tells which entries of a plan need the user's explicit yes. */
async function guardedUndo(plan: UndoPlan, { stores: sessions, settings, variables }: OpenPort): Promise<GuardedUndo> {
  const guard = new RunGuard({
    root: plan.root,
    extraRoots: extraRoots({ settings }, variables),
    variables,
    ownFolders: sessions.ownFolders,
  });
  const reason = (path: string) => guard.reason(resolve(plan.root, path));
  const found: { readonly path: string; readonly why: string }[] = [];
  for (const { path, state } of plan.items) {
    const why = state === "ready" ? await reason(path) : undefined;
    if (why !== undefined) found.push({ path, why });
  }
  const text = found.map(({ path, why }) => `  ${shownPath(path)}: ${why}`).join("\n");
  return {
    paths: found.map(({ path }) => path),
    text: text && `Guarded files need your explicit yes:\n${text}`,
    reason,
  };
}
