/** Settings of the sandbox. */

import { names, onOrOff, words } from "../../base/read-value.js";
import { UsageError } from "../../base/usage-error.js";
import { choice, setting } from "../../feature/setting.js";

const SANDBOX_MODES = ["auto", "required", "off"] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];

/** From the widest to the strictest. */
const STRICTNESS: readonly SandboxMode[] = ["off", "auto", "required"];

export const sandboxSettings = {
  sandbox: choice(SANDBOX_MODES, {
    about: "auto, required or off",
    guide: "sandbox",
    flag: {
      value: "MODE",
      help: "auto (default: use a sandbox if there is one), required or off",
    },
    fallback: "auto",
    project: (theirs, yours) => STRICTNESS.indexOf(theirs) >= STRICTNESS.indexOf(yours),
  }),
  /** Undefined: a person is asked once. */
  containment: choice(["direct", "ask"], {
    about: "direct: contained commands run without asking also where they write straight into the folder; ask",
    guide: "sandbox",
  }),
  sandbox_hosts: setting({
    about: "hosts that commands in the sandbox may reach",
    guide: "sandbox",
    fallback: [],
    read: words,
  }),
  /** `git` is the workspace's repository if it lies outside. */
  sandbox_writable: setting({
    about: "more folders that commands may change",
    guide: "sandbox",
    fallback: [],
    read: writableFolders,
  }),
  sandbox_secrets: setting({
    about: "secret files that commands may read",
    guide: "sandbox",
    fallback: [],
    read: words,
  }),
  sandbox_unix_sockets: setting({
    about: "lets commands create Unix sockets with a name",
    guide: "sandbox",
    fallback: false,
    read: onOrOff,
    project: (theirs) => !theirs,
  }),
  sandbox_container: setting({
    about: "the image whose containers run the commands",
    guide: "sandbox",
    read: imageName,
  }),
};

function writableFolders(text: string): readonly string[] {
  const folders = names(text);
  // Never the root of the file system.
  const wrong = folders.find((folder) => folder !== "git" && !/^(?:~?\/|[A-Za-z]:)./.test(folder));
  if (wrong !== undefined) throw new UsageError(`expected absolute paths of folders, or git, got "${wrong}".`);
  return folders;
}

/** No blanks, and never an option of the container program. */
function imageName(text: string): string {
  if (!/^[a-z0-9][\w./:@-]*$/i.test(text)) throw new UsageError(`expected the name of an image, got "${text}".`);
  return text;
}
