import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { systemClock } from "../base/clock.js";
import { LogStore } from "./log-store.js";
import { parseStore, STORES, storeWords } from "./stores.js";
import { SAMPLE_KEY, sampleSession } from "./test-support/sample-session.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-stores-"));
});
afterEach(() => rm(folder, { recursive: true }));

describe("the kinds of stores", () => {
  for (const [name, kind] of Object.entries(STORES)) {
    verifies(["S1"], `include ${name}: it keeps sessions in its folder, over the core of all stores`, async () => {
      const place = join(folder, kind.inside, "new");
      const open = () =>
        kind.open({
          folder: place,
          key: async () => SAMPLE_KEY,
          clock: systemClock,
          isForReading: false,
          onUpgrade: () => Promise.reject(new Error("nothing is upgraded")),
        });
      const session = sampleSession(1);
      const store = await open();
      expect(store).toBeInstanceOf(LogStore);
      await store.create(session);
      await store.close();
      expect(existsSync(join(place, kind.sign))).toBe(true);
      const again = await open();
      expect(await again.get(session.id)).toMatchObject(session);
      // Only what no person edits may grant a permission.
      expect(again.isEditable === true).toBe(!kind.isOwn);
      await again.close();
      for (const sentence of [kind.where(place), kind.saved(place)]) expect(sentence).toContain(place);
    });
  }

  it("are chosen by name, and a folder where they take one", () => {
    const cases: readonly (readonly [text: string, expected: ReturnType<typeof parseStore>])[] = [
      ["sqlite", { name: "sqlite" }],
      ["files", { name: "files" }],
      ["files:some/folder", { name: "files", folder: "some/folder" }],
      ["files:C:\\folder", { name: "files", folder: "C:\\folder" }],
      ["files:", undefined],
      ["sqlite:folder", undefined],
      ["filesystem", undefined],
      ["", undefined],
    ];
    for (const [text, expected] of cases) expect(parseStore(text), text).toEqual(expected);
    expect([storeWords(), storeWords("none")]).toEqual([
      "sqlite, files or files:DIR",
      "sqlite, files, files:DIR or none",
    ]);
  });
});
