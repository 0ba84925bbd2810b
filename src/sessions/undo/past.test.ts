import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { BEGINNING, changesBetween, type Moment, NOW, PastFiles } from "./past.js";
import { UndoPlace } from "./test-support/undo-place.js";

let place: UndoPlace;
let clock: number;
beforeEach(() => {
  clock = 1000;
  place = new UndoPlace({ clock: { now: () => clock, wall: () => clock, after: () => () => {} } as never });
});
afterEach(() => place.discard());

const by =
  (time: number): Moment =>
  ({ at }) =>
    at < time;

async function turn(time: number, command: string): Promise<void> {
  clock = time;
  place.turn();
  await place.bash(command);
}

function past(): PastFiles {
  return new PastFiles(place.journal, place.root);
}

const shown = (since: Moment, until: Moment) =>
  changesBetween(past(), since, until).map(({ path, change, added, removed, missing }) =>
    [path, change, ...(missing === undefined ? [`+${added} -${removed}`] : [missing])].join(" "),
  );

describe("the files at an earlier moment", () => {
  verifies(["S12"], "are those that the later changes found, also where another program wrote in between", async () => {
    place.sh("printf 'one\\n' > a; printf 'gone\\n' > b");
    await turn(2000, "printf 'two\\n' > a; rm b; printf 'new\\n' > c");
    place.sh("printf 'by hand\\n' > a");
    await turn(3000, "printf 'three\\n' > a; printf 'back\\n' > b");
    const contents = (moment: Moment) =>
      Object.fromEntries([...past().at(moment)].map(([path, { bytes }]) => [path, bytes?.toString()]));
    expect(contents(BEGINNING)).toEqual({ a: "one\n", b: "gone\n", c: undefined });
    expect(contents(by(2500))).toEqual({ a: "by hand\n", b: undefined, c: "new\n" });
    expect(contents(NOW)).toEqual({ a: "three\n", b: "back\n", c: "new\n" });
    expect([...past().changedSince(by(2500)).keys()]).toEqual(["a", "b"]);
  });

  verifies(["S12"], "give the changes between two moments, with what is missing and why", async () => {
    place.sh("printf 'one\\n' > a; printf 'x' > big");
    await turn(2000, "printf 'one\\ntwo\\n' > a; mkdir d; printf '\\0' > d/bytes");
    await turn(3000, "rm a; chmod 600 d/bytes");
    expect(shown(BEGINNING, by(2500))).toEqual([
      "a changed +1 -0",
      "d new +undefined -undefined",
      "d/bytes new it is no text",
    ]);
    expect(shown(by(2500), NOW)).toEqual(["a deleted +0 -2", expect.stringMatching(/^d\/bytes chmod/)]);
    expect(shown(NOW, NOW)).toEqual([]);
    writeFileSync(join(place.root, "d/bytes"), "someone else");
    expect(shown(BEGINNING, NOW)).toContain("d/bytes new another program changed it since");
  });

  verifies(["S12"], "follow an undo", async () => {
    place.sh("printf 'one\\n' > a");
    await turn(2000, "printf 'two\\n' > a");
    clock = 3000;
    await place.undo();
    expect(shown(BEGINNING, by(2500))).toEqual(["a changed +1 -1"]);
    expect(shown(BEGINNING, NOW)).toEqual([]);
  });
});
