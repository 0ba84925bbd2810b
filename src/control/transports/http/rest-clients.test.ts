import { beforeEach, expect, it } from "vitest";
import { ManualClock } from "../../../base/clock.js";
import type { ClientHello } from "../../../protocol/handshake.js";
import type { ClientOptions, HostClient } from "../../connected-client.js";
import { type Caller, RestClients } from "./rest-clients.js";

const HOUR_MS = 3_600_000;
const BAD: ClientHello = { protocol: "none" } as never;

let clock: ManualClock;
let made: ClientOptions[];
/** The ids of clients that were closed. */
let closed: string[];
/** Lists the greetings, by client. */
let greeted: string[];
let clients: RestClients;

beforeEach(() => {
  clock = new ManualClock();
  [made, closed, greeted] = [[], [], []];
  clients = new RestClients({
    clock,
    newClientId: () => `cli_${made.length + 1}` as never,
    connect: (options) => {
      made.push(options);
      const { id } = options;
      return {
        id,
        subscribe: () => () => {},
        close: () => void closed.push(id),
        handshake: (hello: ClientHello) => {
          greeted.push(id);
          return hello === BAD
            ? { ok: false, failure: { reason: "x", message: "x" } }
            : { ok: true, handshake: { client: id } };
        },
      } as unknown as HostClient;
    },
  });
});

const by = (jti: string, place = "port", more: object = {}): Caller =>
  ({ claims: { jti, sub: "human", ...more }, place }) as unknown as Caller;
const shake = (caller: Caller, named?: string) =>
  (clients.handshake(caller, {} as never, named) as { client?: string }).client;
const found = (caller: Caller, named?: string) => clients.find(caller, named).id;

it("a client belongs to its token and to the way that its request came; without a name it is the newest", () => {
  expect([shake(by("a")), shake(by("a")), shake(by("b"))]).toEqual(["cli_1", "cli_2", "cli_3"]);
  expect([found(by("a")), found(by("a"), "cli_1"), found(by("b"))]).toEqual(["cli_2", "cli_1", "cli_3"]);
  for (const [caller, named] of [
    [by("b"), "cli_1"],
    [by("a"), "cli_9"],
    [by("a", "socket"), "cli_1"],
  ] as const)
    expect(() => clients.find(caller, named)).toThrow();
  expect(() => clients.find(by("c"))).toThrow();
  // The owner is one on this machine's socket alone.
  const owner = { can_mint: true, identity_class: "human" };
  for (const place of ["socket", "port"]) shake(by("o", place, owner));
  shake(by("o", "socket", { ...owner, sessions: [] }));
  expect(made.map(({ isLocalOwner }) => isLocalOwner)).toEqual([false, false, false, true, false, false]);
  expect(made[0]).toMatchObject({ transport: "http", attachOnCreate: false, handshake: "required" });
});

it("a named client is greeted again, and a refused greeting leaves no new one", () => {
  shake(by("a"));
  expect([shake(by("a"), "cli_1"), made.length, greeted]).toEqual(["cli_1", 1, ["cli_1", "cli_1"]]);
  expect(() => clients.handshake(by("a"), BAD, "cli_1")).toThrow();
  expect([closed, found(by("a"))]).toEqual([[], "cli_1"]);
  expect(() => clients.handshake(by("b"), BAD)).toThrow();
  expect(closed).toEqual(["cli_2"]);
  expect(() => clients.find(by("b"))).toThrow();
});

it("who only reads needs no greeting, and is no client for others", () => {
  expect(clients.reader(by("a"), "old").id).toBe("cli_1");
  expect(clients.reader(by("a"), "old").id).toBe("cli_1");
  expect(clients.reader(by("a")).id).toBe("cli_1");
  expect(clients.reader(by("b")).id).toBe("cli_2");
  expect(() => clients.find(by("a"))).toThrow();
  expect(() => clients.find(by("a"), "old")).toThrow();
  // A greeting under the name of a reader makes a client of its own.
  expect(shake(by("a"), "old")).toBe("cli_3");
  expect([found(by("a")), clients.reader(by("a")).id]).toEqual(["cli_3", "cli_3"]);
});

it("a client goes when it leaves, with its token, and with the engine", () => {
  for (const caller of [by("a"), by("a"), by("a", "socket"), by("b")]) shake(caller);
  clients.leave(by("b"), "cli_1");
  clients.leave(by("c"), "cli_1");
  expect(closed).toEqual([]);
  clients.leave(by("a"), "cli_1");
  expect([closed, found(by("a"))]).toEqual([["cli_1"], "cli_2"]);
  clients.drop("a");
  expect(closed.sort()).toEqual(["cli_1", "cli_2", "cli_3"]);
  for (const place of ["port", "socket"]) expect(() => clients.find(by("a", place))).toThrow();
  expect(found(by("b"))).toBe("cli_4");
  clients.close();
  expect(closed).toContain("cli_4");
  expect(() => clients.find(by("b"))).toThrow();
});

it("a client goes after an hour without use, unless it has a stream", () => {
  const [idle, used, streaming] = [by("a"), by("b"), by("c")];
  for (const caller of [idle, used, streaming]) shake(caller);
  const ends = [clients.hold(streaming, clients.find(streaming)), clients.hold(streaming, clients.find(streaming))];
  clients.hold(by("d"), clients.find(streaming))();
  clock.advance(HOUR_MS / 2);
  clients.find(used);
  clock.advance(HOUR_MS / 2);
  shake(by("e"));
  expect(closed).toEqual([]);
  clock.advance(1);
  shake(by("e"));
  expect(closed).toEqual(["cli_1"]);
  ends[0]?.();
  clock.advance(HOUR_MS + 1);
  shake(by("e"));
  expect(closed).not.toContain("cli_3");
  ends[1]?.();
  clock.advance(HOUR_MS);
  shake(by("e"));
  expect(closed).not.toContain("cli_3");
  clock.advance(1);
  shake(by("e"));
  expect(closed).toContain("cli_3");
});

it("of more than 1,024 clients of a token the one goes that was not used for longest and has no stream", () => {
  for (let count = 0; count < 1_024; count++) {
    shake(by("a"));
    clock.advance(1);
  }
  clients.hold(by("a"), clients.find(by("a"), "cli_1"));
  clients.find(by("a"), "cli_2");
  expect(closed).toEqual([]);
  shake(by("a"));
  expect(closed).toEqual(["cli_3"]);
  shake(by("b"));
  expect(closed).toEqual(["cli_3"]);
});
