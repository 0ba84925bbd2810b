import { describe, expect, it } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { textWidth } from "../../../base/text-width.js";
import type { SessionId } from "../../../protocol/ids.js";
import type { SessionRecord, SessionStore } from "../../../sessions/store.js";
import { rowsOf, type SessionRow, sessionTable } from "./list-table.js";

const NOW = Date.parse("2026-01-02T00:00:00.000Z");
const ID = "sess_01M7F0TY63B39H5SVH4DM3R6HH" as SessionId;

const record: SessionRecord = {
  id: ID,
  log: "log_01M7F0TY63B39H5SVH4DM3R6HH",
  cwd: "/home/me/project",
  provider: "anthropic",
  model: "claude-sonnet-4-5",
  title: "fix the tests",
  profile: "work",
  created_at: "2026-01-01T00:00:00.000Z",
  active_at: "2026-01-01T22:00:00.000Z",
  branch_of: { session: "sess_01M7F0TY63B39H5SVH4DM3R600" as SessionId, event: 9 },
  pinned: true,
  last_event: 40,
  expired_to: 0,
};
const row: SessionRow = { ...record, status: "waiting", turns: 12, attached_by: ["owner", "web"] };
const lines = (width: number | undefined, all = false) =>
  sessionTable([row], { now: NOW, all, width, color: false }).split("\n");
const headers = (width: number | undefined) =>
  lines(width)[0]
    ?.trim()
    .split(/\s{2,}/);

describe("the table of sessions", () => {
  verifies(["U6"], "has status, id, age, profile, model, turns, branch, clients and folder", () => {
    const all = ["STATUS", "ID", "AGE", "TITLE", "PROFILE", "MODEL", "TURNS", "BRANCH OF", "ATTACHED BY", "FOLDER"];
    expect(headers(undefined)).toEqual(all);
    const [, text] = lines(undefined);
    for (const part of ["waiting", ID, "2h", "work", "anthropic:claude-sonnet-4-5", "12", "owner, web", record.cwd]) {
      expect(text).toContain(part);
    }
  });

  verifies(["U6"], "drops what matters least on narrow screens, and shortens ids before titles", () => {
    const first = ["STATUS", "ID", "AGE", "TITLE"];
    expect(headers(40)).toEqual(first);
    expect(headers(80)).toEqual([...first, "MODEL", "TURNS", "ATTACHED BY"]);
    expect(headers(100)).toEqual([...first, "PROFILE", "MODEL", "TURNS", "BRANCH OF", "ATTACHED BY"]);
    expect(headers(120)).toHaveLength(10);
    expect(lines(200)[1]).toContain(ID);
    expect(lines(80)[1]).toContain("4DM3R6HH");
    expect(lines(80)[1]).not.toContain("sess_");
    expect(lines(80, true)[0]).toContain("FOLDER");
    for (const width of [20, 40, 80, 120, 200]) {
      for (const line of lines(width)) expect(textWidth(line)).toBeLessThanOrEqual(width);
    }
  });

  it("knows what a session does from the engine, from another process, or from its end", async () => {
    const status = async (store: Partial<SessionStore>, live?: Parameters<typeof rowsOf>[1]["live"], more = {}) => {
      const [made] = await rowsOf([{ ...record, ...more }], { store: store as SessionStore, live });
      return [made?.status, made?.turns, made?.attached_by.join()];
    };
    const log = (kind: string, begun: number, over: number) => ({
      count: async () => 3,
      last: async (_: SessionId, of: string) => (of === "TurnStarted" ? begun : over),
      events: async function* () {
        yield { kind };
      } as unknown as SessionStore["events"],
    });
    const counts = log("TextDelta", 30, 20);
    expect(await status(counts)).toEqual(["interrupted", 3, ""]);
    // A branch ends with a turn, and a session that was left may have news after its last turn.
    expect(await status(log("TurnEnded", 30, 40))).toEqual(["done", 3, ""]);
    expect(await status(log("ModeChanged", 30, 39))).toEqual(["done", 3, ""]);
    const events = async function* () {
      yield { kind: "SessionEnded", payload: { reason: "user" } };
    } as unknown as SessionStore["events"];
    expect(await status({ events })).toEqual(["done", undefined, ""]);
    expect(await status({}, undefined, { ended: "user" })).toEqual(["done", undefined, ""]);
    expect(await status({ ...counts, holder: () => ({ pid: 77 }) })).toEqual(["running", 3, "pid 77"]);
    expect(await status({ ...log("TurnEnded", 30, 40), holder: () => ({ pid: 77 }) })).toEqual(["idle", 3, "pid 77"]);
    expect(await status(counts, new Map([[ID, { state: "running", clients: ["owner"] }]]))).toEqual([
      "running",
      3,
      "owner",
    ]);
    expect(await status({ count: () => Promise.reject(new Error("damaged")) })).toEqual(["interrupted", undefined, ""]);
  });
});
