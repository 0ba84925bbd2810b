/** For tests: a workspace, the journal of a session beside it, and commands that are recorded in it. */
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createIdSource } from "../../../base/ulid.js";
import type { SessionId } from "../../../protocol/ids.js";
import { fsPath, linkTarget, namesIn } from "../../../system/path-bytes.js";
import { type ApplyUndoOptions, applyUndo, type UndoResult } from "../apply.js";
import { openUndoJournal, type UndoJournal, type UndoJournalOptions } from "../journal.js";
import { planUndo, type UndoPlan } from "../plan.js";
import { UndoRecorder } from "../recorder.js";
import type { UndoChoice } from "../selection.js";

const KEY = new Uint8Array(32).fill(9);
export const ids = createIdSource({ wall: Date.now, random: (bytes) => globalThis.crypto.getRandomValues(bytes) });

export type PlaceOptions = Partial<Pick<UndoJournalOptions, "limits" | "clock">>;

export class UndoPlace {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-undo-")));
  readonly root = join(this.base, "ws");
  readonly folder = join(this.base, "data", "undo");
  readonly session: SessionId = ids.next("sess");
  readonly options: PlaceOptions;
  journal: UndoJournal;
  recorder: UndoRecorder;
  #turn = 0;
  #id = ids.next("turn");

  constructor(options: PlaceOptions = {}) {
    this.options = options;
    mkdirSync(this.root);
    this.journal = this.#open();
    this.recorder = this.#record();
  }

  /** As another process would find it. */
  reopen(): void {
    this.journal.close();
    this.journal = this.#open();
    this.recorder = this.#record();
  }

  turn(): void {
    this.#turn++;
    this.#id = ids.next("turn");
    this.sameTurn();
  }

  /** After a restart in the middle of one. */
  sameTurn(): void {
    this.recorder.startTurn(this.#id, this.#turn);
  }

  /** A command whose changes are announced, as those of its view are. */
  async bash(command: string): Promise<void> {
    const call = await this.recorder.begin({ call: ids.next("call"), tool: "bash", changes: "held" });
    const old = join(this.base, "old");
    execFileSync("cp", ["-a", this.root, old]);
    this.sh(command);
    const [before, after] = [treeOf(old), treeOf(this.root)];
    const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
      (at) => before[at] !== after[at],
    );
    await call.during(() =>
      this.recorder.beforeAll(
        paths.map((at) => () => ({
          absolute: join(this.root, at),
          before: entryAt(before, old, at, this.journal.limits.fileBytes),
          after: entryAt(after, this.root, at),
        })),
      ),
    );
    execFileSync("chmod", ["-R", "u+rwX", old]);
    rmSync(old, { recursive: true });
    await call.end();
  }

  /** Another program. */
  sh(command: string): void {
    execFileSync("bash", ["-ec", command], { cwd: this.root, stdio: ["ignore", "ignore", "inherit"] });
  }

  plan(choice: UndoChoice = {}): Promise<UndoPlan> {
    return planUndo(this.journal, { ...choice, workspaceRoot: this.root });
  }

  async undo(choice: UndoChoice = {}, options: ApplyUndoOptions = {}): Promise<UndoResult> {
    return applyUndo(this.journal, await this.plan(choice), options);
  }

  tree(): Record<string, string> {
    return treeOf(this.root);
  }

  get file(): string {
    return join(this.folder, this.session, "journal");
  }

  discard(): void {
    this.journal.close();
    execFileSync("chmod", ["-R", "u+rwX", this.base]);
    rmSync(this.base, { recursive: true, force: true });
  }

  #record(): UndoRecorder {
    const { journal } = this;
    return new UndoRecorder({ root: this.root, open: async () => journal });
  }

  #open(): UndoJournal {
    return openUndoJournal({ folder: this.folder, session: this.session, key: KEY, ...this.options });
  }
}

function entryAt(tree: Readonly<Record<string, string>>, root: string, at: string, most = Number.POSITIVE_INFINITY) {
  if (tree[at] === undefined) return undefined;
  const full = join(root, at);
  const found = lstatSync(fsPath(full));
  const mode = found.mode & 0o7777;
  if (found.isSymbolicLink()) return { kind: "link", target: linkTarget(full) } as const;
  if (found.isDirectory()) return { kind: "folder", mode } as const;
  if (!found.isFile()) return { kind: "other" } as const;
  return {
    kind: "file",
    mode,
    size: found.size,
    content: found.size <= most ? readFileSync(fsPath(full)) : undefined,
  } as const;
}

/** Everything in a folder, byte for byte, with permissions. */
export function treeOf(root: string): Record<string, string> {
  const tree: Record<string, string> = {};
  const visit = (path: string) => {
    const full = join(root, path);
    const stat = lstatSync(fsPath(full));
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isDirectory()) {
      if (path !== "") tree[path] = `folder ${mode}`;
      for (const name of namesIn(full).sort()) visit(path === "" ? name : `${path}/${name}`);
    } else if (stat.isSymbolicLink()) tree[path] = `link ${linkTarget(full)}`;
    else if (stat.isFile()) tree[path] = `file ${mode} ${readFileSync(fsPath(full)).toString("latin1")}`;
    else tree[path] = "other";
  };
  visit("");
  return tree;
}
