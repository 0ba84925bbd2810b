/** `session rerun`, and what joins it with the workspace: the worktree, what was approved for the folder, and the results of the original. */
import { createHash, webcrypto } from "node:crypto";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createIdSource } from "../../base/ulid.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { TurnFailure } from "../../engine/cancel.js";
import { asValue, type CommandArguments } from "../../feature/command.js";
import type { SessionId } from "../../protocol/ids.js";
import type { ContentItem } from "../../security/trust/content.js";
import { projectTop } from "../../security/trust/folders.js";
import { rerun } from "../../sessions/rerun/part.js";
import type { RerunTurns } from "../../sessions/rerun/prepare.js";
import type { RerunFolder } from "../../sessions/rerun/worktree.js";
import { eventAt } from "../../sessions/snapshot.js";
import type { SessionRecord, SessionStore } from "../../sessions/store.js";
import { readGivenFile } from "../../system/given-file.js";
import type { Roots } from "../../system/xdg-paths.js";
import { named, type OpenPort, type SessionAction } from "../commands/sessions/port.js";
import { turnNumber } from "../commands/sessions/turn-number.js";
import type { Opening } from "../opening.js";
import type { SessionPart } from "../part.js";
import type { SessionStores } from "./session-stores.js";

/** The part of a copy: the calls of one that runs with recorded results get those. */
export async function rerunPart({ session, engine }: Opening): Promise<SessionPart> {
  const store = await engine.sessions.open();
  const begun = store && (await eventAt(store, session, await store.last(session, "RerunBegan")));
  if (store === undefined || begun?.kind !== "RerunBegan" || begun.payload.recorded !== true) return rerun(undefined);
  const { of: source, after } = begun.payload;
  return rerun({
    source,
    async *events() {
      if ((await store.get(source)) !== undefined) yield* store.events(source, { after });
    },
    redactor: async () => (await import("./load-redactor.js")).loadRedactor(),
    stop: (why) => {
      throw new TurnFailure(why);
    },
  });
}

export interface RerunRequest {
  readonly from: number;
  readonly to: number | undefined;
  readonly title: string | undefined;
  /** Instructions of the project, instead of those that it had. */
  readonly instructions?: string | undefined;
  readonly recorded: boolean;
}

export interface PreparedRerun extends Pick<RerunTurns, "inputs"> {
  readonly id: SessionId;
  readonly cwd: string;
  readonly notes: readonly string[];
}

interface RerunPlace {
  readonly store: SessionStore;
  readonly stores: SessionStores;
  readonly roots: Roots;
  readonly variables: Variables;
  /** The folder in which the command is typed. */
  readonly folder: string;
  readonly now: () => Date;
}

/** Makes the session and its folder. Runs nothing of it. */
export async function prepareRerun(
  source: SessionRecord,
  request: RerunRequest,
  place: RerunPlace,
): Promise<PreparedRerun> {
  const { makeCopy, turnsToRun } = await import("../../sessions/rerun/prepare.js");
  const { store, now, stores, folder: here } = place;
  const { from, recorded, instructions } = request;
  // Files of a project could name any folder as theirs.
  const root = (await stores.isOwn()) ? source.cwd : here;
  const turns = await turnsToRun(store, source, request);
  const title = request.title ?? `${source.title ?? source.id} (turn ${from} again)`;
  const ids = createIdSource({ wall: () => now().getTime(), random: (bytes) => webcrypto.getRandomValues(bytes) });
  const begun = { after: turns.after, from, ...(recorded && { recorded: true as const }) };
  const row = { created_at: now().toISOString(), title, by: ids.next("cli"), begun };
  if (recorded) {
    if (instructions !== undefined) throw new UsageError("--instructions needs a worktree: leave out --recorded.");
    const id = await makeCopy(store, source, { ...row, cwd: root });
    return { id, cwd: root, inputs: turns.inputs, notes: turns.notes };
  }
  const folder = await folderOf({ ...source, cwd: root }, turns, place);
  try {
    await approveCopies(folder, instructions, place);
    const id = await makeCopy(store, source, { ...row, cwd: folder.root });
    return { id, cwd: folder.root, inputs: turns.inputs, notes: [...turns.notes, ...folder.notes] };
  } catch (error) {
    await removeFolder({ ...source, cwd: folder.root, branch_of: { session: source.id, event: 0 } }, place);
    throw error;
  }
}

async function folderOf(
  source: SessionRecord,
  { first }: RerunTurns,
  { stores, variables, store }: RerunPlace,
): Promise<RerunFolder> {
  const [{ openRerunFolder }, { momentAfter }, { withPastFiles }, { quietGit }] = await Promise.all([
    import("../../sessions/rerun/worktree.js"),
    import("../../sessions/undo/past.js"),
    import("./looking-back.js"),
    import("../subagents.js"),
  ]);
  if (!existsSync(source.cwd)) throw new UsageError(`The folder of ${source.id} is gone: ${source.cwd}.`);
  const home = await homeOf(source, store);
  if (home === undefined)
    throw new UsageError(`The session that ${source.id} is a copy of is gone, and its folder with it.`);
  const moment = await momentAfter(store, source.id, first.startEvent);
  return withPastFiles(stores, source, async (past) => {
    const made = await openRerunFolder({
      root: source.cwd,
      home,
      git: await quietGit(variables),
      name: first.turn.slice(-8).toLowerCase() + Date.now().toString(36),
      since: first.startedAt,
      past: past.changedSince(moment),
    });
    if ("problem" in made)
      throw new UsageError(`The rerun cannot start: ${made.problem}. --recorded runs no tool and needs no folder.`);
    return { ...made, notes: [...made.notes, ...past.notes(moment)] };
  });
}

