import { parseTurnRange, type TurnRange } from "../../../base/turn-range.js";
import { UsageError } from "../../../base/usage-error.js";
import { asValue } from "../../../feature/command.js";
import { type TurnSummary, turnsOf } from "../../../sessions/branch.js";
import { named, type SessionAction } from "./port.js";
import { turnLine } from "./turn-line.js";

export const show: SessionAction = async (args, port, { wants, screen, write }) => {
  const record = await named(args.text("ID"), port);
  const turns = rangeOf(args.flag("turn"));
  const events = port.store.events(record.id);
  if (wants === "text" && port.transcript !== undefined) {
    const details = args.hasFlag("details");
    const look = { color: screen?.color ?? false, width: screen?.width, details, turns, expiredTo: record.expired_to };
    for await (const piece of port.transcript(events, look)) await write(piece);
    return { text: "", value: null };
  }
  const summaries: TurnSummary[] = [];
  for await (const turn of turnsOf(events)) {
    if (turns === undefined || (turn.number >= turns.from && turn.number <= turns.to)) summaries.push(turn);
  }
  const text = summaries.length === 0 ? "There are no turns to show." : summaries.map(turnLine).join("\n");
  return { text, value: asValue({ ...record, turns: summaries }) };
};

function rangeOf(text: string | undefined): TurnRange | undefined {
  const range = text === undefined ? undefined : parseTurnRange(text);
  if (text !== undefined && range === undefined) {
    throw new UsageError(`--turn: expected 3, 3-5, 3- or -5, got "${text}".`);
  }
  return range;
}
