/** Describes what the line client needs, and what it reports. */
import type { SaveSettings } from "../../base/chosen-settings.js";
import type { ClientAction } from "../../base/client-action.js";
import type { Clock } from "../../base/clock.js";
import type { OwnShell } from "../../base/own-shell.js";
import type { TurnStats } from "../../base/turn-stats.js";
import type { EngineClient } from "../../protocol/client.js";
import type { MediaBlock } from "../../protocol/content.js";
import type { Failure } from "../../protocol/errors.js";
import type { EventPayloads } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import type { Terminal } from "./terminal.js";

/** One input of the user: a line, or several. */
export interface TypedLine {
  readonly text: string;
  /** It begins with a paste, so it is text for the model, whatever its first character is. */
  readonly isWords?: true;
}

export interface LineSource {
  /** The next line, undefined at the end of input. */
  next(prompt: string): Promise<TypedLine | undefined>;
  /** Lines that the user types while no prompt is open. The handler shows the draft instead of the terminal. */
  onLine(action: (line: TypedLine) => void, onDraft?: (text: string) => void): () => void;
  /** Keeps a line for the next call of `next`. */
  keep(line: TypedLine): void;
  /** Ctrl-C while no line is being read. */
  onInterrupt(action: () => void): () => void;
}

export interface ReplOptions {
  readonly client: EngineClient;
  /** Tells which action of the client a command's name or alias means; undefined for a command of the engine. */
  readonly clientAction: (name: string) => ClientAction | undefined;
  /** The session to begin with. */
  readonly session: SessionId;
  readonly terminal: Terminal;
  readonly lines: LineSource;
  readonly clock: Clock;
  readonly verbose: boolean;
  readonly greeting: string;
  /** The earlier turns of a resumed session. */
  readonly recent?: readonly TurnStats[];
  /** The program ends: cancels the turn and takes no more input. */
  readonly leaving?: AbortSignal;
  /** Asked when the program ends during a turn: true lets the turn continue for others. */
  readonly keepsTurn?: () => boolean | Promise<boolean>;
  /** The conversation continues with another session. */
  readonly onSession?: (session: SessionId) => void;
  /** Checks this installation and returns the findings as text. */
  readonly doctor?: () => Promise<string>;
  /** Keeps a model or an effort that a person chose for new sessions. */
  readonly saveSettings?: SaveSettings;
  /** `/login`, where a person can answer. */
  readonly login?: (provider: string) => Promise<void>;
  /** Absent if the client cannot run commands of the person. */
  readonly shell?: OwnShell;
  /** Binary input is refused. */
  readonly input: "person" | "script";
  /** Take no further line after the first problem. */
  readonly stopAtProblem?: boolean;
  /** Sent with the first input. */
  readonly media?: readonly MediaBlock[];
}

/** The first failure: a refused command, a turn, a command with a failed answer, or a shell command. */
export type Problem =
  | { readonly kind: "command"; readonly failure: Failure }
  | { readonly kind: "turn"; readonly ended: EventPayloads["TurnEnded"] }
  | { readonly kind: "answer"; readonly exitCode: number }
  | { readonly kind: "shell" };
