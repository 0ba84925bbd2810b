import { describe, expect, it } from "vitest";
import { DISTORTIONS, type GeneratedEdit, generateEdit } from "../../../test/support/generated-edits.js";
import { times } from "../../../test/support/thorough.js";
import { ChangeError } from "./change-error.js";
import { applyEdits } from "./replace.js";

type Verdict = "right" | "refused" | "wrong" | "unknowable";

/** Space at the end of a line is not compared: a line that an edit moves may keep what the file had there. */
function withoutTrailingSpace(text: string): string {
  return text.replace(/[ \t]+$/gm, "");
}

function judge(edit: GeneratedEdit): Verdict {
  try {
    const { text } = applyEdits(edit.file, [{ old: edit.old, new: edit.new }]);
    if (withoutTrailingSpace(text) === withoutTrailingSpace(edit.truth)) return "right";
  } catch (error) {
    if (error instanceof ChangeError) return "refused";
    throw error;
  }
  // The misquotation happens to be what the file says to the letter: then that is what was asked for.
  return edit.file.includes(edit.old) ? "unknowable" : "wrong";
}

describe("[T1] generated edits of files full of near-duplicates", () => {
  it("are right or refused, never wrong", () => {
    const counts: Record<Verdict, number> = { right: 0, refused: 0, wrong: 0, unknowable: 0 };
    const wrong: { seed: number; edit: GeneratedEdit }[] = [];
    const wanted = times(3_000, 12_000);
    for (let seed = 1; counts.right + counts.refused < wanted; seed++) {
      const edit = generateEdit(seed);
      if (edit === undefined) continue;
      const verdict = judge(edit);
      counts[verdict]++;
      if (verdict === "wrong") wrong.push({ seed, edit });
    }
    expect(wrong).toEqual([]);
    expect(counts.right).toBeGreaterThan(wanted / 2);
  });

  it("are mostly right where one thing is misquoted and nothing like the place exists", () => {
    const right = new Map<string, number>();
    const all = new Map<string, number>();
    for (let seed = 1; seed < times(3_000, 30_000); seed++) {
      const edit = generateEdit(seed);
      const [name] = edit?.distortions ?? [];
      if (edit === undefined || name === undefined || edit.distortions.length > 1) continue;
      all.set(name, (all.get(name) ?? 0) + 1);
      if (judge(edit) === "right") right.set(name, (right.get(name) ?? 0) + 1);
    }
    expect([...all.keys()].sort()).toEqual(Object.keys(DISTORTIONS).sort());
    for (const name of [
      "trailing space removed",
      "dedented, both",
      "tabs to spaces, both",
      "fancy quotes",
      "decomposed",
    ]) {
      expect((right.get(name) ?? 0) / (all.get(name) ?? 1), name).toBeGreaterThan(0.5);
    }
  });
});
