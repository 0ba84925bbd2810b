/** Asks the user about files that were added or changed during a session. */
import type { IdSource } from "../../base/ulid.js";
import type { PermissionPrompts } from "../../control/permission-prompts.js";
import type { Turn } from "../../engine/turn.js";
import type { WaitingFile } from "../../security/trust/extension-files.js";
import type { PlaceExtensions } from "../content/place-extensions.js";

export interface AskOptions {
  readonly extensions: PlaceExtensions;
  readonly person: PermissionPrompts;
  readonly turn: Turn;
  readonly ids: IdSource;
  readonly report: (note: string) => void;
}

/** True if something was approved. */
export async function askAbout(waiting: readonly WaitingFile[], options: AskOptions): Promise<boolean> {
  const { extensions, person, turn, ids, report } = options;
  let approved = false;
  for (const file of waiting) {
    if (turn.signal.aborted) break;
    if (file.text === undefined) {
      report(`The ${file.title} is new, and Oxbow cannot show it here. 'oxbow ack' asks about it.`);
      continue;
    }
    const question = {
      call: ids.next("call"),
      tool: "approve",
      args: {},
      summary: `approve the ${file.title}`,
      reason: "It is new in this session. Oxbow uses this version once you approve it, and asks again when it changes.",
      preview: file.text,
      once_only: true as const,
    };
    const answer = await person.ask(question, turn.signal);
    if (answer.unanswered !== undefined || turn.signal.aborted) continue;
    if (answer.decision === "deny") await extensions.refuse(file);
    else {
      await extensions.approve(file);
      approved = true;
    }
  }
  return approved;
}
