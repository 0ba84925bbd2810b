import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ManualClock } from "../../../base/clock.js";
import { HelperLink, HelperLost } from "./helper-link.js";
import { endpointPath } from "./helper-protocol.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "helper-link-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A helper that others have started. */
function found(token: string) {
  mkdirSync(folder, { recursive: true });
  const note = { version: "1", pid: process.pid, startTime: 0, socket: `${token}.sock`, token };
  writeFileSync(endpointPath(folder), JSON.stringify(note), { mode: 0o600 });
}

function newLink() {
  return new HelperLink({ folder, version: "1", clock: new ManualClock(), start: async () => found("started") });
}

it.each([
  [["absent", "broken"] as const, true],
  [["broken", "absent"] as const, true],
  [["broken", "broken"] as const, true],
  [["absent", "absent"] as const, false],
])("[M12] a helper counts as lost once when the watch and the request say %j", async (order, counts) => {
  const link = newLink();
  for (const token of ["a", "b"]) {
    found(token);
    const { endpoint: note } = await link.reach();
    expect(note.token).toBe(token);
    for (const how of order) link.lost(note, how);
  }
  found("c");
  if (counts) await expect(link.reach()).rejects.toThrow(HelperLost);
  else expect((await link.reach()).endpoint.token).toBe("c");
});