/** Approves in the copy what the person approved in the workspace: the same content, by its hash. */
async function approveCopies(
  { top, from }: RerunFolder,
  instructions: string | undefined,
  { roots, variables, now }: RerunPlace,
): Promise<void> {
  const { approver, openApprovals } = await import("../content/approvals.js");
  const lock = openApprovals(from, { roots, variables });
  const [by, at, root] = [approver(variables), now(), projectTop(top)];
  for (const entry of lock.below(projectTop(from))) {
    if (entry.decision !== "approved") continue;
    const { path, entry: part, kind, executable, sha256, size } = entry;
    const item: ContentItem = {
      root,
      path,
      kind,
      executable,
      sha256,
      size,
      owner: "project",
      ...(part !== undefined && { entry: part }),
    };
    await lock.record({ decision: "approved", item, change: entry.class, bytes: lock.bytesOf(entry), by, at });
  }
  if (instructions === undefined) return;
  const path = ["AGENTS.md", "CLAUDE.md"].find((name) => existsSync(join(top, name))) ?? "AGENTS.md";
  const bytes = Buffer.from(instructions);
  await writeFile(join(top, path), bytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const item: ContentItem = {
    root,
    path,
    kind: "instructions",
    executable: false,
    sha256,
    size: bytes.length,
    owner: "project",
  };
  await lock.record({ decision: "approved", item, change: "code-adjacent", bytes, by, at });
}

type Copy = Pick<SessionRecord, "cwd" | "branch_of">;

/** The folder of the first session that is not a rerun; undefined if that session is gone. */
async function homeOf(session: Copy, store: SessionStore): Promise<string | undefined> {
  const { rerunTop } = await import("../../sessions/rerun/worktree.js");
  let record: Copy | undefined = session;
  while (record !== undefined && rerunTop(record.cwd) !== undefined)
    record = record.branch_of && (await store.get(record.branch_of.session));
  return record?.cwd;
}

/** Removes the worktree of a deleted session, unless another session works there; does nothing for any other folder. */
export async function removeFolder(
  session: Copy,
  { store, variables, folder }: Pick<RerunPlace, "store" | "variables" | "folder">,
): Promise<void> {
  const [{ removeRerunFolder }, { quietGit }] = await Promise.all([
    import("../../sessions/rerun/worktree.js"),
    import("../subagents.js"),
  ]);
  if ((await store.list({ cwd: session.cwd, limit: 1 })).length > 0) return;
  await removeRerunFolder(session.cwd, {
    home: (await homeOf(session, store)) ?? folder,
    git: await quietGit(variables),
  });
}

/** Removes a copy in which no turn began, because the run could not start. */
export async function discardUnused(id: SessionId, port: OpenPort): Promise<void> {
  const { store } = port;
  const record = await store.get(id);
  const [begun, turn = 0] = await Promise.all([store.last(id, "RerunBegan"), store.last(id, "TurnStarted")]);
  if (record === undefined || begun === undefined || turn > begun) return;
  await store.remove(id);
  await removeFolder(record, port);
}

const MOST_INSTRUCTIONS = 256 * 1024;

/** The copy that the words of the command ask for. */
export async function prepare(args: CommandArguments, port: OpenPort): Promise<PreparedRerun> {
  const source = await named(args.text("ID"), port);
  const [from, to, file] = [args.flag("from"), args.flag("to"), args.flag("instructions")];
  if (from === undefined) throw new UsageError("Which turn? Give its number: --from N ('oxbow session show ID').");
  const first = turnNumber("from", from);
  const only = args.flag("prompt") === undefined ? undefined : first;
  const request = {
    from: first,
    to: to === undefined ? only : turnNumber("to", to),
    title: args.flag("title"),
    instructions: file === undefined ? undefined : await textOf(resolve(port.base, file)),
    recorded: args.hasFlag("recorded"),
  };
  const { clock } = port;
  return prepareRerun(source, request, { ...port, now: () => new Date(clock.wall()) });
}

async function textOf(path: string): Promise<string> {
  const bytes = await readGivenFile(path).catch((error: Error) => {
    throw new UsageError(`--instructions: ${error.message}`);
  });
  if (bytes.length > MOST_INSTRUCTIONS) throw new UsageError(`--instructions: ${path} is too large.`);
  return bytes.toString("utf8");
}

export const rerunHere: SessionAction = async (args, port) => {
  const { id, cwd, inputs, notes } = await prepare(args, port);
  const model = args.flag("model");
  const next = `${id} works in ${cwd}. Send the ${inputs.length === 1 ? "input" : `${inputs.length} inputs`} again.`;
  return {
    text: [next, ...notes].join("\n"),
    value: asValue({ id, cwd, inputs, notes }),
    follow: { resume: id, cwd, ...(model !== undefined && { model }) },
  };
};
