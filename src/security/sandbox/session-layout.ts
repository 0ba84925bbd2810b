/** The layout of a session's sandbox, as it must be now. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { nodeClock } from "../../system/node-clock.js";
import { LinkedFiles } from "../guard-list/linked-files.js";
import { listeningSockets, otherProcesses } from "./host-openings.js";
import { findLayout, type Layout, realFolder } from "./layout.js";
import type { SandboxOptions } from "./sandbox-options.js";

export class SessionLayout {
  readonly #options: SandboxOptions;
  #hiddenLinks: LinkedFiles | undefined;

  constructor(options: SandboxOptions) {
    this.#options = options;
  }

  /** A command begins that writes into the real folders. Returns what to call when it has ended. */
  beginDirect(): () => void {
    const { policy, secrets } = this.#options;
    return policy.secrets === "masked" && secrets ? secrets.beginDirect() : () => secrets?.mayHaveChanged();
  }

  /** `hidesSockets`: the command could connect to programs that listen. They come and go, so it hides them only then. */
  now(
    access: "direct" | "held",
    { hidesSockets, hasOwnHome }: { readonly hidesSockets: boolean; readonly hasOwnHome: boolean },
  ): Layout {
    const { policy, platform } = this.#options;
    this.#hiddenLinks ??= this.#openHiddenLinks();
    const ofSystem = platform === "linux" ? [...(hidesSockets ? listeningSockets() : []), ...otherProcesses()] : [];
    const alsoHidden = [...ofSystem, ...this.#hiddenLinks.aliases()];
    const secrets = policy.secrets === "masked" ? this.#options.secrets?.find() : [];
    const { readOnlyWithin = [], hidden = [] } = this.#options.restrictions?.() ?? {};
    const restricted = {
      ...policy,
      readOnlyWithin: [...policy.readOnlyWithin, ...readOnlyWithin],
      hidden: [...policy.hidden, ...hidden],
    };
    // Without a home folder of its own, the secrets of the user's are hidden one by one.
    const { home, ...open } = restricted;
    const caches = home ?? policy.caches;
    const shown = hasOwnHome ? restricted : { ...open, ...(caches && { caches }) };
    return findLayout(shown, { access, alsoHidden, secrets });
  }

  /** Hard links in the workspace to files of hidden places: the same key under an ordinary name. */
  #openHiddenLinks(): LinkedFiles {
    const { policy, clock = nodeClock } = this.#options;
    const hidden = () => policy.hidden.flatMap(filesAt);
    return new LinkedFiles({ roots: policy.writable.map(realFolder), clock, hidden });
  }
}

/** The place itself, or the files directly in it: keys do not lie deeper, and this runs before each command. */
function filesAt(place: string): readonly string[] {
  try {
    const entries = readdirSync(place, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(place, entry.name));
  } catch {
    return [place];
  }
}
