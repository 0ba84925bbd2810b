/** Shows what in this folder waits for the user's approval, once for each version. */
import type { WaitingContent } from "../../../protocol/queries.js";
import type { CarrierOptions } from "./carrier.js";

const MOST_NAMED = 4;
const ORDER: readonly WaitingContent["effect"][] = ["runs", "configures", "informs"];

export class WaitingNotices {
  readonly #reported = new Set<string>();

  async show({ client, state, keys, print, update }: CarrierOptions): Promise<void> {
    const { session } = state();
    const reply = await client.query("ListWaitingContent", {}, session);
    // Nothing is printed during a turn; the end of the turn checks again.
    if (!reply.ok || state().turn !== undefined || state().session !== session) return;
    const fresh = reply.answer.items.filter(({ id, sha256 }) => !this.#reported.has(`${id} ${sha256}`));
    if (fresh.length === 0) return;
    for (const { id, sha256 } of fresh) this.#reported.add(`${id} ${sha256}`);
    print({ kind: "notice", level: "warning", text: waitingWords(fresh, keys.nameOf("approvals") ?? "/approve") });
    update((now) => now);
  }
}

export function waitingWords(items: readonly WaitingContent[], key: string): string {
  const ordered = ORDER.flatMap((effect) => items.filter((item) => item.effect === effect));
  const names = ordered.slice(0, MOST_NAMED).map(({ name, label, state }) => `${name} (${state} ${label})`);
  const more = ordered.length - names.length;
  const list = more > 0 ? `${names.join(", ")} and ${more} more` : names.join(", ");
  const one = ordered.length === 1;
  return `${list} ${one ? "waits" : "wait"} for your approval: ${key} shows ${one ? "it" : "them"}.`;
}
