import { runReplay } from "../../../clients/tui/replay/run-replay.js";
import { openTerminal } from "../../../clients/tui/terminal/open-terminal.js";
import { processIo } from "../../../clients/tui/terminal/process-io.js";
import type { SessionRecord } from "../../../sessions/store.js";
import { EXIT } from "../../exit-codes.js";
import { processTerminal } from "../../terminal-io.js";
import type { OpenSessions } from "./open-sessions.js";

export async function replay(record: SessionRecord, { store, clock, variables }: OpenSessions): Promise<number> {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  const onTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  await runReplay({
    events: (range) => store.events(record.id, range),
    lastEvent: record.last_event,
    title: record.title ?? record.id,
    model: `${record.provider}:${record.model}`,
    expiredTo: record.expired_to,
    output: {
      color: processTerminal(variables).color,
      terminal: onTerminal ? openTerminal(processIo({ process, variables })) : undefined,
      write: (text) => new Promise((resolve) => process.stdout.write(text, () => resolve())),
    },
    clock,
    signal: stop.signal,
  });
  return EXIT.answered;
}
