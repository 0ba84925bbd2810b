/** Describes what Tab completes in the line client: commands, their arguments and files, as in the terminal client. */
import type { CompletionSource } from "../../clients/sdk/completion/completion.js";
import type { EngineClient } from "../../protocol/client.js";
import type { SessionId } from "../../protocol/ids.js";
import { nodeClock } from "../../system/node-clock.js";
import type { LineCompletion } from "../line-completer.js";

/** Loads the sources at the first Tab. */
export function lineCompletion(client: EngineClient, session: () => SessionId): LineCompletion {
  let source: Promise<CompletionSource> | undefined;
  return async (line) => {
    source ??= import("../../clients/sdk/completion/engine-completion.js").then(
      ({ EngineCompletion }) => new EngineCompletion({ client, session, clock: nodeClock }).source,
    );
    return completionsOf(await source, line);
  };
}

/** The line editor inserts what follows the typed text, so only texts that begin with it count. */
export async function completionsOf(source: CompletionSource, line: string): ReturnType<LineCompletion> {
  const found = await source.suggest({ line, column: line.length, isFirstLine: true });
  const typed = line.slice(found?.start ?? 0);
  return [(found?.items ?? []).map(({ value }) => value).filter((value) => value.startsWith(typed)), typed];
}
