import { describe, expect, it } from "vitest";
import { nameable } from "./layout.js";

/** Half of a character, as a name that is not UTF-8 is read. */
const ODD = "a\ud800";

describe("hidden places that no command line can name", () => {
  it.each<[readonly [string, "file" | "folder"][], readonly [string, "file" | "folder"][]]>([
    [[["/w/.env", "file"]], [["/w/.env", "file"]]],
    [[["/w/keys", "folder"]], [["/w/keys", "folder"]]],
    [[[`/w/x/${ODD}`, "file"]], [["/w/x", "folder"]]],
    [[[`/w/${ODD}/b/.env`, "file"]], [["/w", "folder"]]],
    // What the covered folder holds needs no cover of its own.
    [
      [
        ["/w/x/.env", "file"],
        [`/w/x/${ODD}`, "file"],
      ],
      [["/w/x", "folder"]],
    ],
    [
      [
        ["/w/x.env", "file"],
        [`/w/x/${ODD}`, "file"],
      ],
      [
        ["/w/x.env", "file"],
        ["/w/x", "folder"],
      ],
    ],
    [
      [
        ["/w/x", "file"],
        ["/w/x/y", "file"],
      ],
      [
        ["/w/x", "file"],
        ["/w/x/y", "file"],
      ],
    ],
  ])("%j", (places, covered) => {
    const entries = (list: typeof places) => list.map(([path, kind]) => ({ path, kind }));
    expect(nameable(entries(places))).toEqual(entries(covered));
  });
});
