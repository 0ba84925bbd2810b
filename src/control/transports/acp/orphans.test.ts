import { expect, it } from "vitest";
import { failure } from "../../../protocol/errors.js";
import { askAboutOrphans } from "./orphans.js";

const cause = failure("OrphanedCalls", { calls: "bash ran" });
const session = "sess_01M7H9XP4SNWKHEAENY968ND4S";
const selected = (optionId: string) => async () => ({ outcome: { outcome: "selected" as const, optionId } });

it("takes the verdict of the user about an interrupted call", async () => {
  expect(await askAboutOrphans(cause, session, selected("failed"))).toEqual({ verdict: "failed" });
  expect(await askAboutOrphans(cause, session, selected("succeeded"))).toEqual({ verdict: "succeeded" });
});

it.each([
  ["an answer that was not offered", selected("nonsense")],
  ["no answer", async () => ({ outcome: { outcome: "cancelled" as const } })],
  ["an editor that cannot ask", () => Promise.reject(new Error("no such method"))],
])("opens nothing after %s", async (_case, ask) => {
  await expect(askAboutOrphans(cause, session, ask)).rejects.toMatchObject({ data: { reason: "OrphanedCalls" } });
});
