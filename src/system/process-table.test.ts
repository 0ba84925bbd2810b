import { spawn } from "node:child_process";
import { expect, it } from "vitest";
import { needs } from "../../test/support/needs.js";
import { environmentHolds, nothingSince, type ProcessRow, rowsOfPs, startTimeOf, visitSince } from "./process-table.js";

function rowsSince(pid: number, recent: boolean): ProcessRow[] {
  const rows: ProcessRow[] = [];
  visitSince({ pid, startTime: startTimeOf(pid), recent }, (row) => rows.push(row));
  return rows;
}

needs("linux").describe("the process table", () => {
  it("shows what started after a process, by time and by the order of ids", async () => {
    const older = startTimeOf(process.pid);
    const child = spawn("sleep", ["1000"], {
      detached: true,
      stdio: "ignore",
      env: { PATH: process.env.PATH, NAME: "a-name" },
    });
    const pid = child.pid as number;
    try {
      for (const recent of [true, false]) {
        const rows = rowsSince(pid, recent);
        expect(rows.find((row) => row.pid === pid)).toMatchObject({ parent: process.pid, group: pid, session: pid });
        expect(rows.some((row) => row.pid === process.pid)).toBe(false);
      }
      expect(startTimeOf(pid)).toBeGreaterThanOrEqual(older);
      expect(environmentHolds(pid, "a-name")).toBe(true);
      expect(environmentHolds(pid, "another")).toBe(false);
      // Its own process started long before, and the child still runs.
      expect(nothingSince({ pid: pid - 1, recent: true })).toBe(false);
      expect(nothingSince({ pid, recent: false })).toBe(false);
    } finally {
      child.kill("SIGKILL");
      await new Promise((resolve) => child.once("exit", resolve));
    }
    expect(rowsSince(pid, false).some((row) => row.pid === pid)).toBe(false);
  });

  it("leaves out the kernel's own threads and zombies", () => {
    const rows: ProcessRow[] = [];
    visitSince({ pid: 1, startTime: 0, recent: false }, (row) => rows.push(row));
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter((row) => row.group === 0 && row.session === 0)).toEqual([]);
  });

  needs("ps").it("is the same from ps", () => {
    const ours = rowsOfPs().find((row) => row.pid === process.pid);
    expect(ours).toMatchObject({ parent: process.ppid });
  });
});
