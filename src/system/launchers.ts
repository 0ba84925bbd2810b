/**
 * Launchers for the commands to come (see `launcher.ts`).
 *
 * 1. A command that no launcher is there for is started from here, and a launcher is made while it runs.
 * 2. They are there for the commands of one turn, and only a few.
 */
import type { Launcher, LauncherPlace } from "./launcher.js";
import { type Launch, startOnPipes, watchFromNowOn } from "./process-group.js";

/** A command, two sandboxes for the next ones, and one that is just being made. */
const MAX_LAUNCHERS = 4;

export class Launchers {
  readonly #bash: string;
  #launchers: Launcher[] = [];
  #starting = 0;
  #rests = 0;
  #isUseless = process.platform !== "linux";

  constructor(bash: string) {
    this.#bash = bash;
  }

  readonly launch: Launch = async (request) => {
    const ready = this.#launchers.find((each) => each.canLaunch(request));
    const launched = await ready?.launch(request);
    if (launched !== undefined) return launched;
    const direct = await startOnPipes(request);
    if (request.input === undefined && request.onErrorOutput === undefined) setImmediate(() => void this.#add(request));
    return direct;
  };

  /** Those that have nothing to do end now, the others with what they have started. */
  rest(): void {
    this.#rests += 1;
    for (const each of this.#launchers.splice(0)) each.end();
  }

  async #add({ cwd, env }: LauncherPlace): Promise<void> {
    this.#launchers = this.#launchers.filter((each) => each.isAlive);
    if (this.#isUseless || this.#launchers.length + this.#starting >= MAX_LAUNCHERS) return;
    const rests = this.#rests;
    this.#starting += 1;
    const launcher = await this.#start({ cwd, env });
    this.#starting -= 1;
    if (launcher === undefined) this.#isUseless = true;
    else if (rests !== this.#rests) launcher.end();
    else this.#launchers.push(launcher);
  }
  async #start({ cwd, env }: LauncherPlace): Promise<Launcher | undefined> {
    try {
      watchFromNowOn(env.PATH ?? "");
      const { Launcher } = await import("./launcher.js");
      return await Launcher.start(this.#bash, { cwd, env });
    } catch {
      // Commands are started from here as well, and say what is wrong.
      return undefined;
    }
  }
}
