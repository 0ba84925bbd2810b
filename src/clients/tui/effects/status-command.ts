/**
 * The line below the input by a command of the person, which gets the state as JSON and prints one line.
 *
 * 1. It runs when what it gets has changed, at most every three seconds, and one at a time. Nothing of it runs in an idle client.
 * 2. Its output is text: colours and control characters are taken out.
 * 3. Where it fails, the usual parts are shown.
 */
import type { Clock } from "../../../base/clock.js";
import { safeLine } from "../../../base/terminal-text.js";
import { VERSION } from "../../../base/version.js";
import type { State } from "../state.js";

/** Runs a command with this input; undefined without a result in time. */
export type RunStatusCommand = (command: string, input: string, folder: string) => Promise<string | undefined>;

export interface StatusCommandOptions {
  readonly clock: Clock;
  readonly run: RunStatusCommand;
  /** Called when the line may be another one. */
  readonly onChange: () => void;
}

const REST_MS = 3000;

export class StatusCommand {
  readonly #command: string;
  readonly #options: StatusCommandOptions;
  /** The input of the last run. */
  #seen = "";
  #line: string | undefined;
  #restsUntil = Number.NEGATIVE_INFINITY;
  /** It runs, or waits until it may run again. */
  #isBusy = false;

  constructor(command: string, options: StatusCommandOptions) {
    this.#command = command;
    this.#options = options;
  }

  /** The last line that it printed; undefined where it failed or has printed none yet. Runs it again for another state. */
  line(state: State): string | undefined {
    const input = statusJson(state);
    if (input !== undefined && input !== this.#seen && !this.#isBusy) {
      this.#isBusy = true;
      const { clock } = this.#options;
      const wait = this.#restsUntil - clock.now();
      // The state of that moment counts, so it is read again.
      if (wait > 0) clock.after(wait, () => this.#free(), "unheld");
      else void this.#run(input, state);
    }
    return this.#line;
  }

  async #run(input: string, { place }: State): Promise<void> {
    const { clock, run } = this.#options;
    this.#seen = input;
    this.#restsUntil = clock.now() + REST_MS;
    const output = await run(this.#command, input, place?.cwd ?? ".").catch(() => undefined);
    this.#line = output === undefined ? undefined : lineOf(output);
    this.#free();
  }

  #free(): void {
    this.#isBusy = false;
    this.#options.onChange();
  }
}

function lineOf(output: string): string | undefined {
  const line = output.split("\n").find((each) => each.trim() !== "");
  // Colours of its own would not fit the theme.
  return line && safeLine(line.replaceAll(/\u001b\[[\d;:]*m/g, "").trim());
}

/** The state with the names that status lines of other agents read; undefined before the engine has told the place. */
export function statusJson({ session, title, model, place, costs, hidesCost }: State): string | undefined {
  if (place === undefined) return undefined;
  const { cwd, mode, profile, branch, effort, sandbox, context_window: window, folders = [], background = 0 } = place;
  const used = window === undefined ? undefined : Math.round((costs.contextUsed / window) * 100);
  return JSON.stringify({
    session_id: session,
    session_name: title,
    cwd,
    model: { id: model, display_name: model.slice(model.indexOf(":") + 1) },
    workspace: { current_dir: cwd, project_dir: cwd, added_dirs: folders },
    version: VERSION,
    ...(!hidesCost && { cost: { total_cost_usd: costs.session.usd } }),
    context_window: { context_window_size: window, used_tokens: costs.contextUsed, used_percentage: used },
    effort: { level: effort },
    mode,
    profile,
    branch,
    sandbox,
    background,
  });
}
