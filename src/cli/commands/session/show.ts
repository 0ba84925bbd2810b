import { UsageError } from "../../../base/usage-error.js";
import { parseTurnRange, showTranscript } from "../../../clients/headless/replay/transcript.js";
import { type TurnSummary, turnsOf } from "../../../sessions/branch.js";
import { EXIT } from "../../exit-codes.js";
import type { SessionAction } from "./session-action.js";

export const action: SessionAction = {
  flags: [
    { name: "turn", short: "t", value: "N", help: "only these: 3, 3-5, 3- or -5" },
    { name: "details", short: "d", help: "with thinking, arguments, whole results and times" },
  ],
  async run(flags, sessions) {
    const record = await sessions.named(flags);
    const asked = flags.text("turn");
    const turns = asked === undefined ? undefined : parseTurnRange(asked);
    if (asked !== undefined && turns === undefined)
      throw new UsageError(`--turn: expected 3, 3-5, 3- or -5, got "${asked}".`);
    const events = sessions.store.events(record.id);
    if (flags.has("json")) {
      const summaries: TurnSummary[] = [];
      for await (const turn of turnsOf(events)) {
        if (turns === undefined || (turn.number >= turns.from && turn.number <= turns.to)) summaries.push(turn);
      }
      sessions.print(flags, { ...record, turns: summaries }, () => "");
      return EXIT.answered;
    }
    const { out, color } = sessions.terminal;
    const look = {
      color: color && out.isTerminal,
      width: out.isTerminal ? process.stdout.columns : undefined,
      details: flags.has("details"),
      turns,
      expiredTo: record.expired_to,
    };
    for await (const piece of showTranscript(events, look)) await sessions.write(piece);
    return EXIT.answered;
  },
};
