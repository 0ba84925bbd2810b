/** The store and what else the session actions share: who is meant, where output goes. */
import { resolve } from "node:path";
import { type Clock, systemClock } from "../../../base/clock.js";
import { UsageError } from "../../../base/usage-error.js";
import type { Variables } from "../../../base/variables.js";
import type { Terminal } from "../../../clients/headless/terminal.js";
import type { ParsedFlags } from "../../../commands/flags.js";
import { findSession } from "../../../runtime/sessions/find-session.js";
import { SessionStores } from "../../../runtime/sessions/session-stores.js";
import { loadSettings, type Settings } from "../../../runtime/settings/settings.js";
import type { SessionRecord, SessionStore } from "../../../sessions/store.js";
import type { Roots } from "../../../system/xdg-paths.js";
import { processTerminal } from "../../terminal-io.js";

export interface OpenSessions {
  readonly store: SessionStore;
  readonly stores: SessionStores;
  readonly settings: Settings;
  readonly roots: Roots;
  readonly variables: Variables;
  /** The folder that is meant. */
  readonly folder: string;
  readonly terminal: Terminal;
  readonly clock: Clock;
  /** The session that the first word names; says what to do when there is none. */
  named(flags: ParsedFlags): Promise<SessionRecord>;
  /** To standard output, at the reader's pace. */
  write(text: string): Promise<void>;
  /** One JSON value, or the text for people. */
  print(flags: ParsedFlags, value: unknown, text: () => string): void;
  close(): Promise<void>;
}

export async function openSessions(flags: ParsedFlags, variables: Variables): Promise<OpenSessions> {
  const { settings, roots, warnings } = await loadSettings(flags, variables);
  for (const warning of warnings) process.stderr.write(`oxbow: ${warning}\n`);
  const folder = resolve(flags.text("cwd") ?? process.cwd());
  const terminal = processTerminal(variables);
  const notify = (message: string) => terminal.err.write(`oxbow: ${message}\n`);
  const stores = new SessionStores({
    settings,
    roots,
    variables,
    root: folder,
    notify,
    hint: notify,
    isForReading: true,
  });
  // A reader that went away is told by the write that failed; nobody else needs to hear of it.
  process.stdout.on("error", () => {});
  const store = await stores.open();
  if (store === undefined) throw new UsageError("Sessions are not stored here ('none'). Choose one with --store.");
  return {
    store,
    stores,
    settings,
    roots,
    variables,
    folder,
    terminal,
    clock: systemClock,
    named: async ({ words }) => {
      const [typed] = words;
      if (typed === undefined)
        throw new UsageError("Which session? Give its id, or a piece of it ('oxbow session list').");
      return findSession(store, typed);
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
      }),
    print: (given, value, text) =>
      terminal.out.write(given.has("json") ? `${JSON.stringify(value, null, 2)}\n` : `${text()}\n`),
    close: () => stores.close(),
  };
}
