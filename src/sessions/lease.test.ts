import { lutimes, mkdir, mkdtemp, readdir, readlink, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { systemClock } from "../base/clock.js";
import { createIdSource } from "../base/ulid.js";
import type { Envelope } from "../protocol/envelope.js";
import type { SessionId } from "../protocol/ids.js";
import { openFilesStore } from "./files/files-store.js";
import { SessionLeases } from "./lease.js";
import { openSqliteStore } from "./sqlite/sqlite-store.js";
import type { SessionStore } from "./store.js";

const ids = createIdSource({ wall: Date.now, random: (bytes) => crypto.getRandomValues(bytes) });
const MINUTE = 60_000;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-lease-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** Our own mark with another system, boot, process or start time in it. */
async function markOf(session: SessionId, change: (parts: string[]) => void): Promise<string> {
  const lease = await new SessionLeases({ folder: join(folder, "probe"), clock: systemClock }).take(session);
  const parts = (await readlink(join(folder, "probe", session))).split("_");
  await lease.release();
  change(parts);
  return parts.join("_");
}

async function leaseOf(place: string, session: SessionId, mark: string): Promise<string> {
  await mkdir(place, { recursive: true });
  await symlink(mark, join(place, session));
  return join(place, session);
}

describe("the lease of a session", () => {
  verifies(["S13"], "is taken over when the holder has certainly ended, and only then", async () => {
    const place = join(folder, "leases");
    const leases = new SessionLeases({ folder: place, clock: systemClock });
    const cases: readonly [(parts: string[]) => void, "ended" | "lives"][] = [
      [(parts) => parts.splice(1, 1, "anotherboot"), "ended"],
      // The same process id, used again.
      [(parts) => parts.splice(3, 1, String(Number(parts[3]) + 1)), "ended"],
      // No process has this id: it is above the highest that Linux gives out.
      [(parts) => parts.splice(2, 1, "4194305"), "ended"],
      [() => {}, "lives"],
      [(parts) => parts.splice(0, 1, "anothermachine"), "lives"],
    ];
    for (const [change, state] of cases) {
      const session = ids.next("sess");
      await leaseOf(place, session, await markOf(session, change));
      if (state === "lives") await expect(leases.take(session)).rejects.toMatchObject({ code: "leased" });
      else await (await leases.take(session)).release();
    }
  });

  verifies(["S13"], "of another machine counts for as long as it is renewed", async () => {
    const place = join(folder, "leases");
    const leases = new SessionLeases({ folder: place, clock: systemClock });
    const session = ids.next("sess");
    const path = await leaseOf(place, session, await markOf(session, (parts) => parts.splice(0, 1, "another")));
    const renewed = (ago: number) => lutimes(path, new Date(Date.now() - ago), new Date(Date.now() - ago));
    await renewed(MINUTE);
    await expect(leases.take(session)).rejects.toThrow(
      /open in another process \(on another machine or in a container, since \d\d:\d\d\)/,
    );
    await renewed(5 * MINUTE);
    await (await leases.take(session)).release();
  });

  verifies(["S13"], "that a dead process has left is swept with the next one that is taken", async () => {
    const place = join(folder, "leases");
    const left = ids.next("sess");
    await leaseOf(place, left, await markOf(left, (parts) => parts.splice(2, 1, "4194305")));
    await (await new SessionLeases({ folder: place, clock: systemClock }).take(ids.next("sess"))).release();
    expect(await readdir(place)).toEqual([]);
  });

  verifies(["S13"], "released late does not give up the one that was taken after it", async () => {
    const place = join(folder, "leases");
    const leases = new SessionLeases({ folder: place, clock: systemClock });
    const session = ids.next("sess");
    const lost = await leases.take(session);
    await rm(join(place, session));
    const taken = await leases.take(session);
    await lost.release();
    expect([leases.has(session), leases.isLeased(session)]).toEqual([true, true]);
    expect(() => leases.check(session)).not.toThrow();
    await taken.release();
    expect([leases.has(session), leases.isLeased(session)]).toEqual([false, false]);
  });

  for (const kind of ["sqlite", "files"] as const) {
    verifies(["S3", "S13"], `that was lost lets nothing more be written (${kind})`, async () => {
      const key = new Uint8Array(32).fill(7);
      const open = (): Promise<SessionStore> =>
        kind === "sqlite" ? openSqliteStore({ path: join(folder, "s.db"), key }) : openFilesStore({ folder, key });
      const [store, other] = [await open(), await open()];
      const session = ids.next("sess");
      const row = { log: ids.next("log"), cwd: "/w", provider: "p", model: "m" };
      const event = (id: number): Envelope => ({
        id,
        session,
        originator: "cli_01M7F0TY63B39H5SVH4DM3R6HH",
        ts: "2026-01-31T12:00:00.000Z",
        kind: "TextDelta",
        payload: { text: "x" },
      });
      const lease = await store.lease(session);
      await store.create({ id: session, created_at: "2026-01-31T12:00:00.000Z", ...row });
      await store.append(session, [event(1)], "sync");
      const call = { session, tool: "bash", args_hash: "h", mutating: true, started_at: "2026-01-31T12:00:00.000Z" };
      const begun = ids.next("call");
      await store.intend({ ...call, call: begun }, { session, head: 1 });
      // To the other one this process looks dead, as after a long sleep of its machine.
      await rm(join(folder, kind === "sqlite" ? "leases" : ".leases", session));
      const taken = await other.lease(session);
      const lost = { code: "conflict" };
      const fence = { session, head: 1 };
      await expect(store.append(session, [event(2)], "sync")).rejects.toMatchObject(lost);
      await expect(store.intend({ ...call, call: ids.next("call") }, fence)).rejects.toMatchObject(lost);
      const end = { outcome: "ok", completed_at: "2026-01-31T12:00:01.000Z" } as const;
      await expect(store.conclude(begun, end, fence)).rejects.toMatchObject(lost);
      expect(await other.orphans(session)).toMatchObject([{ call: begun }]);
      await other.append(session, [event(2)], "sync");
      // Giving back what was lost does not take it from the one that has it.
      await lease.release();
      await expect(store.lease(session)).rejects.toMatchObject({ code: "leased" });
      await taken.release();
      await store.close();
      await other.close();
    });
  }
});
