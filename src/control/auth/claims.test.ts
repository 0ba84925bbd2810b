import { describe, expect, it } from "vitest";
import { isOwner, makeClaims, mintProblem, readClaims, type TokenClaims, type WantedClaims } from "./claims.js";

const [ONE, TWO] = ["sess_01M7TR596F8A45R56KG6VCGYRD", "sess_01M7TR596F8A45R56KG6VCGYRE"] as never[] as [never, never];
const WHOLE = { ver: 1, jti: "tok_1", identity_class: "agent", exp: 200, nbf: 100 } as const;
const FULL = {
  ...{ ...WHOLE, sessions: [ONE], folders: ["/project/a"], commands: ["SendInput"], can_mint: true },
  ...{ critical_claims: ["sessions"], display_name: "me" },
};

describe("the claims of a token", () => {
  it("are read as they are, without those that are unknown", () => {
    expect(readClaims(FULL)).toEqual({ claims: FULL });
    const least = { claims: { ...WHOLE, can_mint: false, critical_claims: [] } };
    expect(readClaims({ ...WHOLE, extra: 1 })).toEqual(least);
    expect(readClaims({ ...WHOLE, exp: 0, display_name: "x".repeat(200) })).toHaveProperty("claims");
    const folders = (count: number) => Array.from({ length: count }, (_, at) => `/${at}`);
    expect(readClaims({ ...WHOLE, folders: folders(100) })).toHaveProperty("claims");
    expect(readClaims({ ...WHOLE, folders: folders(101) })).toHaveProperty("problem");
    expect(readClaims({ ...WHOLE, folders: [`/${"x".repeat(4_095)}`] })).toHaveProperty("claims");
    expect(readClaims({ ...WHOLE, folders: [`/${"x".repeat(4_096)}`] })).toHaveProperty("problem");
    expect(readClaims({ ...WHOLE, jti: `tok_${"x".repeat(96)}` })).toHaveProperty("claims");
  });

  it.each([
    ["the claims are not an object", []],
    ["its version is 2, and this Oxbow knows version 1", { ...WHOLE, ver: 2 }],
    ["its version is missing, and this Oxbow knows version 1", {}],
    ['"critical_claims" is not a list of names', { ...WHOLE, critical_claims: [1] }],
    ['its critical claim "other" is unknown or missing', { ...WHOLE, other: 1, critical_claims: ["other"] }],
    ['its critical claim "sessions" is unknown or missing', { ...WHOLE, critical_claims: ["exp", "sessions"] }],
    ['"jti" is not an id (tok_…)', { ...WHOLE, jti: "one" }],
    ['"jti" is not an id (tok_…)', { ...WHOLE, jti: `tok_${"x".repeat(97)}` }],
    ['"jti" is not an id (tok_…)', { ...WHOLE, jti: 1 }],
    ['"sessions" is not a list of session ids', { ...WHOLE, sessions: [ONE, "tok_1"] }],
    ['"folders" is not a list of absolute paths', { ...WHOLE, folders: ["/a", "b"] }],
    ['"folders" is not a list of absolute paths', { ...WHOLE, folders: ["/a/../b"] }],
    ['"commands" is not a list of commands', { ...WHOLE, commands: "SendInput" }],
    ['"identity_class" must be "human" or "agent"', { ...WHOLE, identity_class: "owner" }],
    ['"exp" is not a time in seconds', { ...WHOLE, exp: 1.5 }],
    ['"nbf" is not a time in seconds', { ...WHOLE, nbf: -1 }],
    ['"can_mint" is not true or false', { ...WHOLE, can_mint: "yes" }],
    ['"display_name" is not a short text', { ...WHOLE, display_name: "x".repeat(201) }],
  ])("are refused: %s", (problem, value) => {
    expect(readClaims(value)).toEqual({ problem });
  });

  it("of a new token begin a minute ago, and what narrows it is critical", () => {
    const made = { jti: "tok_1", now: 1_000.9 } as never;
    const narrowing = { sessions: [ONE], folders: ["/a"], commands: ["SendInput"] };
    expect(makeClaims({ identity_class: "human" }, made)).toEqual({
      ...{ ver: 1, jti: "tok_1", identity_class: "human", exp: 87_400, nbf: 940, can_mint: false },
      critical_claims: ["identity_class"],
    });
    expect(
      makeClaims(
        { ...narrowing, identity_class: "agent", can_mint: true, lifetimeSeconds: 5, display_name: "x" },
        made,
      ),
    ).toEqual({
      ...{ ver: 1, jti: "tok_1", identity_class: "agent", exp: 1_005, nbf: 940, can_mint: true, ...narrowing },
      ...{ critical_claims: ["identity_class", "sessions", "folders", "commands"], display_name: "x" },
    });
  });
});

