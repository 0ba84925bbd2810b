import { describe, expect, it } from "vitest";
import type { Envelope } from "../protocol/envelope.js";
import { EVENT_FIELDS, EVENT_KINDS, type EventField } from "../protocol/event-fields.js";
import type { EventKind } from "../protocol/events.js";
import { EventRedaction, NOT_RECORDED } from "./redacted-events.js";

const SECRET = "zebra-crossing";
const hide = (text: string) => text.replaceAll(SECRET, "[hidden]");
const redacted = (kind: EventKind, payload: object, redact = hide): string => {
  const push = (text: string) => [{ text: redact(text), length: text.length, isMarker: true }];
  const redaction = new EventRedaction({ redact, stream: () => ({ push, end: () => [] }) });
  const event = { id: 1, kind, session: "sess_1", originator: "cli_1", ts: "2026-01-31T12:00:00.000Z", payload };
  return JSON.stringify(
    [...redaction.take(event as unknown as Envelope), ...redaction.end()].map((each) => each.payload),
  );
};

describe("an event before it is stored", () => {
  it.each(EVENT_KINDS)("hides secrets in every field of %s that can hold text", (kind) => {
    const fields: readonly (readonly [string, EventField])[] = Object.entries(EVENT_FIELDS[kind]);
    for (const [name, { holds }] of fields) {
      if (holds === "name" || holds === "opaque") continue;
      const value = holds === "failure" ? { message: SECRET } : holds === "words" ? SECRET : [{ text: SECRET }];
      expect(redacted(kind, { ...(kind.endsWith("Delta") && { text: "" }), [name]: value }), name).not.toContain(
        SECRET,
      );
    }
    if (kind.endsWith("Delta")) return;
    expect(redacted(kind, { field_of_another_program: { deep: SECRET } })).not.toContain(SECRET);
  });

  it("hides a secret in arguments that look like an image, a call or a block of a provider, and in the name of one", () => {
    for (const type of ["image", "opaque", "tool_use"]) {
      const args = { type, data: SECRET, call: SECRET, [SECRET]: 1 };
      expect(redacted("ToolCallStarted", { call: "call_1", tool: "t", args })).not.toContain(SECRET);
      expect(redacted("ToolResult", { content: [], details: { rows: [args] } })).not.toContain(SECRET);
    }
  });

  it("keeps the bytes of an image and the data of a provider, and hides what stands beside them", () => {
    const image = { type: "image", media_type: "image/png", data: SECRET };
    expect(redacted("ToolResult", { content: [image] })).toContain(SECRET);
    expect(redacted("ToolResult", { content: [{ ...image, data: "", title: SECRET }] })).not.toContain(SECRET);
    const blocks = [{ type: "tool_use", call: "call_1", malformed: SECRET }];
    expect(redacted("AnswerEnded", { blocks })).not.toContain(SECRET);
    expect(redacted("AnswerEnded", { blocks: [{ type: "opaque", provider: "p", data: SECRET }] })).toContain(SECRET);
  });

  it("hides a secret in the rule that decided", () => {
    expect(redacted("PermissionResolved", { decided_by: `rule bash(curl ${SECRET})` })).not.toContain(SECRET);
  });

  it("loses its words and labels when it cannot be redacted", () => {
    const broken = () => {
      throw new Error("broken");
    };
    const left = redacted("PermissionResolved", { call: "call_1", decided_by: SECRET, message: SECRET }, broken);
    expect(JSON.parse(left)).toEqual([{ call: "call_1", decided_by: NOT_RECORDED, message: NOT_RECORDED }]);
    expect(redacted("SkillRegistryChanged", { added: [SECRET] }, broken)).toBe('[{"added":[]}]');
    expect(redacted("PermissionRequested", { reason: SECRET, preview: SECRET }, broken)).not.toContain(SECRET);
  });
});
