/** The hooks that the user's git puts into every new repository (`init.templateDir`): copies of them belong to the user, too. */
import { basename, join } from "node:path";
import { findProgram } from "../../system/find-program.js";
import { PersonalSettings } from "../../system/git/personal-settings.js";
import { plainFile } from "../../system/git/plain-file.js";
import { withHome } from "../../system/git/settings-files.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { isWithin } from "../../system/within.js";

const MAX_HOOK = 1024 * 1024;

export interface OwnHooksOptions {
  /** The person's environment, for git. */
  readonly environment: Readonly<Record<string, string>>;
  /** The workspace: a git program in it is not used. */
  readonly root: string;
}

export class OwnHooks {
  readonly #options: OwnHooksOptions;
  #folder: string | undefined;

  constructor(options: OwnHooksOptions) {
    this.#options = options;
  }

  isCopy(hook: string): boolean {
    this.#folder ??= this.#find();
    if (this.#folder === "") return false;
    const [own, found] = [join(this.#folder, basename(hook)), hook].map((file) => plainFile(file, MAX_HOOK));
    return Buffer.isBuffer(own) && Buffer.isBuffer(found) && own.equals(found);
  }

  /** Empty when there is none. */
  #find(): string {
    const { environment, root } = this.#options;
    const program = findProgram("git", environment.PATH, { outside: root });
    const home = environment.HOME ?? "/";
    const { settings } = new PersonalSettings({ program, home, variables: environment }).read();
    const folder = withHome(settings.findLast(({ name }) => name === "init.templatedir")?.value ?? "", home);
    return folder.startsWith("/") && !isWithin(realpathOrSelf(folder), root) ? join(folder, "hooks") : "";
  }
}