describe("who may make a token", () => {
  const owner = makeClaims({ identity_class: "human", can_mint: true }, { jti: "tok_0", now: 0 } as never);
  const by = (more: Partial<TokenClaims>): TokenClaims => ({ ...owner, exp: 1_000, ...more });
  const want = (more: Partial<WantedClaims>): WantedClaims => ({
    ...{ identity_class: "agent", sessions: [ONE], lifetimeSeconds: 900 },
    ...more,
  });
  const problem = (wanted: object, maker?: Partial<TokenClaims>) => mintProblem(want(wanted), maker && by(maker), 100);
  const any = expect.any(String);

  it("the owner's token has no limit of any kind", () => {
    expect(isOwner(owner)).toBe(true);
    const others = [
      { can_mint: false },
      { identity_class: "agent" },
      { sessions: [] },
      { folders: [] },
      { commands: [] },
    ];
    for (const other of others as Partial<TokenClaims>[]) expect(isOwner(by(other)), JSON.stringify(other)).toBe(false);
  });

  it("each token names what it is for, with commands that there are", () => {
    expect(problem({ sessions: undefined })).toBe(
      'Name the sessions of the token ("session"), or its folders ("folder").',
    );
    expect(problem({ sessions: undefined, folders: ["/a"] })).toBeUndefined();
    expect(problem({ commands: ["SendInput", "Fly"] })).toMatch(/^There is no command "Fly"\. There are \w+, \w+/);
    expect(problem({ commands: ["SendInput"] })).toBeUndefined();
    // Without a token, a person confirms it.
    expect([problem({}), problem({ can_mint: true })]).toEqual([undefined, any]);
  });

  it("the owner makes any token; others none that reaches further, or lasts longer", () => {
    const human = { identity_class: "human", sessions: [TWO], can_mint: true, lifetimeSeconds: 9_999 } as const;
    expect(problem(human, {})).toBeUndefined();
    expect(problem({}, { can_mint: false })).toContain("may not be used to make others");
    const agent = { identity_class: "agent", sessions: [ONE] } as const;
    expect(problem({}, agent)).toBeUndefined();
    expect(problem({ identity_class: "human" }, agent)).toBe("An agent cannot make a token for a human.");
    expect(problem({ identity_class: "human" }, { sessions: [ONE] })).toBeUndefined();
    expect(problem({ lifetimeSeconds: 901 }, agent)).toContain("cannot outlive");
    expect(problem({ lifetimeSeconds: undefined }, agent)).toContain("cannot outlive");
  });

  it.each([
    ["sessions of its own", { sessions: [ONE] }, {}, undefined],
    ["another session", { sessions: [ONE] }, { sessions: [ONE, TWO] }, `does not cover ${TWO}`],
    ["no session", { sessions: [ONE] }, { sessions: undefined, folders: ["/a"] }, "must name some of them"],
    ["a folder below its own", { folders: ["/a"] }, { folders: ["/a/b", "/a"] }, undefined],
    ["a folder beside its own", { folders: ["/a", "/c"] }, { folders: ["/a", "/ab"] }, "covers /a, /c, so"],
    ["a session in any folder", { folders: ["/a"] }, {}, "must name folders there"],
    [
      "a folder, for an agent of the engine's",
      { identity_class: "agent" },
      { folders: ["/a"] },
      "the folder of the engine alone",
    ],
    [
      "a folder, for an agent of a session",
      { identity_class: "agent", sessions: [ONE] },
      { folders: ["/a"] },
      undefined,
    ],
    ["a command of its own", { commands: ["SendInput", "CancelTurn"] }, { commands: ["SendInput"] }, undefined],
    ["all commands", { commands: ["SendInput"] }, {}, "only the commands SendInput, so"],
    [
      "another command",
      { commands: ["SendInput"] },
      { commands: ["SendInput", "CancelTurn"] },
      "must name some of them",
    ],
  ] as readonly (readonly [string, Partial<TokenClaims>, object, string | undefined])[])(
    "a limited token may pass on %s, or not",
    (_, maker, wanted, expected) => {
      const answer = problem(wanted, maker);
      expect(answer).toEqual(expected === undefined ? undefined : expect.stringContaining(expected));
    },
  );
});
