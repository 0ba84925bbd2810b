/** Pairs the marks of emphasis (CommonMark 6.2, "process emphasis"): `*`, `_` and `~~` become groups where they match. */
import type { Role } from "../theme.js";
import type { Node } from "./inline.js";

export interface Mark {
  readonly kind: "mark";
  readonly char: "*" | "_" | "~";
  /** The unmatched part of it. */
  count: number;
  readonly length: number;
  readonly canOpen: boolean;
  readonly canClose: boolean;
  readonly at: number;
}

/** Changes `nodes` in place. */
export function matchMarks(nodes: Node[], from: number): void {
  const out: Node[] = nodes.slice(0, from);
  /** The indices in `out` of marks that may still open emphasis. */
  const openers: number[] = [];
  for (const node of nodes.slice(from)) {
    if (node.kind === "mark" && node.canClose) close(node, out, openers);
    if (node.kind === "mark" && node.canOpen && node.count > 0) openers.push(out.length);
    if (node.kind !== "mark" || node.count > 0) out.push(node);
  }
  nodes.splice(0, nodes.length, ...out);
}

function close(closer: Mark, out: Node[], openers: number[]): void {
  while (closer.count > 0) {
    const at = openers.findLastIndex((index) => fits(out[index] as Mark, closer));
    if (at === -1) return;
    const index = openers[at] as number;
    const opener = out[index] as Mark;
    const used = closer.char === "~" ? 2 : opener.count >= 2 && closer.count >= 2 ? 2 : 1;
    openers.length = at;
    const inner = out.splice(index + 1);
    out.push({ kind: "group", nodes: inner, roles: [roleOf(closer.char, used)] });
    opener.count -= used;
    closer.count -= used;
    // The rest of the opener comes before the group, and may open another one.
    if (opener.count > 0) openers.push(index);
    else {
      out.splice(index, 1);
    }
  }
}

/** The rule of three: if a run can open and close, the sum of both lengths must not be a multiple of three, unless both lengths are. */
function fits(opener: Mark, closer: Mark): boolean {
  if (opener.char !== closer.char || opener.count === 0) return false;
  if (!opener.canClose && !closer.canOpen) return true;
  return (opener.length + closer.length) % 3 !== 0 || (opener.length % 3 === 0 && closer.length % 3 === 0);
}

function roleOf(char: Mark["char"], used: number): Role {
  if (char === "~") return "strike";
  return used === 2 ? "strong" : "emphasis";
}
