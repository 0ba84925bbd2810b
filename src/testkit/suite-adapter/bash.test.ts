import { expect, it } from "vitest";
import { handleDecideShell } from "./bash.js";

it("decides as Oxbow comes without rules, and by the rules alone with them", () => {
  const decide = (command: string, allow: string[] = [], deny: string[] = []) =>
    handleDecideShell({ n: 1, op: "decide_shell", command, allow, deny }).decision;
  expect(decide("ls -la | wc -l")).toBe("allow");
  expect(decide("make")).toBe("ask");
  expect(decide("secret-tool lookup a b")).toBe("deny");
  expect(decide("ls", ["make"])).toBe("ask");
  expect(decide("make all", ["make"])).toBe("allow");
  expect(decide("makeinfo", ["make"])).toBe("ask");
  expect(decide("nohup make", ["nohup"], ["make"])).toBe("deny");
  expect(handleDecideShell({ n: 1, op: "decide_shell" }).decision).toBe("ask");
});
