/** Private keys in PEM form, on lines of their own or in one string; also those whose end is missing. */
import type { Finding } from "./finding.js";
import { isStandIn, variety } from "./looks-random.js";

const MARK = /-----(BEGIN|END) (?:[A-Z0-9 ]{0,30} )?PRIVATE KEY(?: BLOCK)?-----/g;
const RUN = /[A-Za-z0-9+/=]{16,}/g;
const LEAST_KEY = 48;

/** A key goes from its mark to the next one: text with a thousand beginnings is looked at once. */
export function findKeys(segment: string): Finding[] {
  const marks = [...segment.matchAll(MARK)];
  return marks.flatMap((begin, at): Finding[] => {
    if (begin[1] !== "BEGIN") return [];
    const next = marks[at + 1];
    const bodyStart = begin.index + begin[0].length;
    const inside = segment.slice(bodyStart, next?.index);
    const runs = [...inside.matchAll(RUN)];
    const key = runs.map(([run]) => run).join("");
    const last = runs.at(-1);
    if (last === undefined || key.length < LEAST_KEY || variety(key) < 16 || isStandIn(key.slice(0, 24))) return [];
    const end = next?.[1] === "END" ? next.index + next[0].length : bodyStart + last.index + last[0].length;
    return [{ start: begin.index, end, kind: "private-key" }];
  });
}
