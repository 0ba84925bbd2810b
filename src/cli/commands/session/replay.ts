import { runReplay } from "../../../clients/headless/replay/run-replay.js";
import type { SessionRecord } from "../../../sessions/store.js";
import { EXIT } from "../../exit-codes.js";
import { replayTerminal } from "../../replay-terminal.js";
import { processTerminal } from "../../terminal-io.js";
import type { OpenSessions } from "./open-sessions.js";

export async function replay(record: SessionRecord, { store, clock, variables }: OpenSessions): Promise<number> {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  await runReplay({
    events: (range) => store.events(record.id, range),
    lastEvent: record.last_event,
    title: record.title ?? record.id,
    model: `${record.provider}:${record.model}`,
    expiredTo: record.expired_to,
    terminal: replayTerminal(processTerminal(variables)),
    clock,
    signal: stop.signal,
  });
  return EXIT.answered;
}
