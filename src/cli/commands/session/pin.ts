import type { ParsedFlags } from "../../../commands/flags.js";
import { EXIT } from "../../exit-codes.js";
import type { OpenSessions } from "./open-sessions.js";
import type { SessionAction } from "./session-action.js";

export const action: SessionAction = {
  flags: [],
  run: (flags, sessions) => setPinned(flags, sessions, { pinned: true }),
};

export async function setPinned(
  flags: ParsedFlags,
  sessions: OpenSessions,
  { pinned }: { readonly pinned: boolean },
): Promise<number> {
  const { id } = await sessions.named(flags);
  await sessions.store.update(id, { pinned });
  const says = pinned ? "is pinned: its content stays" : "is no longer pinned: its content expires with time";
  sessions.print(flags, { id, pinned }, () => `${id} ${says}.`);
  return EXIT.answered;
}
