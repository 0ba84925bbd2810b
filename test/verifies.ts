import { it, type TestContext } from "vitest";
import type { RequirementId } from "./requirements.js";

/** A test that shows a requirement holds; its name contains the ids, where the coverage test finds them. */
export function verifies(
  ids: readonly RequirementId[],
  name: string,
  action: (context: TestContext) => Promise<void> | void,
  timeoutMs?: number,
): void {
  it(`[${ids.join(" ")}] ${name}`, action, timeoutMs);
}
