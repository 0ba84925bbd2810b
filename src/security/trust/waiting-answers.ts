/** Answers clients about content that waits for approval. */
import { basename, dirname, parse } from "node:path";
import type { CommandPayloads } from "../../protocol/commands.js";
import { type Failure, failure } from "../../protocol/errors.js";
import type { JsonObject } from "../../protocol/json.js";
import type { Queries, WaitingContent } from "../../protocol/queries.js";
import type { PendingItem } from "./review.js";
import type { DecidedContent } from "./waiting-content.js";

interface Place {
  readonly content?:
    | {
        waiting(): Promise<readonly PendingItem[]>;
        decide(decisions: CommandPayloads["ApproveContent"]): Promise<DecidedContent>;
      }
    | undefined;
}

/** Undefined if content is not loaded at all. */
export async function listWaiting(
  { content }: Place,
  request: Queries["ListWaitingContent"]["request"],
): Promise<readonly WaitingContent[] | undefined> {
  const pending = await content?.waiting();
  if (pending === undefined || pending.length === 0) return pending && [];
  const { describeWaiting } = await import("./waiting-content.js");
  return pending.map((each) => describeWaiting(each, request));
}

export async function approve(
  { content }: Place,
  decisions: CommandPayloads["ApproveContent"],
): Promise<JsonObject | undefined> {
  const decided = await content?.decide(decisions);
  if (decided === undefined) return undefined;
  const { describeWaiting } = await import("./waiting-content.js");
  const names = (items: typeof decided.approved) => items.map((each) => describeWaiting(each).name);
  return { approved: names(decided.approved), refused: names(decided.refused), void: [...decided.void] };
}

/** The kinds of content that make slash commands. */
const COMMAND_KINDS: ReadonlySet<string> = new Set(["skill", "prompt", "command", "agent"]);

/** Says why there is no such command: its file changed since the user approved it. Undefined if there is another reason. */
export async function changedCommand({ content }: Place, words: readonly string[]): Promise<Failure | undefined> {
  const names = words.flatMap((word) => word.split(":"));
  for (const { item, state } of (await content?.waiting()) ?? []) {
    if (state !== "changed" || !COMMAND_KINDS.has(item.kind)) continue;
    const isSkill = basename(item.path) === "SKILL.md";
    const name = isSkill ? basename(dirname(item.path)) : parse(item.path).name;
    if (names.includes(name)) return failure("HookHashChanged", { path: item.path });
  }
  return undefined;
}
