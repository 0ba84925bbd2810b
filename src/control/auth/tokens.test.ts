import { chmod, chown, readFile, rename, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/program.js";
import { verifies } from "../../../test/verifies.js";
import { ManualClock, systemClock } from "../../base/clock.js";
import type { TokenQuestion } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import { confirmationChannels } from "./channels.js";
import { makeClaims, mintProblem, type TokenClaims, type WantedClaims } from "./claims.js";
import { type ConfirmationChannel, NO_CHANNEL } from "./confirmation.js";
import { Guesses } from "./guesses.js";
import { openSigningKey } from "./signing-key.js";
import { readTokenFile } from "./token-file.js";
import { readToken, signToken } from "./token-text.js";
import { TokenWatch } from "./token-watch.js";
import { Tokens } from "./tokens.js";

const A = `sess_${"0".repeat(25)}A` as SessionId;
const B = `sess_${"0".repeat(25)}B` as SessionId;
const AGENT: WantedClaims = { identity_class: "agent", sessions: [A] };

const folder = temporaryFolder;

/** Keeps the code that a person would see. */
class Surface implements ConfirmationChannel {
  readonly name = "client";
  readonly where = "here";
  code = "";
  shown = 0;
  readonly closed: string[] = [];

  close(_message: string, { state }: TokenQuestion): void {
    this.closed.push(state);
  }

  show(message: string): boolean {
    this.shown += 1;
    this.code = /\b(\d{6})\b/.exec(message)?.[1] ?? "";
    return true;
  }
}

async function open(channels: readonly ConfirmationChannel[] = []) {
  const clock = new ManualClock();
  const stateFolder = await folder();
  return { clock, stateFolder, tokens: await Tokens.open({ stateFolder, clock, channels }) };
}

function reasonOf(checked: ReturnType<Tokens["check"]>): string {
  return "failure" in checked ? checked.failure.reason : "valid";
}

describe("a token", () => {
  verifies(
    ["C7"],
    "is valid for 24 hours, then it is refused; revoked ones at once, also by another process",
    async () => {
      const { clock, tokens, stateFolder } = await open();
      const { token, claims } = await tokens.make(AGENT);
      expect(claims).toMatchObject({ ver: 1, sessions: [A], identity_class: "agent", can_mint: false });
      expect(claims.exp - clock.wall() / 1000).toBe(24 * 60 * 60);
      expect(reasonOf(tokens.check(token))).toBe("valid");
      const other = await tokens.make(AGENT);
      const elsewhere = await Tokens.open({ stateFolder, clock });
      await elsewhere.revoke(other.claims.jti);
      expect(reasonOf(tokens.check(other.token))).toBe("TokenRevoked");
      expect(tokens.list().map(({ jti, revoked_at }) => [jti, revoked_at !== undefined])).toEqual([
        [claims.jti, false],
        [other.claims.jti, true],
      ]);
      clock.advance(24 * 60 * 60 * 1000);
      expect(reasonOf(tokens.check(token))).toBe("TokenExpired");
    },
  );

  verifies(["C7"], "is refused when one character differs, and when another engine made it", async () => {
    const { tokens } = await open();
    const { token } = await tokens.make(AGENT);
    for (let at = 0; at < token.length; at++) {
      const other = token[at] === "A" ? "B" : "A";
      const forged = `${token.slice(0, at)}${other}${token.slice(at + 1)}`;
      expect([at, reasonOf(tokens.check(forged))]).toEqual([at, "Unauthorized"]);
    }
    const foreign = await (await open()).tokens.make(AGENT);
    for (const wrong of [foreign.token, "", "oxb1", "oxb1..", `${token}.`, `${token}=`, "x".repeat(100_000)]) {
      expect(reasonOf(tokens.check(wrong))).toBe("Unauthorized");
    }
  });

  verifies(
    ["C2", "C7"],
    "is refused with an unknown version or an unknown critical claim; other unknown claims are ignored",
    async () => {
      const { tokens, stateFolder, clock } = await open();
      const key = await openSigningKey(stateFolder, clock);
      const claims = makeClaims(AGENT, { jti: "tok_1", now: clock.wall() / 1000 });
      const signed = (change: object) => tokens.check(signToken({ ...claims, ...change } as TokenClaims, key));
      expect(reasonOf(signed({ display_name: "x", x_colour: "red" }))).toBe("valid");
      const wrong = [
        { ver: 2 },
        { ver: undefined },
        { critical_claims: ["x_colour"] },
        { critical_claims: ["max_cost"], max_cost: 5 },
        { critical_claims: ["sessions"], sessions: undefined },
        { critical_claims: "sessions" },
        { sessions: "all" },
        { sessions: [5] },
        { commands: {} },
        { identity_class: "root" },
        { exp: "never" },
        { exp: Number.MAX_VALUE },
        { nbf: claims.nbf + 3600 },
        { can_mint: 1 },
      ];
      for (const change of wrong) expect([change, reasonOf(signed(change))]).toEqual([change, "Unauthorized"]);
      expect(readToken("oxb1.bm90IGpzb24.", key)).toBeUndefined();
    },
  );

  /** Lists what others could do to a file in the state folder, or a backup that restores it. */
  const EXPOSURES: readonly (readonly [string, (path: string) => Promise<void>])[] = [
    ["all may read it", (path) => chmod(path, 0o644)],
    ["a group may read it", (path) => chmod(path, 0o640)],
    ["a link", (path) => rename(path, `${path}.elsewhere`).then(() => symlink(`${path}.elsewhere`, path))],
    ...(process.getuid?.() === 0 ? ([["another user's", (path: string) => chown(path, 12_345, 12_345)]] as const) : []),
  ];

  verifies(["C7"], "of the owner is replaced and revoked if others could read its file", async () => {
    for (const [what, expose] of EXPOSURES) {
      const { tokens, stateFolder, clock } = await open();
      const file = join(stateFolder, "control.token");
      const known = await tokens.keepOwnerToken();
      await expose(file);
      const again = await Tokens.open({ stateFolder, clock });
      const renewed = await again.keepOwnerToken();
      expect([what, renewed === known]).toEqual([what, false]);
      expect((await readFile(file, "utf8")).trim()).toBe(renewed);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      // A link leads to a file whose content the engine never reads.
      if (what !== "a link") expect(again.check(known)).toMatchObject({ failure: { reason: "TokenRevoked" } });
      expect(again.check(renewed)).toHaveProperty("claims");
      expect(await again.keepOwnerToken()).toBe(renewed);
    }
  });

  verifies(
    ["C7"],
    "is worth nothing if others could read the key that signed it, or if it comes from another home",
    async () => {
      for (const [what, expose] of EXPOSURES) {
        const { tokens, stateFolder } = await open();
        const known = await tokens.keepOwnerToken();
        await expose(join(stateFolder, "control.key"));
        const [again, other] = await Promise.all([
          Tokens.open({ stateFolder, clock: systemClock }),
          Tokens.open({ stateFolder, clock: systemClock }),
        ]);
        expect([what, again.check(known)]).toMatchObject([what, { failure: { reason: "Unauthorized" } }]);
        expect(other.check(await again.keepOwnerToken())).toHaveProperty("claims");
      }
      const [first, second] = [await open(), await open()];
      const copied = await first.tokens.keepOwnerToken();
      await writeFile(join(second.stateFolder, "control.token"), copied, { mode: 0o600 });
      expect(await second.tokens.keepOwnerToken()).not.toBe(copied);
      expect(second.tokens.check(copied)).toMatchObject({ failure: { reason: "Unauthorized" } });
    },
  );

  verifies(["C7"], "has its key and the owner's token in files of the user alone", async () => {
    const { tokens, stateFolder, clock } = await open();
    const owner = await tokens.keepOwnerToken();
    for (const name of ["control.key", "control.token", "tokens.jsonl"]) {
      expect([name, (await stat(join(stateFolder, name))).mode & 0o777]).toEqual([name, 0o600]);
    }
    expect((await readFile(join(stateFolder, "tokens.jsonl"), "utf8")).includes(owner)).toBe(false);
    expect(await tokens.keepOwnerToken()).toBe(owner);
    clock.advance(13 * 60 * 60 * 1000);
    const renewed = await tokens.keepOwnerToken();
    expect(renewed).not.toBe(owner);
    expect([reasonOf(tokens.check(owner)), reasonOf(tokens.check(renewed))]).toEqual(["valid", "valid"]);
  });

  it("is refused while the list of revoked tokens cannot be read", async () => {
    const { tokens, stateFolder } = await open();
    const { token } = await tokens.make(AGENT);
    await writeFile(join(stateFolder, "tokens.jsonl"), "not json\n{}\n");
    expect(reasonOf(tokens.check(token))).toBe("valid");
    const { mkdir, rm } = await import("node:fs/promises");
    await rm(join(stateFolder, "tokens.jsonl"));
    await mkdir(join(stateFolder, "tokens.jsonl"));
    expect(() => tokens.check(token)).toThrow();
  });

  it("leaves no record once it has expired and an engine starts", async () => {
    const { tokens, clock, stateFolder } = await open();
    const { claims } = await tokens.make(AGENT);
    await tokens.revoke(claims.jti);
    clock.advance(25 * 60 * 60 * 1000);
    await Tokens.open({ stateFolder, clock });
    expect(await readFile(join(stateFolder, "tokens.jsonl"), "utf8")).toBe("");
  });
});

describe("making a token with a token", () => {
  const owner = makeClaims({ identity_class: "human", can_mint: true }, { jti: "tok_o", now: 1000 });
  const minter = makeClaims({ ...AGENT, can_mint: true, commands: ["SendInput"] }, { jti: "tok_m", now: 1000 });
  const inFolders = (...folders: readonly string[]): WantedClaims => ({
    identity_class: "agent",
    folders,
    lifetimeSeconds: 60,
  });
  const ofEngine = makeClaims({ identity_class: "agent", can_mint: true }, { jti: "tok_e", now: 1000 });
  const ofFolders = makeClaims(
    { identity_class: "agent", folders: ["/w"], can_mint: true },
    { jti: "tok_f", now: 1000 },
  );
  const cases: readonly [string, WantedClaims, TokenClaims | undefined, boolean][] = [
    ["the owner makes one for an agent", AGENT, owner, true],
    ["the owner makes one for a human", { ...AGENT, identity_class: "human" }, owner, true],
    ["no one makes one for all sessions", { identity_class: "agent" }, owner, false],
    ["a program without a token asks for one", AGENT, undefined, true],
    ["a program without a token cannot get the right to make more", { ...AGENT, can_mint: true }, undefined, false],
    ["an agent narrows its own", { ...AGENT, commands: ["SendInput"], lifetimeSeconds: 60 }, minter, true],
    [
      "an agent cannot make one for a human",
      { ...AGENT, commands: ["SendInput"], identity_class: "human", lifetimeSeconds: 60 },
      minter,
      false,
    ],
    [
      "an agent cannot add a session",
      { ...AGENT, sessions: [A, B], commands: ["SendInput"], lifetimeSeconds: 60 },
      minter,
      false,
    ],
    ["an agent cannot add a command", { ...AGENT, commands: ["SetMode"], lifetimeSeconds: 60 }, minter, false],
    ["an agent cannot leave out its commands", { ...AGENT, lifetimeSeconds: 60 }, minter, false],
    [
      "an agent cannot make one that lives longer",
      { ...AGENT, commands: ["SendInput"], lifetimeSeconds: 90_000 },
      minter,
      false,
    ],
    ["a token without the right makes none", AGENT, { ...owner, can_mint: false }, false],
    ["a token for folders makes one for a folder below", inFolders("/w/a"), ofFolders, true],
    ["… for the same folder", inFolders("/w"), ofFolders, true],
    ["… not for one above or beside it", inFolders("/"), ofFolders, false],
    ["… not for one with a longer name", inFolders("/w2"), ofFolders, false],
    ["… not for another one besides", inFolders("/w", "/x"), ofFolders, false],
    ["… not for a session alone, which may be anywhere", { ...AGENT, lifetimeSeconds: 60 }, ofFolders, false],
    ["an agent for the folder of the engine alone names no other", inFolders("/w"), ofEngine, false],
    ["an unlimited person names any folder", inFolders("/x"), owner, true],
    [
      "a limited person is no owner",
      { ...AGENT, can_mint: true, lifetimeSeconds: 60 },
      { ...owner, sessions: [B] },
      false,
    ],
    ["an unknown command is refused", { ...AGENT, commands: ["Explode"] }, owner, false],
  ];
  verifies(["C7", "P4"], "never gives more than it has", () => {
    for (const [name, wanted, by, allowed] of cases) {
      expect([name, mintProblem(wanted, by, 1000) === undefined]).toEqual([name, allowed]);
    }
  });
});

describe("the confirmation", () => {
  verifies(["C7"], "needs the code within 60 seconds, and few guesses", async () => {
    const surface = new Surface();
    const { tokens, clock } = await open([surface]);
    const request = async () => {
      const opened = await tokens.request(AGENT, {});
      if ("failure" in opened) throw new Error(opened.failure.message);
      expect(opened).toMatchObject({ channel: "client", where: "here" });
      expect(JSON.stringify(opened)).not.toContain(surface.code);
      return opened.request;
    };
    const made = await tokens.confirm(await request(), surface.code, {});
    expect("token" in made && reasonOf(tokens.check(made.token))).toBe("valid");

    const guessed = await request();
    const wrong = surface.code === "000000" ? "000001" : "000000";
    for (let times = 0; times < 3; times++)
      expect(await tokens.confirm(guessed, wrong, {})).toMatchObject({ failure: { reason: "Forbidden" } });
    expect(await tokens.confirm(guessed, surface.code, {})).toMatchObject({ failure: { reason: "NotFound" } });

    const late = await request();
    clock.advance(60_000);
    expect(await tokens.confirm(late, surface.code, {})).toMatchObject({ failure: { reason: "NotFound" } });
  });

  verifies(["C7"], "ends when a person refuses it, and the surface learns how each request ended", async () => {
    const surface = new Surface();
    const { tokens } = await open([surface]);
    const request = async () => {
      const opened = await tokens.request(AGENT, {});
      return "failure" in opened ? "" : opened.request;
    };
    const refused = await request();
    expect([tokens.refuse(refused), tokens.refuse(refused), tokens.refuse("req_other")]).toEqual([true, false, false]);
    const late = await tokens.confirm(refused, surface.code, {});
    expect("failure" in late && late.failure.message).toContain("A person refused this request.");
    await tokens.confirm(await request(), surface.code, {});
    const guessed = await request();
    for (let times = 0; times < 3; times++) await tokens.confirm(guessed, "none", {});
    expect(surface.closed).toEqual(["refused", "made", "void"]);
  });

  it("does not flood a person with codes", async () => {
    const surface = new Surface();
    const { tokens, clock } = await open([surface]);
    const asked = async () => "failure" in (await tokens.request(AGENT, {}));
    for (let times = 0; times < 20; times++) await asked();
    expect(surface.shown).toBe(3);
    clock.advance(61_000);
    expect(await asked()).toBe(false);
  });

  it("is asked for at most six times a minute, also when each request ends at once", async () => {
    const surface = new Surface();
    const { tokens, clock } = await open([surface]);
    const asked = async () => {
      const opened = await tokens.request(AGENT, {});
      if ("request" in opened) tokens.refuse(opened.request);
      return "failure" in opened ? opened.failure.reason : "shown";
    };
    const answers: string[] = [];
    for (let times = 0; times < 8; times++, clock.advance(1000)) answers.push(await asked());
    expect(answers).toEqual([...Array(6).fill("shown"), "TooManyRequests", "TooManyRequests"]);
    expect(surface.shown).toBe(6);
    // The first of them was 60 seconds ago; the refused ones did not count.
    clock.advance(52_000);
    expect([await asked(), await asked()]).toEqual(["shown", "TooManyRequests"]);
    const wait = { retryable: true, retry_after_ms: 60_000 };
    expect(await tokens.request(AGENT, {})).toMatchObject({ failure: wait });
  });

  verifies(
    ["C7"],
    "uses the first surface of the order that can show it, or the chosen one; without any it is refused",
    async () => {
      const terminal = join(await folder(), "terminal");
      await writeFile(terminal, "");
      const messages: string[] = [];
      const of = (wanted: Parameters<typeof confirmationChannels>[0], people: number, place = terminal) =>
        confirmationChannels(wanted, {
          notifyPeople: (message) => {
            if (people > 0) messages.push(message);
            return people;
          },
          terminal: place,
          variables: { PATH: "" },
        });
      const channelOf = async (channels: readonly ConfirmationChannel[]) => {
        const asked = await (await open(channels)).tokens.request(AGENT, {});
        return "failure" in asked ? asked.failure.message : asked.channel;
      };
      expect(await channelOf(of("auto", 1))).toBe("client");
      expect(messages[0]).toMatch(/A program asks for a token: agent, sess_\S+, for 24 h\. Code: \d{6}\./);
      expect(await channelOf(of("auto", 0))).toBe("tty");
      expect(await readFile(terminal, "utf8")).toMatch(/Code: \d{6}\./);
      expect(await channelOf(of("tty", 1))).toBe("tty");
      expect(await channelOf(of("auto", 0, "/nonexistent/tty"))).toBe(NO_CHANNEL);
      expect(await channelOf(of("notify", 1))).toBe(NO_CHANNEL);
    },
  );

  it("shows the code on the desktop with the program that the system has", async () => {
    const bin = await folder();
    const log = join(bin, "log");
    await writeFile(join(bin, "notify-send"), `#!/bin/sh\necho "$@" > ${log}\n`, { mode: 0o755 });
    const variables = { PATH: bin, DISPLAY: ":0" };
    const [channel] = confirmationChannels("notify", { notifyPeople: () => 0, variables, platform: "linux" });
    expect(await channel?.show("Code: 123456.")).toBe(true);
    expect(await readFile(log, "utf8")).toContain("Code: 123456.");
    const [none] = confirmationChannels("notify", {
      notifyPeople: () => 0,
      variables: { PATH: bin },
      platform: "linux",
    });
    expect(await none?.show("Code: 123456.")).toBe(false);
  });
});

describe("a token file", () => {
  const claims = makeClaims({ identity_class: "agent" }, { jti: "tok_ci", now: Date.UTC(2026, 0, 1) / 1000 });
  const secret = "s".repeat(40);

  verifies(["C7"], "is accepted with mode 0400 only", async () => {
    const path = join(await folder(), "ci-token.json");
    await writeFile(path, JSON.stringify({ token: secret, ...claims }));
    for (const mode of [0o600, 0o644, 0o440, 0o404, 0o500, 0o4400]) {
      await chmod(path, mode);
      await expect(readTokenFile(path)).rejects.toThrow("A token file must have mode 0400: chmod 0400");
    }
    await chmod(path, 0o400);
    const read = await readTokenFile(path);
    expect(read?.claims.jti).toBe("tok_ci");
    const tokens = await Tokens.open({
      stateFolder: await folder(),
      clock: new ManualClock(),
      fileTokens: read ? [read] : [],
    });
    expect(reasonOf(tokens.check(secret))).toBe("valid");
    expect(reasonOf(tokens.check(`${secret}s`))).toBe("Unauthorized");
    await tokens.revoke("tok_ci");
    expect(reasonOf(tokens.check(secret))).toBe("TokenRevoked");
    expect(await readTokenFile(join(path, "..", "none.json"))).toBeUndefined();
  });

  it("says what is wrong with it", async () => {
    const path = join(await folder(), "token.json");
    const problemOf = async (text: string) => {
      await writeFile(path, text, { mode: 0o600 });
      await chmod(path, 0o400);
      const problem = await readTokenFile(path).catch((error: Error) => error.message);
      await chmod(path, 0o600);
      return problem;
    };
    expect(await problemOf("{")).toContain("is not JSON");
    expect(await problemOf("{}")).toContain('has no "token"');
    expect(await problemOf(JSON.stringify({ token: "short", ...claims }))).toContain("too short");
    expect(await problemOf(JSON.stringify({ token: secret, ...claims, ver: 3 }))).toContain("its version is 3");
  });
});

describe("the end of a token", () => {
  const watched = async () => {
    const { tokens, clock } = await open();
    const { claims } = await tokens.make({ ...AGENT, lifetimeSeconds: 600 });
    const seen: string[] = [];
    let busy = false;
    const watch = new TokenWatch({
      ...{ claims, tokens, clock },
      warn: ({ expires_at }) => seen.push(`expiring ${expires_at}`),
      end: ({ reason }) => seen.push(reason),
      isBusy: () => busy,
    });
    const setBusy = (value: boolean) => {
      busy = value;
    };
    return { tokens, clock, claims, seen, watch, setBusy };
  };

  verifies(["C7"], "is announced five minutes before, and ends idle connections", async () => {
    const { clock, seen } = await watched();
    clock.advance(299_000);
    expect(seen).toEqual([]);
    clock.advance(1000);
    expect(seen).toEqual(["expiring 2026-01-01T00:10:00.000Z"]);
    clock.advance(299_000);
    expect(seen).toHaveLength(1);
    clock.advance(1000);
    expect(seen.at(-1)).toBe("TokenExpired");
    expect(clock.pending).toBe(0);
  });

  verifies(["C7"], "leaves a running turn at most 60 seconds", async () => {
    const long = await watched();
    long.setBusy(true);
    long.clock.advance(659_000);
    expect(long.seen).toHaveLength(1);
    long.clock.advance(1000);
    expect(long.seen.at(-1)).toBe("TokenExpired");
    const short = await watched();
    short.setBusy(true);
    short.clock.advance(610_000);
    short.setBusy(false);
    short.watch.check();
    expect(short.seen.at(-1)).toBe("TokenExpired");
  });

  verifies(["C7"], "by revocation ends the connection at once, turn or not", async () => {
    const { tokens, claims, seen, setBusy } = await watched();
    setBusy(true);
    await tokens.revoke(claims.jti);
    expect(seen).toEqual(["TokenRevoked"]);
  });
});

describe("wrong guesses", () => {
  verifies(["C7"], "are limited for each place, in bounded memory", () => {
    const clock = new ManualClock();
    const guesses = new Guesses(clock);
    for (let times = 0; times < 20; times++) expect(guesses.wrong("a")).toBeUndefined();
    expect(guesses.wrong("a")).toBe(60);
    expect(guesses.wrong("b")).toBeUndefined();
    clock.advance(60_000);
    expect(guesses.wrong("a")).toBeUndefined();
  });

  it("are counted for a thousand places; the oldest is forgotten first", () => {
    const guesses = new Guesses(new ManualClock());
    const block = (place: string) => {
      for (let times = 0; times < 20; times++) guesses.wrong(place);
    };
    block("first");
    block("second");
    for (let n = 0; n < 998; n++) guesses.wrong(`place ${n}`);
    expect([guesses.wrong("first"), guesses.wrong("second")]).toEqual([60, 60]);
    guesses.wrong("one too many");
    expect([guesses.wrong("second"), guesses.wrong("first")]).toEqual([60, undefined]);
  });
});
