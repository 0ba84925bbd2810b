import { expect, it } from "vitest";
import { HOSTILE_UNITS } from "../../../test/support/hostile-units.js";
import { turnsDuring } from "../../../test/support/turns-during.js";
import { noteSecret } from "../../system/own-secrets.js";
import { redact } from "./redact.js";
import { redactAhead, redactPrepared } from "./redact-ahead.js";

const LENGTH = 128 * 1024;

it("gives the same as redacting at once, with turns for others in between", async () => {
  for (const unit of HOSTILE_UNITS) {
    const text = unit.repeat(LENGTH / unit.length);
    const turns = await turnsDuring(() => redactAhead(text));
    expect(turns, JSON.stringify(unit.slice(0, 20))).toBeGreaterThanOrEqual(Math.floor(text.length / 16_384));
    expect(redactPrepared(text) === redact(text), JSON.stringify(unit.slice(0, 20))).toBe(true);
  }
});

it("is the work of no second time, however often it is asked", async () => {
  const text = "A line of prose.\n".repeat(8000);
  await redactAhead(text);
  expect(await turnsDuring(() => redactAhead(text))).toBeLessThanOrEqual(1);
});

it("hides a key that the process learned meanwhile", async () => {
  const key = `learned-${"k7Qz".repeat(6)}`;
  const text = `${"A line of prose.\n".repeat(2000)}The word is ${key} today.`;
  await redactAhead(text);
  expect(redactPrepared(text)).toContain(key);
  noteSecret(key);
  expect(redactPrepared(text)).not.toContain(key);
});
