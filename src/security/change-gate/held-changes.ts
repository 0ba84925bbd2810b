/**
 * Applies what a command wrote in its view (`security/sandbox/overlay-view.ts`): reads the changes, lets the gate and the person decide, keeps
 * for undo what goes, and changes the workspace.
 *
 * 1. A command that was cancelled or ran out of time changes nothing. What it wrote is kept for the session, and `/keep` applies it.
 * 2. Undo knows of every change before the first one is made, and the plan is on the disk. After a crash the next Oxbow finishes it.
 * 3. One set of changes is applied at a time.
 * 4. Until the result of a call is in the log, a file says that its changes were applied. A resumed session needs no question then.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { diffText } from "../../base/diff.js";
import type { Variables } from "../../base/variables.js";
import type { ToolContext } from "../../engine/ports.js";
import { inWords } from "../../system/errno-words.js";
import {
  type Applied,
  type ApplyPlan,
  applyChanges,
  disputed,
  finishPlan,
  flushWritten,
  readPlan,
  writePlan,
} from "../../system/overlay/apply-changes.js";
import { fileBytes, type HeldChange, type IgnoreSource, isWholeGone, look } from "../../system/overlay/change-set.js";
import { shownPath } from "../../system/path-bytes.js";
import type { ProcessEnd } from "../../system/process-group.js";
import { foldersOnWay, isWithin } from "../../system/within.js";
import { judgeDeletions } from "../permissions/contained/deletions.js";
import { type PathPermissionState, placed, refusingEntry } from "../permissions/path-permissions.js";
import { trackedFiles } from "../permissions/tracked-files.js";
import type { OverlayView, ViewedChanges } from "../sandbox/overlay-view.js";
import { shown } from "../trust/shown.js";
import { type GateVerdict, type HeldBack, judgeChanges, withoutMissing } from "./change-gate.js";

export interface HeldPlace {
  /** Oxbow's own folder for the sandbox. */
  readonly folder: string;
  readonly root: string;
  readonly variables: Variables;
  /** Those of Oxbow itself. */
  readonly ownFolders: readonly string[];
  notify(message: string): void;
  ignore(): Promise<IgnoreSource>;
  /** Tells why changes of paths need the user. */
  reasons(): Promise<(path: string) => string | undefined>;
  pathPermissions(): Promise<PathPermissionState>;
  /** Undo keeps what goes. */
  readonly undo: { beforeApplying(plans: readonly ApplyPlan[]): Promise<void> };
}

/** A link to a program of the system or of a tool chain leads to nothing that a command could change. */
const SYSTEM_FOLDERS: readonly string[] = "/usr /bin /sbin /lib /lib64 /opt /nix /dev/null".split(" ");

/** A command with its view, when it has ended. */
export interface EndedCommand {
  readonly view: OverlayView;
  /** In milliseconds since the epoch. */
  readonly startedAt: number;
  readonly records: "pass" | "guarded";
  readonly end: Pick<ProcessEnd, "reason">;
  /** The person wants no changes any more since it began. */
  readonly isUnwanted?: boolean;
  readonly context: Pick<ToolContext, "granted" | "approved" | "ask" | "call">;
}

export interface Settled {
  /** For the model, a line each. */
  readonly notes: readonly string[];
  /** With `+`, `~` or `-` in front. */
  readonly changed: readonly string[];
  /** Nothing was applied, although the command ended by itself. */
  readonly failed?: boolean;
}

/** They may be large. */
const MOST_DISCARDED = 5;
const MOST_NAMED = 10;
const CHANGED = "[changed: ";
const MOST_PREVIEWED = 8;
const PREVIEWED_BYTES = 64 * 1024;

export class HeldChanges {
  readonly #place: HeldPlace;
  readonly #ends: AppliedCalls;
  readonly #discarded: EndedCommand[] = [];
  #applying: Promise<unknown> = Promise.resolve();

  private constructor(place: HeldPlace) {
    this.#place = place;
    this.#ends = new AppliedCalls(place.folder);
  }

  static async open(place: HeldPlace): Promise<HeldChanges> {
    await finishAbandoned(place.folder, { notify: (message) => place.notify(message) });
    return new HeldChanges(place);
  }

