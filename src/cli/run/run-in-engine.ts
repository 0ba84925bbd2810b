/** Chooses where a conversation runs: in the engine of this home, or in this process. */
import { UsageError } from "../../base/usage-error.js";
import type { ParsedFlags } from "../../feature/flags.js";
import { isAgent, isInsideEngine } from "../../system/model-ancestors.js";
import type { EngineWork } from "../attach/through-engine.js";

/** The exit code of a run through the engine; undefined if this process is to be the engine. */
export async function runInEngine(
  flags: ParsedFlags,
  work: EngineWork & { readonly isConversation: boolean },
): Promise<number | undefined> {
  const { variables, isConversation, prompt } = work;
  if (flags.has("listen") && flags.has("no-listen")) throw new UsageError("Use --listen or --no-listen, not both.");
  if (flags.has("listen") && !isConversation)
    throw new UsageError("--listen needs a conversation on a terminal. 'oxbow serve --listen' runs a service.");
  if (flags.has("attach") && flags.has("no-attach")) throw new UsageError("Use --attach or --no-attach, not both.");
  if (prompt !== undefined && flags.has("attach")) {
    const { promptInEngine } = await import("../attach/through-engine.js");
    return promptInEngine(flags, { ...work, prompt });
  }
  const isOwn = flags.has("no-attach") || flags.has("listen") || isAgent(variables) || isInsideEngine(variables);
  if (!isConversation || (isOwn && !flags.has("attach"))) return undefined;
  const { conversationInEngine } = await import("../attach/through-engine.js");
  return conversationInEngine(flags, work);
}
