/** The stored sessions for `oxbow session` and others that read them. */

import { resolve } from "node:path";
import { systemClock } from "../../../base/clock.js";
import type { Variables } from "../../../base/variables.js";
import type { ParsedFlags } from "../../../feature/flags.js";
import { type OpenPort, openPort } from "../../../runtime/commands/sessions/port.js";
import { SessionStores } from "../../../runtime/sessions/session-stores.js";
import { loadSettings } from "../../../runtime/settings/settings.js";
import { printMessage } from "../../print-message.js";

export interface OpenSessions extends OpenPort {
  close(): Promise<void>;
}

export async function openSessions(flags: ParsedFlags, variables: Variables): Promise<OpenSessions> {
  const { settings, roots, warnings } = await loadSettings(flags, variables);
  const notify = (message: string) => printMessage(message);
  for (const warning of warnings) notify(warning);
  const base = process.cwd();
  const folder = resolve(flags.text("cwd") ?? base);
  const options = { settings, roots, variables, root: folder, notify, hint: notify, isForReading: true };
  const stores = new SessionStores(options);
  const port = await openPort({ stores, settings, roots, variables, clock: systemClock, folder, base, transcript });
  return { ...port, close: () => stores.close() };
}

async function* transcript(...[events, look]: Parameters<NonNullable<OpenPort["transcript"]>>) {
  const { showTranscript } = await import("../../../clients/tui/replay/transcript.js");
  yield* showTranscript(events, look);
}
