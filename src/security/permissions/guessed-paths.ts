/**
 * Paths that a word with unknown parts may stand for: `$PWD/.envrc`, `.env{rc,}`, `.e[n]vrc`. For finding what is guarded, not for
 * trusting: what comes before a variable is left out, so `.envrc` stands for every file of that name.
 */
const UNKNOWN = "\0";
const MAX_PATHS = 16;

export function guessedPaths(text: string): readonly string[] {
  const plain = text
    .replace(/\$\([^)]*\)|`[^`]*`|\$\{[^}]*\}|\$\w+/g, UNKNOWN)
    .replace(/["'\\]/g, "")
    .replace(/\[([\w.])\]/g, "$1");
  return withBraces(plain).flatMap((path) => {
    const end = path.slice(path.lastIndexOf(UNKNOWN) + 1);
    if (end === path) return [path];
    return end.startsWith("/") ? [end.slice(1)] : [];
  });
}

function withBraces(text: string): readonly string[] {
  let found = [text];
  for (let group = /\{([^{}]*,[^{}]*)\}/.exec(found[0] ?? ""); group !== null; ) {
    const { 0: whole, 1: choices = "" } = group;
    found = found.flatMap((each) => choices.split(",").map((choice) => each.replace(whole, () => choice)));
    if (found.length > MAX_PATHS) return found.slice(0, MAX_PATHS);
    group = /\{([^{}]*,[^{}]*)\}/.exec(found[0] ?? "");
  }
  return found;
}
