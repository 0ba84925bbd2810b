/** Questions to the engine about one session, for the pages that show its answers. */
import { useEffect, useState } from "preact/hooks";
import type { JsonValue } from "../../../protocol/json.js";
import type { Queries, QueryKind } from "../../../protocol/queries.js";
import { readSlashAnswer, slashRequest } from "../../../protocol/slash-command.js";
import { ask, type SessionView, showToast, tellSession } from "../store.js";

/** Asks once, and again when `again` is called. Undefined while there is no answer. */
export function useQuery<K extends QueryKind>(
  view: SessionView,
  kind: K,
  request: Queries[K]["request"],
): readonly [Queries[K]["answer"] | undefined, () => void] {
  const [answer, setAnswer] = useState<Queries[K]["answer"]>();
  const [round, setRound] = useState(0);
  const key = JSON.stringify(request);
  useEffect(() => {
    let isOver = false;
    void ask(kind, request, { session: view.session }).then((found) => {
      if (!isOver && found !== undefined) setAnswer(found);
    });
    return () => {
      isOver = true;
    };
  }, [view, kind, key, round]);
  return [answer, () => setRound((count) => count + 1)];
}

/** Runs a slash command and returns what it says as data; a toast has its text if `tells`. */
export async function runSlash(
  view: SessionView,
  name: string,
  args: string,
  { tells = false }: { readonly tells?: boolean } = {},
): Promise<{ readonly text: string; readonly value: JsonValue } | undefined> {
  const told = await tellSession(view, "CustomCommand", slashRequest(name, args));
  if (told === undefined) return undefined;
  const answer = readSlashAnswer(told.value);
  if (tells && answer.text !== "") showToast(answer.text);
  return answer;
}
