import { it } from "vitest";

/** A test that shows a requirement holds; the ids stand in its name, where the coverage test finds them. */
export function verifies(ids: readonly string[], name: string, action: () => Promise<void> | void): void {
  it(`[${ids.join(" ")}] ${name}`, action);
}
