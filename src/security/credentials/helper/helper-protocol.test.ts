import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { endpointPath, readEndpoint, removeNote } from "./helper-protocol.js";

verifies(
  ["M12"],
  "the note of a helper that is gone is removed, and never the one that another helper has put in its place",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "oxbow-test-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const note = { version: "1", pid: 1, startTime: 1, socket: "new.sock", token: "new" };
    writeFileSync(endpointPath(folder), JSON.stringify(note));
    // Someone looked when the old one was there.
    removeNote(folder, "old");
    expect(readEndpoint(folder)).toEqual(note);
    removeNote(folder, "new");
    expect(readEndpoint(folder)).toBeUndefined();
    removeNote(folder, "new");
    expect(readdirSync(folder)).toEqual([]);
  },
);
