import { userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { roots } from "./xdg-paths.js";

const before = process.env.HOME;
afterEach(() => {
  process.env.HOME = before;
});

it("never takes the current folder for the user's: an empty HOME and relative folders do not count", () => {
  for (const value of ["", ".", "home"]) {
    process.env.HOME = value;
    expect(roots({ XDG_CONFIG_HOME: value, XDG_DATA_HOME: "data" })).toMatchObject({
      config: join(userInfo().homedir, ".config/oxbow"),
      data: join(userInfo().homedir, ".local/share/oxbow"),
    });
  }
  expect(roots({ XDG_CONFIG_HOME: "/conf" }).config).toBe("/conf/oxbow");
});
