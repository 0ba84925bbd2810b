/** The open runs of an engine, each with its place and its commands. */
import type { CommandRegistry } from "../commands/registry.js";
import type { Host } from "../control/host.js";
import type { Run } from "../control/run.js";
import type { EngineService } from "./commands/engine.js";
import type { Place } from "./open-engine.js";
import type { OpenedRun } from "./opening.js";

export interface HostedRun extends OpenedRun {
  readonly place: Place;
}

export class HostedRuns {
  /** Serves the engine to other programs; empty where it serves none. */
  service: EngineService = {};
  readonly #first: Place;
  readonly #hosted = new WeakMap<Run, HostedRun>();
  readonly #registries = new WeakMap<HostedRun, { readonly stamp: string; readonly made: Promise<CommandRegistry> }>();

  constructor(first: Place) {
    this.#first = first;
  }

  add(opened: HostedRun): void {
    this.#hosted.set(opened.run, opened);
  }

  get(run: Run): HostedRun | undefined {
    return this.#hosted.get(run);
  }

  /** The place of the run; without a run, the first place. */
  placeOf(run: Run | undefined): Place {
    return (run && this.#hosted.get(run)?.place) ?? this.#first;
  }

  /** The commands of a session. They are assembled when a client sends the first one. */
  async commandsOf(run: Run, host: Host): Promise<CommandRegistry | undefined> {
    const opened = this.#hosted.get(run);
    if (opened === undefined) return undefined;
    const { sessionCommands } = await import("./commands/session-commands.js");
    // Commands in folders may have come or gone.
    const { extensions } = opened;
    // A deleted folder has nothing new.
    await extensions.refresh("files").catch(() => false);
    const stamp = [extensions.version, ...opened.parts.map((part) => part.commandsStamp?.())].join("\n");
    const known = this.#registries.get(opened);
    if (known?.stamp === stamp) return known.made;
    const { engineCommands } = await import("./commands/engine.js");
    const made = sessionCommands(
      opened.parts,
      engineCommands(host, run.session, () => this.service),
    );
    this.#registries.set(opened, { stamp, made });
    return made;
  }
}
