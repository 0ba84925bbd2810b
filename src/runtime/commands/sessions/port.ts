/** Describes what the commands about stored sessions need, in a conversation and as `oxbow session`. */
import type { Clock } from "../../../base/clock.js";
import type { TurnRange } from "../../../base/turn-range.js";
import { UsageError } from "../../../base/usage-error.js";
import type { Variables } from "../../../base/variables.js";
import type { CommandArguments, CommandContext, CommandResult } from "../../../feature/command.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { SessionId } from "../../../protocol/ids.js";
import type { SessionRecord, SessionStore } from "../../../sessions/store.js";
import type { Roots } from "../../../system/xdg-paths.js";
import { findSession } from "../../sessions/find-session.js";
import type { LiveSessions } from "../../sessions/live-sessions.js";
import type { SessionStores } from "../../sessions/session-stores.js";
import type { Settings } from "../../settings/settings.js";

export interface SessionsPort {
  readonly stores: SessionStores;
  readonly settings: Settings;
  readonly roots: Roots;
  readonly variables: Variables;
  readonly clock: Clock;
  /** The folder of the sessions. */
  readonly folder: string;
  /** The base of paths that the user types. */
  readonly base: string;
  /** The session of the conversation that the command is typed in. */
  readonly current?: SessionId;
  /** Gives the model a text with the next input of that conversation. */
  readonly give?: (command: string, text: string) => void;
  /** The open sessions of the engine; absent without one. */
  readonly live?: LiveSessions;
  /** Renders a session as text; absent if nothing can. */
  readonly transcript?: (events: AsyncIterable<Envelope>, look: TranscriptLook) => AsyncIterable<string>;
}

export interface TranscriptLook {
  readonly color: boolean;
  readonly width: number | undefined;
  readonly details: boolean;
  readonly turns: TurnRange | undefined;
  readonly expiredTo: number;
}

/** The port with its store open. */
export interface OpenPort extends SessionsPort {
  readonly store: SessionStore;
}

export type SessionAction = (args: CommandArguments, port: OpenPort, context: CommandContext) => Promise<CommandResult>;

export async function openPort(port: SessionsPort): Promise<OpenPort> {
  const store = await port.stores.open();
  if (store === undefined) throw new UsageError("Sessions are not stored here ('none'). Choose one with --store.");
  return { ...port, store };
}

/** The session that a word names; without one, that of the conversation. */
export async function named(
  typed: string | undefined,
  { store, current }: Pick<OpenPort, "store" | "current">,
): Promise<SessionRecord> {
  const word = typed === undefined || typed === "this" ? (current ?? typed) : typed;
  if (word === undefined) {
    throw new UsageError("Which session? Give its id, or a part of it ('oxbow session list').");
  }
  const isOwn = word === current;
  if (isOwn && (await store.get(word as SessionId)) === undefined) {
    throw new UsageError("Nothing has happened in this session yet.");
  }
  return findSession(store, word);
}
