/** Makes the session rules of an answer permanent. */
import type { EngineClient } from "../../protocol/client.js";
import type { SessionId } from "../../protocol/ids.js";

export interface PermanentAnswer {
  /** Sends the answer, which makes rules of the session. */
  readonly answer: () => Promise<unknown>;
  /** Writes one of the session's rules to the profile. */
  readonly promote: (rule: number) => Promise<unknown>;
}

export async function promoteNewRules(
  client: EngineClient,
  session: SessionId | undefined,
  { answer, promote }: PermanentAnswer,
): Promise<void> {
  const before = await client.query("GetPermissions", {}, session);
  await answer();
  const after = await client.query("GetPermissions", {}, session);
  if (!before.ok || !after.ok) return;
  const known = new Set(before.answer.session_rules.map(({ number }) => number));
  for (const { number } of after.answer.session_rules) if (!known.has(number)) await promote(number);
}
