/** Private keys in PEM form, on lines of their own or in one string; also those whose end is missing. */
import type { Finding } from "./finding.js";
import { isStandIn, variety } from "./looks-random.js";
import { KEY_BEGIN, KEY_END } from "./segments.js";

const RUN = /[A-Za-z0-9+/=]{16,}/g;
const LEAST_KEY = 48;

export function findKeys(segment: string): Finding[] {
  const findings: Finding[] = [];
  let from = 0;
  for (;;) {
    const begin = KEY_BEGIN.exec(segment.slice(from));
    if (begin === null) return findings;
    const start = from + begin.index;
    const bodyStart = start + begin[0].length;
    const body = segment.slice(bodyStart);
    const close = KEY_END.exec(body);
    const inside = close === null ? body : body.slice(0, close.index);
    const runs = [...inside.matchAll(RUN)];
    const key = runs.map(([run]) => run).join("");
    const last = runs.at(-1);
    from = bodyStart;
    if (last === undefined || key.length < LEAST_KEY || variety(key) < 16 || isStandIn(key.slice(0, 24))) continue;
    const end = close === null ? bodyStart + last.index + last[0].length : bodyStart + close.index + close[0].length;
    findings.push({ start, end, kind: "private-key" });
    from = end;
  }
}
