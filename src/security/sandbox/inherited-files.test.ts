import { afterAll, beforeAll, expect, it } from "vitest";
import { buildChildPrograms, type ChildPrograms } from "../../../test/support/child-programs.js";
import { needs } from "../../../test/support/needs.js";

let children: ChildPrograms;
beforeAll(async () => {
  children = await buildChildPrograms(import.meta.url, "withheld");
});
afterAll(() => children.discard());

/** Finds what is withheld in a process that bash gave these open files. */
async function withheld(opened: string): Promise<{ readonly descriptors: readonly number[]; readonly bash?: string }> {
  const child = children.startAfter(opened, "withheld", process.env.PATH ?? "", "/nowhere");
  const found = JSON.parse((await child.end).out);
  return found === "nothing" ? { descriptors: [] } : found;
}

needs("linux", "bash").describe("files that a parent left open", () => {
  it("are withheld from commands, in order, without those that Node closes", async () => {
    // The tests themselves may have been started with open files.
    const { descriptors: before } = await withheld("true");
    expect((await withheld("exec 3</ 15</")).descriptors).toEqual(before);
    const close = before.map((descriptor) => `exec ${descriptor}<&-`).join(" && ");
    expect(await withheld(close || "true")).toEqual({ descriptors: [] });
    const { descriptors, bash } = await withheld("exec 122</etc 20</");
    expect(descriptors).toEqual([...new Set([...before, 20, 122])].sort((one, other) => one - other));
    expect(bash).toMatch(/\/bash$/);
  });
});
