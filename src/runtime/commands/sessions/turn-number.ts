/** `--turn N`. */

import { UsageError } from "../../../base/usage-error.js";
import { type TurnSummary, turnsOf } from "../../../sessions/branch.js";
import type { SessionRecord } from "../../../sessions/store.js";
import type { OpenPort } from "./port.js";

export function turnNumber(flag: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new UsageError(`--${flag}: expected the number of a turn, got "${text}".`);
  return number;
}

/** The numbered turn, or the last one; the error lists the turns. */
export async function findTurn(
  { store }: Pick<OpenPort, "store">,
  { id }: SessionRecord,
  number: number | undefined,
): Promise<TurnSummary> {
  let last: TurnSummary | undefined;
  for await (const turn of turnsOf(store.events(id))) {
    if (turn.number === number) return turn;
    last = turn;
  }
  if (last === undefined) throw new UsageError(`${id} has no turns.`);
  if (number !== undefined) throw new UsageError(`${id} has no turn ${number}; the last one is ${last.number}.`);
  return last;
}
