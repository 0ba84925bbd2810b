/** Tells hooks which instruction files the model gets, and why. */
import { basename } from "node:path";
import type { EventHooks } from "../../../extensions/hooks/event-hooks.js";
import type { InstructionLoad } from "../../content/instruction-loads.js";

export class InstructionHooks {
  readonly #hooks: EventHooks;
  readonly #loads: () => readonly InstructionLoad[];
  readonly #told = new WeakSet<InstructionLoad>();

  constructor(hooks: EventHooks, loads: () => readonly InstructionLoad[]) {
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

  #fire({ path, owner, globs, trigger, parent }: InstructionLoad, reason: string): void {
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
