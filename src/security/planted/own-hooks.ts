/** The hooks that a person has git put into every new repository (`init.templateDir`): a copy of one is the person's, too. */
import { spawnSync } from "node:child_process";
import { basename, join } from "node:path";
import { findProgram } from "../../system/find-program.js";
import { plainFile } from "../../system/git/index-file.js";
import { realpathOrSelf } from "../../system/repository-places.js";
import { isWithin } from "../../system/within.js";

const MAX_HOOK = 1024 * 1024;
const GIT_MS = 5000;

export interface OwnHooksOptions {
  /** Of the person, for git. */
  readonly environment: Readonly<Record<string, string>>;
  /** A git in it is not used. */
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
    if (program === undefined) return "";
    const { status, stdout } = spawnSync(program, ["config", "--global", "--path", "--get", "init.templateDir"], {
      ...{ cwd: "/", env: environment, timeout: GIT_MS, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
    });
    const folder = status === 0 ? stdout.trimEnd() : "";
    return folder.startsWith("/") && !isWithin(realpathOrSelf(folder), root) ? join(folder, "hooks") : "";
  }
}
