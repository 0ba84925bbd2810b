import { realpathSync } from "node:fs";
import { join, parse, resolve, sep } from "node:path";

/** The system opens no longer one. */
export const MOST_PATH = process.platform === "win32" ? 32_767 : 4096;

/** The path without links, or unchanged if it does not exist. */
export function realpathOrSelf(path: string): string {
  return realpathOf(path) ?? path;
}

function realpathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** The path without links as far as it exists, with the rest unchanged. */
export function realpathSoFar(path: string): string {
  const { real, rest } = existingPart(path);
  return rest === "" ? real : join(real, rest);
}

/** The longest part from its beginning that exists, without links, and what follows. Looks at few of its parts, however many it has. */
export function existingPart(path: string): { readonly real: string; readonly rest: string } {
  // Without `..`: what follows a part that is too long to be looked at must lie below it.
  const whole = resolve(path);
  const { root } = parse(whole);
  const names = whole
    .slice(root.length, whole.length > MOST_PATH ? whole.lastIndexOf(sep, MOST_PATH) : undefined)
    .split(sep);
  const upTo = (count: number) => join(root, ...names.slice(0, count));
  let found = { real: root, count: 0 };
  for (
    let [count, missing] = [names.length, names.length + 1];
    count > found.count;
    count = (found.count + missing) >> 1
  ) {
    const real = realpathOf(upTo(count));
    if (real === undefined) missing = count;
    else found = { real, count };
  }
  return { real: found.real, rest: whole.slice(upTo(found.count).length) };
}
