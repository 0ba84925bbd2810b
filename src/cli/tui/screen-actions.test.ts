import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { SESSION_SPECS } from "../../runtime/commands/catalogue.js";
import { clientAction } from "../client-actions.js";
import { screenAction } from "./screen-actions.js";

describe("the terminal client", () => {
  verifies(["U6"], "has an action for every command that only a client can do, by all its names", () => {
    for (const { name, aliases = [], places } of SESSION_SPECS) {
      const actions = new Set([name, ...aliases].map(screenAction));
      if (places.includes("in a client")) expect([...actions], name).toEqual([expect.any(String)]);
      else if (name !== "session:list") expect(actions.size, name).toBe(1);
    }
  });

  verifies(["U6"], "opens the list of sessions for the short names, and prints it for the long ones", () => {
    expect(["session", "sessions", "resume"].map(screenAction)).toEqual(["sessions", "sessions", "sessions"]);
    expect(["session:list", "sessions:list"].map(screenAction)).toEqual([undefined, undefined]);
  });

  verifies(["U6"], "does what the line client does, too", () => {
    for (const { name, aliases = [] } of SESSION_SPECS) {
      for (const each of [name, ...aliases]) {
        if (clientAction(each) !== undefined) expect(screenAction(each)).toBe(clientAction(each));
      }
    }
  });
});
