/** Undo in one run: the recorder, opened with the first call that makes changes. */
import { basename, join } from "node:path";
import { LateConsumer } from "../../base/late-consumer.js";
import type { ChangeRecorder } from "../../chain/services.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { SessionId, TurnId } from "../../protocol/ids.js";
import type { UndoRecorder } from "../../sessions/undo/recorder.js";
import type { ObservedChange } from "../../system/observed-change.js";
import type { IgnoreRules, IgnoreSource } from "../../system/overlay/change-set.js";
import type { IgnoreTop } from "../../tools/search/ignore-files.js";
import type { IgnoreScope } from "../../tools/search/ignore-rules.js";
import type { ChangeObserver } from "../../tools/workspace.js";
import type { SessionStores } from "../sessions/session-stores.js";

export interface RunUndoOptions {
  readonly session: SessionId;
  readonly root: string;
  readonly sessions: SessionStores;
  /** Turns of the session before this run; undefined if they were not counted. */
  readonly turnsBefore: number | undefined;
}

interface NumberedTurn {
  readonly id: TurnId;
  readonly number?: number;
}

export class RunUndo implements ChangeRecorder, ChangeObserver {
  readonly #options: RunUndoOptions;
  readonly #recorder = this.#lateRecorder();
  #journal: { close(): void } | undefined;
  #turn: NumberedTurn | undefined;
  #isOver = false;

  constructor(options: RunUndoOptions) {
    this.#options = options;
  }

  onEvent(event: Envelope): void {
    if (event.kind !== "TurnStarted") return;
    const { turnsBefore } = this.#options;
    const number = this.#turn === undefined ? turnsBefore : this.#turn.number;
    this.#turn = { id: event.payload.turn, ...(number !== undefined && { number: number + 1 }) };
    this.#recorder.push(this.#turn);
  }

  async begin(call: Parameters<ChangeRecorder["begin"]>[0]): ReturnType<ChangeRecorder["begin"]> {
    const recorder = this.#isOver ? undefined : await this.#recorder.ready();
    if (recorder === undefined || this.#isOver) return { during: (act) => act(), end: async () => [] };
    const begun = await recorder.begin(call);
    return { ...begun, end: async (options) => (this.#isOver ? [] : begun.end(options)) };
  }

  async before(change: ObservedChange): Promise<void> {
    if (this.#isOver) throw new Error("The session is closed, so Oxbow could not undo the change.");
    await (await this.#recorder.ready())?.before(change);
  }

  /** The changes of a command, before they are applied. Each is read when its turn comes. */
  async beforeAll(changes: readonly (() => ObservedChange)[]): Promise<void> {
    if (this.#isOver) throw new Error("The session is closed, so Oxbow could not undo the changes.");
    await (await this.#recorder.ready())?.beforeAll(changes);
  }

  /** Ends recording. An abandoned call that ends later writes nothing. */
  close(): void {
    this.#isOver = true;
    this.#journal?.close();
    this.#journal = undefined;
  }

  /** Only the current turn waits for it. */
  #lateRecorder(): LateConsumer<UndoRecorder | undefined, NumberedTurn> {
    return new LateConsumer({
      load: () => this.#openRecorder(),
      consume: (recorder, { id, number }) => recorder?.startTurn(id, number),
      most: 1,
    });
  }

  /** Undefined for a session that is not stored: it cannot be undone. */
  async #openRecorder(): Promise<UndoRecorder | undefined> {
    const { session, root, sessions } = this.#options;
    if ((await sessions.open()) === undefined) return undefined;
    const [{ UndoRecorder }, { finishUndo }, journal] = await Promise.all([
      import("../../sessions/undo/recorder.js"),
      import("../../sessions/undo/apply.js"),
      openSessionUndo(sessions, session),
    ]);
    // The next undo says why it cannot be completed.
    await finishUndo(journal).catch(() => {});
    this.#journal = journal;
    return new UndoRecorder(journal, { root });
  }
}

/** The journal of a session, for the tools and for `oxbow session undo`. */
export async function openSessionUndo(sessions: Pick<SessionStores, "key" | "undoFolder">, session: SessionId) {
  const [{ openUndoJournal }, key] = await Promise.all([import("../../sessions/undo/journal.js"), sessions.key()]);
  return openUndoJournal({ folder: sessions.undoFolder, session, key });
}

/** The ignore files as the search tools read them. Oxbow's own folders change with every call and are ignored. */
export async function ignoreSource(ownFolders: readonly string[]): Promise<IgnoreSource> {
  const { ignoreTop, loadScope, scopeAbove } = await import("../../tools/search/ignore-files.js");
  const own = new Set(ownFolders);
  const scopes = new WeakMap<IgnoreRules, IgnoreScope>();
  let top: IgnoreTop | undefined;
  return {
    async above(root) {
      top = await ignoreTop(root);
      const scope = await scopeAbove(root, top);
      if (scope !== undefined) scopes.set(scope, scope);
      return scope;
    },
    async rules({ path, names, above }) {
      top ??= await ignoreTop(path);
      const parent = above === undefined ? undefined : scopes.get(above);
      const scope = await loadScope({ name: basename(path), parent, top, names, at: (name) => join(path, name) });
      const rules = {
        ignores: (name: string, kind: "file" | "folder") => own.has(join(path, name)) || scope.ignores(name, kind),
      };
      scopes.set(rules, scope);
      return rules;
    },
  };
}
