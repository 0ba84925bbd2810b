import { textAt } from "./names-in.js";

/** Lists what is mounted here: the place and the kind of file system. Nothing is known on other systems than Linux. */
export function mountsHere(
  table = textAt("/proc/self/mountinfo"),
): readonly (readonly [place: string, kind: string])[] {
  return table.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const place = before.split(" ")[4];
    return place === undefined ? [] : [[unescaped(place), after.split(" ")[0] ?? ""] as const];
  });
}

/** The kernel writes blanks and the like as three octal digits. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
