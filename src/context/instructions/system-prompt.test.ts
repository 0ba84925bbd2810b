import { expect, it } from "vitest";
import { systemPrompt } from "./system-prompt.js";

it("does not send the model round a denial", () => {
  const prompt = systemPrompt({ workspace: "/w", platform: "linux", date: "2026-01-01" });
  expect(prompt).toContain("Do not reach by another way what was denied");
  expect(prompt).not.toContain("go on another way");
});
