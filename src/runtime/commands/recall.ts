/** `/recall`: finds what was said or done before, also what the model no longer sees. */
import type { Clock } from "../../base/clock.js";
import { UsageError } from "../../base/usage-error.js";
import { asValue, COMMAND_EXIT, type Command } from "../../feature/command.js";
import type { LiveRecall } from "../parts/live-recall.js";
import { renderHit, toSearchHit } from "./sessions/render-hit.js";
import { RECALL } from "./sessions/specs.js";

const MOST = 8;

export function recallCommands(
  open: () => Promise<LiveRecall>,
  { clock }: { readonly clock: Clock },
): readonly Command[] {
  return [
    {
      ...RECALL,
      run: async (args, context) => {
        const limit = Number(args.flag("limit") ?? MOST);
        if (!Number.isInteger(limit) || limit < 1) throw new UsageError("--limit: expected a whole number from 1.");
        const reach = args.hasFlag("all") ? "folder" : "session";
        const found = await (await open()).find({
          query: args.text("WORDS") ?? "",
          reach,
          what: "all",
          limit,
          signal: context.signal,
          onProgress: ({ sessions, of }) => context.progress(`${sessions} of ${of} sessions`),
          onUnreadable: (session, message) => context.warn(`${session} was skipped: ${message}`),
        });
        if ("notStored" in found)
          return { text: "This session is not stored.", value: [], exitCode: COMMAND_EXIT.failed };
        const hits = found.hits.map(toSearchHit);
        const [best] = hits;
        if (best === undefined) return { text: "Nothing was found.", value: [], exitCode: COMMAND_EXIT.failed };
        const look = { color: context.screen?.color ?? false };
        const places = hits.map((hit) => renderHit(hit, look, clock.wall())).join("");
        const toOpen = `To read a place: /session show ${best.session} --turn ${best.turn}`;
        return { text: `${places}${toOpen}`, value: asValue(hits) };
      },
    },
  ];
}
