/** The options and the result of the terminal client. */

import type { SaveSettings } from "../../base/chosen-settings.js";
import type { ScreenAction } from "../../base/client-action.js";
import type { Clock } from "../../base/clock.js";
import type { OwnShell } from "../../base/own-shell.js";
import type { StatusLine } from "../../base/status-parts.js";
import type { TurnStats } from "../../base/turn-stats.js";
import type { EngineClient } from "../../protocol/client.js";
import type { SessionId } from "../../protocol/ids.js";
import type { Block } from "./content/block.js";
import type { Login } from "./effects/login.js";
import type { RunStatusCommand } from "./effects/status-command.js";
import type { ComposerOptions } from "./input/composer.js";
import type { Bindings } from "./keys/bindings.js";
import type { DialogName, State } from "./state.js";
import type { TuiTerminal } from "./terminal/terminal.js";
import type { Theme } from "./theme.js";
export interface TuiOptions {
  readonly client: EngineClient;
  readonly session: SessionId;
  readonly terminal: TuiTerminal;
  readonly clock: Clock;
  readonly theme: Theme;
  /** `provider:model` */
  readonly model: string;
  readonly title?: string;
  readonly recent?: readonly TurnStats[];
  /** Printed before anything else. */
  readonly greeting: readonly Block[];
  readonly showCost: boolean;
  readonly verses: readonly string[];
  /** Nothing is animated. */
  readonly still: boolean;
  /** For screen readers: only finished text is shown, without ruled lines, and the bell rings when a turn ends. */
  readonly linear?: boolean;
  /** Finished text breaks between words, instead of where the terminal breaks it. */
  readonly wrapsWords?: boolean;
  /** How the client calls the person; default: both. */
  readonly alerts?: Alerts;
  /** The line below the input; default: all parts. */
  readonly statusLine?: StatusLine | undefined;
  /** Runs the person's command for that line. */
  readonly runStatusCommand?: RunStatusCommand;
  readonly composer?: Pick<ComposerOptions, "history" | "drafts" | "images" | "editText" | "completion" | "vim">;
  /** Called with the other session, after `/clear` or a choice in the picker. */
  readonly onSession?: (session: SessionId) => void;
  /** Whether the background is light; the terminal answers after a moment. Absent if the user chose the theme. */
  readonly light?: () => Promise<boolean | undefined>;
  readonly themes?: readonly { readonly name: string; readonly description: string; readonly theme: Theme }[];
  /** The user's keys; default: the built-in ones. */
  readonly keys?: Bindings;
  readonly clientAction: (name: string) => ScreenAction | undefined;
  /** The session was stored before: the client shows its conversation first. */
  readonly resumed?: boolean;
  /** A list that is open from the start. */
  readonly opens?: DialogName;
  /** Messages of the program go to the screen while the client is open. */
  readonly onMessages?: (show: (message: string) => void) => void;
  readonly leaving?: AbortSignal;
  /** Asked when the person leaves during a turn: true lets the turn continue for others. */
  readonly keepsTurn?: () => boolean | Promise<boolean>;
  /** Called after the first paint. */
  readonly onDrawn?: () => void;
  readonly login?: Login;
  readonly files?: ClientFiles;
  /** Absent if the client cannot run commands of the person. */
  readonly shell?: OwnShell;
  /** Keeps a chosen model, effort or theme for new sessions. */
  readonly saveSettings?: SaveSettings;
  /** Opens an address in the person's browser; returns why it cannot, as the end of a sentence. */
  readonly openPage?: (url: string) => Promise<string | undefined>;
  /** Checks this installation and returns the findings as text. */
  readonly doctor?: () => Promise<string>;
}

export type Alerts = "both" | "bell" | "notification" | "none";

export interface FoundText {
  readonly exists: boolean;
  /** Absent if it is no text, or too long to be shown as a whole. */
  readonly content?: string;
}

/** Files of the user on this machine. */
export interface ClientFiles {
  /** The address that opens a file in the person's editor, from a path in a folder. */
  urlOf(path: string, folder: string): string;
  /** A file of the session's folder. */
  read(path: string, folder: string): Promise<FoundText>;
  /** Saves a text that the user asked for, and returns the path of the new file. */
  save(name: string, text: string): string;
}

export interface TuiEnd {
  /** The session at the end: another one after `/clear` or a choice in the picker. */
  readonly session: SessionId;
  /** Whether a turn ran in it. */
  readonly begun: boolean;
  readonly state: State;
}
