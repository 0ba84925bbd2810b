import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { isJsonObject } from "../../protocol/json.js";
import type { CreateToolLink } from "../services.js";

/** Restores text that the model copied from a marked result, so that edits find and write the original. */
export const create: CreateToolLink =
  ({ outside }) =>
  async (call, _context, next) => {
    if (outside?.wraps !== true || !holdsChanged(call.args)) return next(call);
    const { mendCopied } = await import("../../security/untrusted/untrusted.js");
    return next({ ...call, args: mended(call.args, mendCopied) as JsonObject });
  };

function holdsChanged(value: JsonValue | undefined): boolean {
  if (typeof value === "string") return value.includes("‹") || value.includes("⟦");
  if (Array.isArray(value)) return value.some(holdsChanged);
  return isJsonObject(value) && Object.values(value).some(holdsChanged);
}

function mended(value: JsonValue, mend: (text: string) => string): JsonValue {
  if (typeof value === "string") return mend(value);
  if (Array.isArray(value)) return value.map((inner) => mended(inner, mend));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, inner === undefined ? inner : mended(inner, mend)]),
  );
}
