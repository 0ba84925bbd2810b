import { describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { ManualClock } from "../base/clock.js";
import { DeltaMerger } from "./delta-merger.js";

function merger() {
  const clock = new ManualClock();
  const out: string[] = [];
  return { clock, out, deltas: new DeltaMerger(clock, (kind, text) => out.push(`${kind}:${text}`)) };
}

describe("delta merging", () => {
  verifies(["L11"], "the first goes out at once, the rest of a window as one", () => {
    const { clock, out, deltas } = merger();
    deltas.add("TextDelta", "a");
    expect(out).toEqual(["TextDelta:a"]);
    for (const piece of ["b", "c", "d"]) deltas.add("TextDelta", piece);
    expect(out).toHaveLength(1);
    clock.advance(9);
    expect(out).toHaveLength(1);
    clock.advance(1);
    expect(out).toEqual(["TextDelta:a", "TextDelta:bcd"]);
    clock.advance(50);
    deltas.add("TextDelta", "e");
    expect(out.at(-1)).toBe("TextDelta:e");
  });

  verifies(["L11"], "text and thinking never mix, nothing is lost at the end, no timer stays", () => {
    const { clock, out, deltas } = merger();
    deltas.add("ThinkingDelta", "hm");
    deltas.add("ThinkingDelta", "…");
    deltas.add("TextDelta", "so");
    deltas.add("TextDelta", "");
    deltas.flush();
    expect(out).toEqual(["ThinkingDelta:hm", "ThinkingDelta:…", "TextDelta:so"]);
    expect(clock.pending).toBe(0);
  });
});
