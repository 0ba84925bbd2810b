/**
 * Catches errors that a plugin leaves to the process: of a timer, or of a promise that it does not await. Without this they would end
 * the program with its turn. Other errors are handled as before.
 */
import type { LoadedPlugin } from "../../extensions/plugins/plugins.js";

export function catchStrayErrors(plugins: readonly LoadedPlugin[]): void {
  const known = process.listeners("uncaughtException");
  if (plugins.length === 0 || known.length === 0) return;
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", (error, kind) => {
    const stack = error instanceof Error ? String(error.stack) : "";
    const origin = plugins.find(({ path }) => stack.includes(path));
    if (origin === undefined) for (const listener of known) listener(error, kind);
    else origin.guard.switchOff("code outside a call", error);
  });
}
