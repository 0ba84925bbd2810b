import { describe, expect, it } from "vitest";
import type { ContentItem, ContentKind, Owner } from "./content.js";
import { type DecideOptions, decideTrust } from "./decide.js";
import type { PendingItem, Review } from "./review.js";

function item(kind: ContentKind, { owner = "project" as Owner, path = "" } = {}): ContentItem {
  return {
    root: "/p",
    path: path || `${owner}-${kind}`,
    kind,
    owner,
    executable: false,
    sha256: "0".repeat(64),
    size: 1,
  };
}

function pending(one: ContentItem): PendingItem {
  return { item: one, state: "new", change: "prose", hasHidden: false };
}

function review(over: Partial<Review>): Review {
  return { approved: [], pending: [], minorChanges: [], own: [], refused: [], removed: [], unusable: [], ...over };
}

function decide(over: Partial<Review>, options: Partial<DecideOptions> = {}) {
  const decision = decideTrust({
    review: review(over),
    interactive: false,
    skipUnapproved: false,
    mayRun: () => false,
    asksAboutPrograms: true,
    ...options,
  });
  return {
    load: decision.load.map(({ path }) => path),
    withheld: decision.withheld.map(({ item, why }) => `${item.path}: ${why}`),
    ask: decision.ask.map(({ item }) => item.path),
    refuse: decision.refuse,
  };
}

describe("when something is not approved", () => {
  const open = { approved: [item("skill")], pending: [pending(item("instructions"))] };

  it("and no user can answer, the run is refused with the names, and nothing is loaded", () => {
    const { load, refuse } = decide(open);
    expect(load).toEqual([]);
    expect(refuse?.reason).toBe("NonInteractiveAckRefused");
    expect(refuse?.message).toContain("You have not approved this yet: instruction file (project-instructions). There");
    expect(refuse?.message).toContain("oxbow ack");
    expect(refuse?.message).toContain("--skip-unapproved");
  });

  it("a file that changed is not called new", () => {
    const changed = { ...pending(item("skill")), state: "changed" } as const;
    expect(decide({ pending: [changed] }).refuse?.message).toMatch(/^This changed since you approved it: skill \(/);
    expect(decide({ pending: [changed, pending(item("instructions"))] }).refuse?.message).toMatch(
      /^You have not approved this yet: instruction file \(project-instructions\)\. This changed since you approved it: skill \(/,
    );
  });

  it("a person is asked, and it is not loaded before", () => {
    expect(decide(open, { interactive: true })).toMatchObject({
      load: ["project-skill"],
      ask: ["project-instructions"],
      refuse: undefined,
    });
  });

  it("--skip-unapproved continues without it and does not ask", () => {
    for (const interactive of [true, false]) {
      expect(decide(open, { interactive, skipUnapproved: true })).toEqual({
        load: ["project-skill"],
        withheld: ["project-instructions: not approved"],
        ask: [],
        refuse: undefined,
      });
    }
  });

  it("and optional, a run that cannot ask continues without it; with anything else it is refused for that alone", () => {
    const optional = pending({ ...item("skill", { path: "extra" }), optional: true });
    expect(decide({ approved: [item("profile")], pending: [optional] })).toEqual({
      load: ["project-profile"],
      withheld: ["extra: not approved"],
      ask: [],
      refuse: undefined,
    });
    const { load, refuse } = decide({ ...open, pending: [optional, ...open.pending] });
    expect(load).toEqual([]);
    expect(refuse?.message).toContain("project-instructions");
    expect(refuse?.message).not.toContain("extra");
  });

  it("a long list is cut, and a hostile name is harmless", () => {
    const many = Array.from({ length: 30 }, (_, index) => pending(item("skill", { path: `s${index}\u001b[2J\n` })));
    const message = decide({ pending: many }).refuse?.message ?? "";
    expect(message).toContain("and 20 more");
    expect(message).not.toMatch(/[\u001b\n]/);
  });
});

describe("programs of a project", () => {
  const kinds = ["hook", "tool", "command", "provider", "plugin"] as const;

  it.each(kinds)("a %s needs the flag and an approval", (kind) => {
    const one = item(kind);
    const off = `${one.path}: project programs are off`;
    expect(decide({ approved: [one] })).toMatchObject({ load: [], withheld: [off] });
    expect(decide({ approved: [one] }, { mayRun: () => true })).toMatchObject({ load: [one.path], withheld: [] });
    expect(decide({ pending: [pending(one)] }, { mayRun: () => true }).refuse).toBeDefined();
  });

  it.each(kinds)("an unapproved %s stops no run while programs are off, and asks only a person", (kind) => {
    const one = item(kind);
    const expected = { load: [], withheld: [`${one.path}: project programs are off`], ask: [], refuse: undefined };
    expect(decide({ pending: [pending(one)] })).toEqual(expected);
    expect(decide({ pending: [pending(one)] }, { skipUnapproved: true })).toEqual(expected);
    const person = { interactive: true } as const;
    expect(decide({ pending: [pending(one)] }, { ...person, asksAboutPrograms: false })).toEqual(expected);
    expect(decide({ pending: [pending(one)] }, { ...person, skipUnapproved: true })).toEqual(expected);
    expect(decide({ pending: [pending(one)] }, person)).toMatchObject({ load: [], withheld: [], ask: [one.path] });
  });

  it.each(kinds)("a user's %s needs an approval alone", (kind) => {
    const one = item(kind, { owner: "user" });
    expect(decide({ approved: [one] }).load).toEqual([one.path]);
    expect(decide({ pending: [pending(one)] }).refuse).toBeDefined();
  });

  it("MCP servers, profiles and aliases need an approval alone", () => {
    const items = [item("mcp"), item("profile"), item("alias")];
    expect(decide({ approved: items }).load).toHaveLength(3);
    expect(decide({ pending: items.map(pending) }).refuse?.message).toMatch(/MCP server.*profile.*alias file/);
  });
});

describe("the rest", () => {
  it("what a person refused is left out without a question", () => {
    expect(decide({ refused: [pending(item("skill"))] })).toEqual({
      load: [],
      withheld: ["project-skill: refused"],
      ask: [],
      refuse: undefined,
    });
  });

  it("what changed in metadata is loaded", () => {
    expect(decide({ minorChanges: [pending(item("skill"))] }).load).toEqual(["project-skill"]);
  });
});
