/**
 * Decides whether an opened place may be read or changed.
 *
 * 1. The check comes after the open and concerns the opened place: the name may have led elsewhere when the call was decided.
 * 2. A guarded path may change only if the user allowed exactly that path for this call (`granted`).
 * 3. The program's own files may neither be read nor changed, under any name.
 */
import { isInside } from "./containment.js";
import { type FoundEntry, NO_GUARD, type PathGuard } from "./path-guard.js";
import { WorkspaceError } from "./workspace-error.js";

export interface Opened {
  /** Without links. */
  readonly absolute: string;
  /** For errors. */
  readonly shown: string;
  readonly found?: FoundEntry | undefined;
}

export class Admission {
  readonly guard: PathGuard;
  readonly #granted: readonly string[];

  constructor(guard: PathGuard = NO_GUARD, granted: readonly string[] = []) {
    this.guard = guard;
    this.#granted = granted;
  }

  withGranted(granted: readonly string[]): Admission {
    return new Admission(this.guard, granted);
  }

  async toRead({ absolute, shown, found }: Opened): Promise<void> {
    if (this.#granted.includes(absolute)) return;
    if (await this.guard.isOwn(absolute, found)) throw own(shown);
  }

  async toChange({ absolute, shown, found }: Opened): Promise<void> {
    await this.#refuse({ absolute, shown, found }, this.#granted.includes(absolute));
  }

  /** A folder on the way to a granted path may be made. */
  async toMakeFolder({ absolute, shown }: Opened): Promise<void> {
    await this.#refuse(
      { absolute, shown },
      this.#granted.some((path) => isInside(path, [absolute])),
    );
  }

  async #refuse({ absolute, shown, found }: Opened, isGranted: boolean): Promise<void> {
    if (isGranted) return;
    if (await this.guard.isOwn(absolute, found)) throw own(shown);
    const reason = await this.guard.reason(absolute);
    if (reason === undefined) return;
    throw new WorkspaceError(
      "guarded",
      `${shown} is guarded: ${reason}. Nothing was changed. Only the user can allow this, by answering yes for this path.`,
    );
  }
}

function own(shown: string): WorkspaceError {
  return new WorkspaceError("guarded", `${shown} is one of Oxbow's own files, which no tool may read or change.`);
}
