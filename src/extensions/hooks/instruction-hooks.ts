/** Tells hooks which instruction files the model gets, and why. */
import { basename } from "node:path";
import type { LoadedInstructions } from "./context.js";
import type { EventHooks } from "./event-hooks.js";

export class InstructionHooks {
  readonly #hooks: EventHooks;
  readonly #loads: () => readonly LoadedInstructions[];
  readonly #told = new WeakSet<LoadedInstructions>();

  constructor(hooks: EventHooks, loads: () => readonly LoadedInstructions[]) {
    this.#hooks = hooks;
    this.#loads = loads;
  }

  /** About files that hooks do not know yet. */
  tell(): void {
    if (!this.#hooks.has("InstructionsLoaded")) return;
    for (const load of this.#loads().filter((each) => !this.#told.has(each))) {
      this.#told.add(load);
      this.#fire(load, load.reason);
    }
  }

  /** The conversation continues from a summary, with the files of the start. */
  tellAgain(): void {
    for (const load of this.#loads()) if (load.trigger === undefined) this.#fire(load, "compact");
  }

  #fire({ path, owner, globs, trigger, parent }: LoadedInstructions, reason: string): void {
    const input = {
      file_path: path,
      memory_type: owner === "user" ? "User" : basename(path).includes(".local.") ? "Local" : "Project",
      load_reason: reason,
      ...(globs !== undefined && { globs: [...globs] }),
      ...(trigger !== undefined && { trigger_file_path: trigger }),
      ...(parent !== undefined && { parent_file_path: parent }),
    };
    this.#hooks.aside("InstructionsLoaded", { subject: reason, input });
  }
}
