/** Settings of the terminal client. */
import type { StatusParts } from "../../base/status-parts.js";
import type { Setting, SettingReader } from "./setting.js";
import * as read from "./setting-readers.js";

export interface ScreenSettings {
  /** What the terminal client shows while the model works: lines of verse, or only the time. */
  readonly spinner: Setting<read.SpinnerKind>;
  /** The terminal client writes line by line, without animation. */
  readonly screen_reader: Setting<boolean>;
  readonly theme: Setting<string | undefined>;
  /** The parts of the line below the input; undefined: all. */
  readonly status_line: Setting<StatusParts | undefined>;
  /** The `[keys]` table, as it was written; the terminal client checks it. */
  readonly keys: Setting<unknown>;
}

export function readScreenSettings(from: SettingReader): ScreenSettings {
  return {
    spinner: from.pick<read.SpinnerKind>({ key: "spinner", fallback: "verses", read: read.spinner }),
    screen_reader: from.pick<boolean>({ key: "screen_reader", fallback: false, read: read.yesOrNo }),
    theme: from.pick<string | undefined>({ key: "theme", fallback: undefined, read: read.theme }),
    status_line: from.pick<StatusParts | undefined>({ key: "status_line", fallback: undefined, read: read.statusLine }),
    keys: from.tables("keys"),
  };
}
