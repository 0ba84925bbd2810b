/** Shows where the modes that ask less contain commands. */
import { expect, it } from "vitest";
import { noSandbox } from "../../security/sandbox/state.js";
import { whyNotContained } from "./open-sandbox.js";

it("[P18] the weaker sandbox of macOS contains commands only for a person who accepted that", async () => {
  const place = { variables: { HOME: "/tmp" }, root: "/var/tmp" };
  const why = (kind: "sandbox-exec" | "container", access: "held" | "direct") =>
    whyNotContained({ ...noSandbox(""), kind }, place, access);
  expect(await why("sandbox-exec", "held")).toContain("does not hide the home folder");
  expect(await why("sandbox-exec", "direct")).toBeUndefined();
  expect(await why("container", "direct")).toContain("does not hold back what commands write");
});
