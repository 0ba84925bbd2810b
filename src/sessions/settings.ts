/** Settings of stored sessions. */

import { durationOrOff, wholeNumber } from "../base/read-value.js";
import { UsageError } from "../base/usage-error.js";
import { choice, setting, shownTime } from "../feature/setting.js";
import { parseStore, storeWords } from "./stores.js";

/** `auto`: the keychain for a new key, where one answers. */
const KEY_SOURCES = ["auto", "file", "keychain"] as const;
export type KeySource = (typeof KEY_SOURCES)[number];

const WORDS = storeWords("none");

export const sessionSettings = {
  store: setting({
    about: `where sessions are stored: ${WORDS}`,
    guide: "sessions",
    holds: "engine",
    flag: {
      value: "STORE",
      help: "where to store the session: sqlite (default, encrypted), files, files:DIR or none",
    },
    variable: {
      name: "OXBOW_STORE",
      meaning: "where to store sessions: sqlite (encrypted), files, files:DIR or none",
    },
    read: readStoreSetting,
  }),
  session_key: choice(KEY_SOURCES, {
    about: "where the key of the session database is: auto, file or keychain",
    guide: "sessions",
    holds: "engine",
    fallback: "auto",
  }),
  retention_days: setting({
    about: "after how many days the content of sessions expires",
    guide: "sessions",
    holds: "engine",
    fallback: 30,
    read: wholeNumber,
  }),
  session_idle_timeout: setting<number | undefined>({
    about: "when a session that no client uses ends",
    guide: "sessions",
    holds: "engine",
    fallback: 30 * 60_000,
    read: durationOrOff,
    show: shownTime,
  }),
};

function readStoreSetting(text: string): string {
  if (text === "none" || parseStore(text) !== undefined) return text;
  throw new UsageError(`expected ${WORDS}, got "${text}".`);
}
