/**
 * Describes what an Oxbow that a model started may not do: change permissions, trust, keys, routes and budgets, or delete sessions. A model
 * could otherwise use a command to remove the limits of its own run.
 */

import { UsageError } from "../base/usage-error.js";
import type { Variables } from "../base/variables.js";
import type { ParsedFlags } from "../feature/flags.js";
import { startedByModel } from "../system/model-ancestors.js";

export function refuseAgents(variables: Variables, what: string): void {
  if (startedByModel(variables)) throw new UsageError(`${what} is for people, not for agents: run it yourself.`);
}

/** Flags that widen what a run may do or spend. */
export function refuseWideningFlags(variables: Variables, flags: ParsedFlags): void {
  for (const name of ["auto-approve", "allow", "allow-project-hooks", "budget", "profile"]) {
    if (flags.has(name)) refuseAgents(variables, `--${name}`);
  }
  for (const [name, value] of [
    ["permission-mode", "allow"],
    ["sandbox", "off"],
  ] as const) {
    if (flags.text(name)?.trim().toLowerCase() === value) refuseAgents(variables, `--${name} ${value}`);
  }
}
