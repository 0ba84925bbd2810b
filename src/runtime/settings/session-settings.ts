/** Settings of stored sessions, outputs and logs. */
import type { LogLevels } from "../../system/log.js";
import { type KeySource, readStoreSetting } from "../sessions/session-stores.js";
import type { Setting, SettingReader } from "./setting.js";
import * as read from "./setting-readers.js";

const DEFAULT_IDLE_MS = 30 * 60 * 1000;
const DEFAULT_ENGINE_IDLE_MS = 10 * 60 * 1000;
const DEFAULT_OUTPUT_BYTES = 256 * 1024 * 1024;

export interface SessionSettings {
  readonly store: Setting<string | undefined>;
  readonly session_key: Setting<KeySource>;
  readonly retention_days: Setting<number>;
  /** An open session without clients and without a turn ends after this time; undefined for never. */
  readonly session_idle_timeout: Setting<number | undefined>;
  /** The engine of a home ends when no client has followed a session and no turn has run for this time; undefined for never. */
  readonly engine_idle_timeout: Setting<number | undefined>;
  /** The size limit of all long outputs of commands together; the oldest are deleted first. */
  readonly output_bytes: Setting<number>;
  readonly log: Setting<LogLevels>;
}

export function readSessionSettings(from: SettingReader): SessionSettings {
  return {
    store: from.pick<string | undefined>({
      key: "store",
      flag: "store",
      variable: "OXBOW_STORE",
      fallback: undefined,
      read: readStoreSetting,
    }),
    session_key: from.pick<KeySource>({ key: "session_key", fallback: "auto", read: read.keySource }),
    retention_days: from.pick({ key: "retention_days", fallback: 30, read: read.wholeNumber }),
    session_idle_timeout: from.pick<number | undefined>({
      key: "session_idle_timeout",
      fallback: DEFAULT_IDLE_MS,
      read: read.durationOrOff,
    }),
    engine_idle_timeout: from.pick<number | undefined>({
      key: "engine_idle_timeout",
      fallback: DEFAULT_ENGINE_IDLE_MS,
      read: read.durationOrOff,
    }),
    output_bytes: from.pick({ key: "output_bytes", fallback: DEFAULT_OUTPUT_BYTES, read: read.wholeNumber }),
    log: from.pick({
      key: "log",
      flag: "log-level",
      variable: "OXBOW_LOG",
      fallback: { standard: "info", byComponent: new Map() },
      read: read.logLevels,
    }),
  };
}