  /** The results of all calls so far are in the log. */
  forgetEnds(): void {
    this.#ends.forget();
  }

  /** Resolves when the changes are applied, or will not be. */
  settle(command: EndedCommand): Promise<Settled> {
    return this.#afterOthers(() => this.#settleAndTell(command));
  }

  #afterOthers(settle: () => Promise<Settled>): Promise<Settled> {
    const settled = this.#applying.then(settle);
    this.#applying = settled.catch(() => {});
    return settled;
  }

  /** Applies what the last command wrote that did not end by itself. Undefined if there is none. */
  async keep(ask: NonNullable<ToolContext["ask"]>): Promise<Settled | undefined> {
    const command = this.#discarded.pop();
    if (command === undefined) return undefined;
    try {
      const wanted = {
        ...command,
        end: { reason: "exit" },
        isUnwanted: false,
        context: { ask, approved: true },
      } as const;
      return await this.#afterOthers(() => this.#settle(wanted));
    } finally {
      await command.view.discard();
    }
  }

  async close(): Promise<void> {
    this.forgetEnds();
    await Promise.all(this.#discarded.splice(0).map(({ view }) => view.discard()));
  }

  async #settleAndTell(command: EndedCommand): Promise<Settled> {
    const settled = await this.#settle(command);
    const notes = settled.notes.filter((note) => !note.startsWith(CHANGED));
    // No model reads what a hook's command could not do.
    if (command.context.call === undefined && command.end.reason === "exit" && notes.length > 0)
      this.#place.notify(
        `A hook or another program of the session ran a command, and not all is as it wrote it: ${notes.join(" ")}`,
      );
    return settled;
  }

  async #discard(command: EndedCommand): Promise<Settled> {
    const why = command.isUnwanted ? ", because the mode is plan now" : "";
    const notes = [`[the workspace is as it was: nothing of it was applied${why}]`];
    if (!command.view.hasWritten) return { notes, changed: [] };
    command.view.keep();
    this.#discarded.push(command);
    if (this.#discarded.length > MOST_DISCARDED) await this.#discarded.shift()?.view.discard();
    this.#place.notify(
      `What the ${command.isUnwanted ? "" : "stopped "}command wrote was not applied${why}. /keep applies it.`,
    );
    return { notes, changed: [], failed: command.isUnwanted === true };
  }

  async #settle(command: EndedCommand): Promise<Settled> {
    const { end, view } = command;
    if (end.reason !== "exit" || command.isUnwanted) return this.#discard(command);
    let sets: readonly ViewedChanges[];
    try {
      sets = await view.read(await this.#place.ignore());
    } catch (error) {
      return { notes: [`[its changes were not applied: ${(error as Error).message}]`], changed: [], failed: true };
    }
    if (sets.every(({ changes, problems, staying }) => changes.length + problems.length + staying.length === 0))
      return NOTHING;
    const notes: string[] = [];
    const plans: ApplyPlan[] = [];
    let isPart = false;
    for (const set of sets) {
      const { allowed, heldBack } = await this.#judge(set, command);
      isPart ||= heldBack.length > 0;
      notes.push(...heldBackNotes(heldBack, set, allowed));
      const { root, upper } = set;
      const { startedAt, context } = command;
      plans.push({
        ...{ root, upper, startedAt },
        removed: view.removedOf(root),
        call: context.call,
        changes: await this.#withDisputed(set, allowed, command),
      });
      for (const { path, why } of set.problems.slice(0, MOST_NAMED))
        notes.push(`[${named(path)} was left out: ${why}]`);
      const innermost = set.staying.filter((path) => !set.staying.some((other) => other.startsWith(`${path}/`)));
      for (const path of innermost.slice(0, MOST_NAMED)) {
        notes.push(`[${named(path)} stays: it holds a file that commands do not see]`);
      }
    }
    if (plans.every(({ changes }) => changes.length === 0)) return { notes, changed: [], failed: isPart };
    try {
      await Promise.all([flushWritten(plans), this.#place.undo.beforeApplying(plans)]);
      await writePlan(view.folder, plans);
    } catch (error) {
      const why = inWords((error as Error).message);
      return { notes: [...notes, `[its changes were not applied: ${why}]`], changed: [], failed: true };
    }
    const applied: Applied[] = [];
    try {
      for (const plan of plans) applied.push(await applyChanges(plan));
    } catch (error) {
      const why = `[only a part of its changes could be applied: ${inWords((error as Error).message)}. Undo reverts that part; the next start of Oxbow applies the rest]`;
      return { notes: [...notes, why], changed: [], failed: true };
    }
    const changed = applied.flatMap(({ done }) => outermostOf(done).map(lineOf));
    this.#ends.note(command.context.call, changed);
    view.noteApplied(applied.flatMap(({ folders }) => folders));
    for (const { path, ours } of applied.flatMap(({ conflicts }) => conflicts)) {
      const kept = `${named(path)} was changed by another program meanwhile and is kept`;
      notes.push(ours === undefined ? `[${kept}]` : `[${kept}; the version of this command is ${named(ours)}]`);
    }
    return { notes: [...notes, ...changedNote(changed)], changed, failed: isPart };
  }

  async #judge(
    set: ViewedChanges,
    { records, context }: EndedCommand,
  ): Promise<{ readonly allowed: readonly HeldChange[]; readonly heldBack: readonly HeldBack[] }> {
    const { root, upper, changes, isHidden } = set;
    const programs = [...SYSTEM_FOLDERS, ...toolChains(this.#place.variables)];
    const verdict = await judgeChanges({
      ...{ root, changes, records, granted: context.granted ?? [] },
      reason: await this.#place.reasons(),
      refusal: await this.#refusal(),
      isHidden,
      deletions: (removed) => {
        if (context.approved || removed.length === 0) return undefined;
        const gone = removed.map(({ path, whole }) => ({
          path,
          extent: whole ? ("tree" as const) : ("file" as const),
        }));
        const paths = outermostOf(removed).map(({ path }) => path);
        const made = new Set(changes.flatMap(({ path, after }) => (after === undefined ? [] : [path])));
        const lost = [...trackedFiles(root)(paths)].filter((path) => !made.has(path));
        const { decision, reason } = judgeDeletions(gone, lost);
        return decision === "ask" ? reason : undefined;
      },
      mayLead: (target) => programs.some((place) => target === place || target.startsWith(`${place}/`)),
      text: (path) => smallText(join(upper, path)),
    });
    const heldBack = [...verdict.asking, ...verdict.refused];
    const { problems } = set;
    if (heldBack.length === 0) return { allowed: withoutMissing(verdict.passing, problems), heldBack };
    const isAllowed = verdict.asking.length > 0 && (await this.#asked(set, verdict, context));
    const left = isAllowed ? verdict.refused : heldBack;
    const isLeft = new Set(left.map(({ change }) => change));
    const passing = changes.filter((change) => !isLeft.has(change));
    if (left.length > 0 && context.call !== undefined)
      this.#place.notify(`A part of what a command changed is not applied: ${heldBackLines(left).join("; ")}.`);
    const missing = [...left.map(({ change }) => change), ...problems];
    return { allowed: withoutMissing(passing, missing), heldBack: left };
  }

  /** Tells why path permissions refuse a change. */
  async #refusal(): Promise<(path: string, access: "write" | "delete") => string | undefined> {
    const { pathPermissions, root, ownFolders } = this.#place;
    const entries = placed(await pathPermissions(), root);
    return (absolute, access) => {
      if (ownFolders.some((folder) => isWithin(absolute, folder))) return "it belongs to Oxbow";
      const entry = refusingEntry(entries, { absolute, access, display: absolute, place: "workspace" });
      return entry && `the path permission for ${entry.prefix} does not grant ${access} there`;
    };
  }

  async #asked(set: ViewedChanges, { asking }: GateVerdict, { ask }: EndedCommand["context"]): Promise<boolean> {
    if (ask === undefined) return false;
    const outer = outermostOf(asking.map(({ change }) => change));
    const [first] = outer;
    const more = outer.length > 1 ? ` and ${outer.length - 1} more` : "";
    const what = first && `${verbOf(first)} ${named(first.path)}${more}`;
    return ask({
      summary: `The command wants to ${what}. Apply it?`,
      reason: `The command has ended, and these changes are held back: ${reasonsOf(asking)}.`,
      preview: previews(set, outer),
    });
  }

  /** Keeps what another program changed meanwhile, unless the person lets the command's version take its place. */
  async #withDisputed(
    set: ViewedChanges,
    changes: readonly HeldChange[],
    { startedAt, context: { ask } }: EndedCommand,
  ): Promise<readonly HeldChange[]> {
    const asked = disputed({ root: set.root, startedAt, changes });
    const outer = [...asked.values()];
    const [first] = outer;
    if (first === undefined || ask === undefined) return changes;
    const more = outer.length > 1 ? ` and ${outer.length - 1} more` : "";
    const isYes = await ask({
      summary: `Another program changed ${named(first.path)}${more} while the command ran. Take the command's version?`,
      reason: "Without a yes what is there now stays, and the version of the command is beside it, as NAME.oxbow.",
      preview: previews(set, outer),
      isOffer: true,
    });
    return isYes ? changes.map((change) => asked.get(change) ?? change) : changes;
  }
}

