import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { UsageError } from "../../base/usage-error.js";
import { parseFlags } from "../../feature/flags.js";
import { cassetteOf } from "./run-cassette-flags.js";
import { RUN_FLAGS } from "./run-flags.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-test-"));
});
afterAll(() => rm(folder, { recursive: true }));

const open = (...args: readonly string[]) =>
  cassetteOf(parseFlags(RUN_FLAGS, args, "run"), { variables: {}, root: folder, state: folder });

describe("--record and --replay", () => {
  verifies(["M18", "O5"], "tell misuse in one line, and write nothing over", async () => {
    const notes = join(folder, "notes.txt");
    await writeFile(notes, "important\n");
    for (const [args, message] of [
      [["--record", notes], "notes.txt exists already"],
      [["--record", join(folder, "no", "such", "folder")], "Cannot write"],
      [["--replay", notes], "is not a line of a cassette"],
      [["--replay", join(folder, "none")], "Cannot read"],
      [["--replay", notes, "--record", "x"], "not both"],
      [["--replay-speed", "2"], "needs --replay"],
      [["--replay", notes, "--replay-speed", "fast"], "expected a number above 0"],
    ] as const) {
      const error = await open(...args).catch((thrown: unknown) => thrown);
      expect(error, message).toBeInstanceOf(UsageError);
      expect((error as Error).message).toContain(message);
      expect((error as Error).message).not.toContain("\n");
    }
    expect(await readFile(notes, "utf8")).toBe("important\n");
    expect(await open()).toBeUndefined();
  });
});
