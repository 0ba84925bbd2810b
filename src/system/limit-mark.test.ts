import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { needs } from "../../test/support/needs.js";
import { findOwnProgram } from "./find-program.js";
import { hasLimitMark, limitSetter, limitsPattern, markWithin } from "./limit-mark.js";

needs("linux").describe("a mark in the limits", () => {
  const find = (name: string) => findOwnProgram(name, undefined);
  const limitsBy = (setter: readonly string[]) => {
    const [program = "", ...args] = [...setter, "/bin/cat", "/proc/self/limits"];
    return execFileSync(program, args, { encoding: "utf8" });
  };

  it("is set by prlimit, and by each shell without it", () => {
    const mark = markWithin("unlimited", 1);
    if (mark === undefined) throw new Error("no mark");
    expect(mark.limit).toMatch(/^[1-9]\d{11}999999$/);
    const shells = ["/bin/dash", "/bin/bash"].filter((shell) => find(shell.slice("/bin/".length)) !== undefined);
    const setters = [
      limitSetter(find),
      ...shells.map((shell) => limitSetter((name) => (name === "sh" ? shell : undefined))),
    ];
    for (const setter of setters) {
      expect(limitsBy(setter(mark.limit))).toMatch(new RegExp(limitsPattern(["1", mark.pattern]), "m"));
    }
    expect(limitSetter(() => undefined)(mark.limit)).toEqual([]);
    expect(hasLimitMark(process.pid, mark)).toBe(false);
  });

  it("of a command within a marked command belongs to both, and to no other", () => {
    const [outer, other] = [markWithin("unlimited", 1), markWithin("unlimited", 2)];
    const inner = markWithin(outer?.limit ?? "", 1_000_006);
    if (outer === undefined || other === undefined || inner === undefined) throw new Error("no mark");
    expect(inner.limit).toBe(outer.limit.replace(/999999$/, "000007"));
    expect(BigInt(inner.limit)).toBeLessThan(BigInt(outer.limit));
    const limits = limitsBy([...limitSetter(find)(outer.limit), ...limitSetter(find)(inner.limit)]);
    const matches = [outer, inner, other].map(({ pattern }) => new RegExp(limitsPattern([pattern]), "m").test(limits));
    expect(matches).toEqual([true, true, false]);
    expect(markWithin(inner.limit, 1)).toBe(undefined);
    expect(markWithin("1000", 1)).toBe(undefined);
  });
});