const NOTHING: Settled = { notes: [], changed: [] };

/** Folders of interpreters that the user installed: `~/.pyenv/shims` needs the files beside it. */
function toolChains({ PATH = "", HOME }: Variables): readonly string[] {
  if (HOME === undefined) return [];
  return PATH.split(":").flatMap((folder) => {
    if (!isWithin(folder, HOME) || folder === HOME) return [];
    const above = dirname(folder);
    return [above === HOME || above === join(HOME, ".local") ? folder : above];
  });
}

const MARK_DAYS = 30;

/** A file for each call whose changes were applied. */
class AppliedCalls {
  readonly #folder: string;
  readonly #noted = new Set<string>();

  /** Oxbow's own folder for the sandbox. */
  constructor(folder: string) {
    this.#folder = join(folder, "applied");
  }

  note(call: string | undefined, changed: readonly string[]): void {
    if (call === undefined) return;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const [line = ""] = changedNote(changed);
    writeFileSync(this.#at(call), line, { mode: 0o600 });
    this.#noted.add(call);
  }

  /** Tells what it changed; undefined if nothing was applied. */
  find(call: string): string | undefined {
    return fileBytes(this.#at(call), PREVIEWED_BYTES)?.toString();
  }

  forget(): void {
    for (const call of this.#noted) rmSync(this.#at(call), { force: true });
    this.#noted.clear();
  }

  /** Of sessions that were not resumed. */
  removeOld(): void {
    if (look(this.#folder) === undefined) return;
    for (const name of readdirSync(this.#folder)) {
      const found = look(join(this.#folder, name));
      if (found && Date.now() - found.mtimeMs > MARK_DAYS * 86_400_000)
        rmSync(join(this.#folder, name), { force: true });
    }
  }

  #at(call: string): string {
    return join(this.#folder, call.replaceAll(/\W/g, "_"));
  }
}

export type WholeEnd = { readonly verdict: "applied" | "not applied"; readonly note?: string | undefined };

/**
 * Finishes or drops what Oxbows that ended left. One that cannot be finished now is left to the next start. Returns how `calls` ended, which
 * ran in a session that no other process has: those that are missing are not known.
 */
export async function finishAbandoned(
  folder: string,
  { notify, calls = [] }: { readonly notify: (message: string) => void; readonly calls?: readonly string[] },
): Promise<ReadonlyMap<string, WholeEnd>> {
  const { takeAbandonedViews, removeView } = await import("../sandbox/overlay-view.js");
  const ends = new AppliedCalls(folder);
  const unknown = new Set<string>();
  const isMeant = (view: string) => calls.length > 0 && plansOf(view).some(({ call }) => call && calls.includes(call));
  for (const view of takeAbandonedViews(folder, isMeant)) {
    const plans = plansOf(view);
    try {
      const changed: string[] = [];
      for (const plan of plans) {
        const { done } = await finishPlan(plan);
        changed.push(...outermostOf(done).map(lineOf));
        notify(`Oxbow ended while it applied the changes of a command in ${plan.root}. They are complete now.`);
      }
      if (plans.length > 0) ends.note(plans[0]?.call, changed);
      await removeView(view);
    } catch (error) {
      for (const { call = "" } of plans) unknown.add(call);
      const why = (error as Error).message;
      const problem = "Oxbow ended while it applied the changes of a command, and cannot complete them";
      notify(`${problem}: ${why}. The next start tries again; they are in ${view}.`);
    }
  }
  ends.removeOld();
  return new Map(
    calls
      .filter((call) => !unknown.has(call))
      .map((call) => {
        const note = ends.find(call);
        return [call, note === undefined ? { verdict: "not applied" } : { verdict: "applied", note }];
      }),
  );
}

/** A plan that cannot be read was not written to its end: no step of it was taken. */
function plansOf(view: string): readonly ApplyPlan[] {
  try {
    return readPlan(view) ?? [];
  } catch {
    return [];
  }
}

function heldBackNotes(
  heldBack: readonly HeldBack[],
  { changes }: ViewedChanges,
  allowed: readonly HeldChange[],
): readonly string[] {
  const applied = new Set(allowed);
  const isKept = changes.some((change) => change.after === undefined && !applied.has(change));
  return [
    ...heldBackLines(heldBack).map((line) => `[not applied: ${line}]`),
    ...(isKept ? ["[so nothing that it deleted or moved is gone]"] : []),
    ...(heldBack.length > 0 ? ["[the user is asked when a command or write names such a path]"] : []),
  ];
}

/** One for each reason. */
function heldBackLines(heldBack: readonly HeldBack[]): readonly string[] {
  const byReason = new Map<string, HeldChange[]>();
  for (const { change, reason } of heldBack) byReason.set(reason, [...(byReason.get(reason) ?? []), change]);
  const lines = [...byReason].map(([reason, changes]) => `${namesOf(outermostOf(changes).map(lineOf))}: ${reason}`);
  return lines.slice(0, MOST_NAMED);
}

function changedNote(changed: readonly string[]): readonly string[] {
  return changed.length === 0 ? [] : [`${CHANGED}${namesOf(changed)}]`];
}

function namesOf(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).join(", ") + (more > 0 ? ` and ${more.toLocaleString("en-US")} more` : "");
}

function reasonsOf(heldBack: readonly HeldBack[]): string {
  return [...new Set(heldBack.map(({ reason }) => reason))].slice(0, 3).join("; ");
}

/** A command chose these names. */
function named(path: string): string {
  return shown(shownPath(path));
}

function lineOf({ path, before, after, whole, from }: HeldChange): string {
  if (from !== undefined) return `+${named(path)} (was ${named(from)})`;
  const sign = before === undefined ? "+" : after === undefined ? "-" : "~";
  return `${sign}${named(path)}${whole || (after ?? before)?.kind === "folder" ? "/" : ""}`;
}

function verbOf({ before, after, from }: HeldChange): string {
  if (from !== undefined) return `move ${named(from)} to`;
  return before === undefined ? "create" : after === undefined ? "delete" : "change";
}

/** Without what lies in a folder that is created or deleted itself. */
function outermostOf(changes: readonly HeldChange[]): readonly HeldChange[] {
  const folders = new Set(
    changes.flatMap((change) => {
      const { path, before, after } = change;
      const isMade = before === undefined && after?.kind === "folder";
      return isMade || (after === undefined && before?.kind === "folder") || isWholeGone(change) ? [path] : [];
    }),
  );
  if (folders.size === 0) return changes;
  return changes.filter(({ path }) => !foldersOnWay(path).some((folder) => folders.has(folder)));
}

function previews(set: ViewedChanges, changes: readonly HeldChange[]): string {
  const shown = changes.slice(0, MOST_PREVIEWED).map((change) => preview(set, change));
  return shown.join("\n");
}

function preview({ root, upper, isHidden }: ViewedChanges, change: HeldChange): string {
  const { path, before, after } = change;
  const head = lineOf(change);
  if (after?.kind === "link") return `${head} -> ${named(after.target ?? "")}`;
  const [old, fresh] = [
    before && !isHidden(path) ? smallText(join(root, path)) : undefined,
    after && smallText(join(upper, path)),
  ];
  if (old === undefined && fresh === undefined) return head;
  return `${head}\n${diffText(old ?? "", fresh ?? "", { maxLines: 40 }).text}`;
}

function smallText(full: string): string | undefined {
  const bytes = fileBytes(full, PREVIEWED_BYTES);
  return bytes === undefined || bytes.includes(0) ? undefined : bytes.toString();
}
