import { describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import type { ModelRequest } from "../engine/ports.js";
import { type ImageBlock, type Message, text } from "../protocol/content.js";
import { applyRules, imageRules } from "./images.js";

const png: ImageBlock = { type: "image", media_type: "image/png", data: "iVBORw0KGgo=" };
const gif: ImageBlock = { type: "image", media_type: "image/gif", data: "R0lGODlh" };
const large: ImageBlock = { ...png, data: "A".repeat(6 * 1024 * 1024) };

function asked(...messages: readonly Message[]): ModelRequest {
  return { model: "m", system: "", messages, tools: [] };
}
const given = (...images: readonly ImageBlock[]): Message => ({ role: "user", content: [...images, text("Look")] });
const answer: Message = { role: "assistant", content: [text("A cat.")] };

function refusal(request: ModelRequest, family: string, model = "m"): string | undefined {
  const accepted = applyRules(request, imageRules(family, model));
  return "failure" in accepted ? accepted.failure.message : undefined;
}

describe("an image", () => {
  verifies(["M1"], "that was just given and cannot be taken is a failure that says what to do", () => {
    expect(refusal(asked(given(png)), "anthropic")).toBeUndefined();
    expect(refusal(asked(given(png, large)), "anthropic")).toBe(
      "m cannot read the image: the image has 4.5 MB, and the limit is 3.8 MB. Make a smaller copy.",
    );
    expect(refusal(asked(given(large)), "openai")).toBeUndefined();
    expect(refusal(asked(given(gif)), "gemini")).toMatch(/does not take image\/gif.*convert/);
    expect(refusal(asked(given(gif)), "openai-compatible")).toBeUndefined();
    expect(refusal(asked(given(png)), "openai", "o3-mini")).toMatch(/reads only text.*--model/);
  });

  it.each([
    ["gpt-4", false],
    ["gpt-4-0613", false],
    ["gpt-3.5-turbo", false],
    ["openai/gpt-oss-120b", false],
    ["deepseek-chat", false],
    ["gpt-4o", true],
    ["gpt-4-turbo", true],
    ["gpt-4.1-mini", true],
    ["gpt-5.6", true],
    ["o3", true],
    ["claude-3-haiku-20240307", true],
    ["something-new", true],
  ])("can be seen by %s: %s", (model, sees) => {
    expect(imageRules("openai", model).sees).toBe(sees);
  });

  verifies(["M1", "M7"], "from a tool or from before is replaced by a sentence, always the same", () => {
    const result = {
      type: "tool_result",
      call: "call_1",
      tool: "read",
      content: [text("a.png"), png],
      is_error: false,
    } as const;
    const request = asked(given(png), answer, { role: "user", content: [result] });
    const seen = applyRules(request, { sees: false });
    const sentence = text("(An image was here. You cannot see it: this model reads only text.)");
    expect(seen).toEqual({
      request: asked({ role: "user", content: [sentence, text("Look")] }, answer, {
        role: "user",
        content: [{ ...result, content: [text("a.png"), sentence] }],
      }),
    });
    expect(applyRules(request, { sees: true })).toEqual({ request });
  });
});
