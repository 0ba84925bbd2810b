/** Remembers the local model that the user chose last, so that the menu does not return at every start. Errors are ignored. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILE = "last-model";

export function lastModel(state: string | undefined): string | undefined {
  if (state === undefined) return undefined;
  try {
    return readFileSync(join(state, FILE), "utf8").trim();
  } catch {
    return undefined;
  }
}

export function rememberModel(state: string | undefined, spec: string): void {
  if (state === undefined) return;
  try {
    mkdirSync(state, { recursive: true, mode: 0o700 });
    writeFileSync(join(state, FILE), `${spec}\n`);
  } catch {
    // The menu appears again next time.
  }
}
