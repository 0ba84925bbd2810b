import { runReplay } from "../../../clients/headless/replay/run-replay.js";
import { EXIT } from "../../exit-codes.js";
import { replayTerminal } from "../../replay-terminal.js";
import type { SessionAction } from "./session-action.js";

export const action: SessionAction = {
  flags: [],
  async run(flags, sessions) {
    const record = await sessions.named(flags);
    const stop = new AbortController();
    const onSignal = () => stop.abort();
    for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
    await runReplay({
      events: (range) => sessions.store.events(record.id, range),
      lastEvent: record.last_event,
      title: record.title ?? record.id,
      model: `${record.provider}:${record.model}`,
      expiredTo: record.expired_to,
      terminal: replayTerminal(sessions.terminal),
      clock: sessions.clock,
      signal: stop.signal,
    });
    return EXIT.answered;
  },
};
