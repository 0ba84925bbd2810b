/** Shows what in this folder waits for the user's approval, once for each version. */
import type { WaitingContent } from "../../../protocol/queries.js";
import type { CarrierOptions } from "./carrier.js";

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

const PLURALS: Readonly<Record<string, string>> = { memory: "memories", "file of a skill": "files of skills" };

/** `1 hook and 2 changed skills wait for approval: Alt-A`. */
function waitingWords(items: readonly WaitingContent[], key: string): string {
  const ordered = ORDER.flatMap((effect) => items.filter((item) => item.effect === effect));
  const isSame = (one: WaitingContent) => (other: WaitingContent) =>
    one.label === other.label && one.state === other.state;
  const firsts = ordered.filter((item, index) => ordered.findIndex(isSame(item)) === index);
  const kinds = firsts.map((first) => {
    const count = ordered.filter(isSame(first)).length;
    const { label, state } = first;
    const name = count === 1 ? label : (PLURALS[label] ?? `${label}s`);
    return `${count} ${state === "new" ? "" : `${state} `}${name}`;
  });
  const list = kinds.length < 2 ? kinds.join("") : `${kinds.slice(0, -1).join(", ")} and ${kinds.at(-1)}`;
  return `${list} ${ordered.length === 1 ? "waits" : "wait"} for approval: ${key}`;
}
