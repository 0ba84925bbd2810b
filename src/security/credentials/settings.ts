/** Settings of stored keys. */
import { duration } from "../../base/read-value.js";
import { choice, setting, shownTime } from "../../feature/setting.js";
import { CREDENTIAL_KEYS } from "./places.js";

export const credentialSettings = {
  /** Says how a new credential file is encrypted, if the environment has neither key nor passphrase. */
  credential_key: choice(CREDENTIAL_KEYS, {
    about: "where the key of stored keys is: file, keychain or passphrase",
    guide: "models",
    fallback: "file",
  }),
  credential_idle: setting({
    about: "how long the idle credential helper stays",
    guide: "models",
    fallback: 15 * 60_000,
    read: duration,
    show: shownTime,
  }),
};
