import type { SessionId } from "../../../protocol/ids.js";
import type { Verification } from "../../../sessions/store.js";
import { EXIT } from "../../exit-codes.js";
import type { SessionAction } from "./session-action.js";

export const action: SessionAction = {
  flags: [{ name: "all", short: "a", help: "every session" }],
  async run(flags, sessions) {
    const records = flags.has("all") ? await sessions.store.list() : [await sessions.named(flags)];
    const results: (Verification & { readonly id: SessionId })[] = [];
    for (const { id } of records) results.push({ id, ...(await sessions.store.verify(id)) });
    sessions.print(flags, flags.has("all") ? results : results[0], () => results.map(line).join("\n"));
    return results.every(({ ok }) => ok) ? EXIT.answered : EXIT.failed;
  },
};

function line(result: Verification & { readonly id: string }): string {
  return result.ok
    ? `${result.id}: ${result.events} events, all as they were written.`
    : `${result.id}: ${result.message}`;
}
