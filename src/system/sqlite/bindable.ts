/** Values that may be bound to a statement. The library ends the process on others. */

export type Bindable = string | number | boolean | null | Uint8Array;

export function bindable(value: unknown): string | number | Buffer | null {
  if (value === null) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  // UTF-8 cannot encode a lone surrogate; it becomes U+FFFD here, not in the library.
  if (typeof value === "string") return Buffer.from(value, "utf8").toString("utf8");
  if (Number.isSafeInteger(value)) return value as number;
  // A copy, because the memory may be shared with another thread.
  if (value instanceof Uint8Array) return Buffer.from(value);
  throw new TypeError(`This cannot be stored: ${typeof value === "number" ? value : kindOf(value)}`);
}

function kindOf(value: unknown): string {
  return typeof value === "object" ? Object.prototype.toString.call(value) : typeof value;
}
