import type { EnvelopeOf } from "../protocol/envelope.js";
import { failure } from "../protocol/errors.js";

/** One line for the user about a hook that was late or failed. */
export function hookText(event: EnvelopeOf<"HookTimeout"> | EnvelopeOf<"HookError">): string {
  if (event.kind === "HookTimeout") {
    const { event: name, command, timeout_ms } = event.payload;
    return failure("HookTimeout", { event: name, cmd: command, timeout: timeout_ms / 1000 }).message;
  }
  const { event: name, command, exit_code } = event.payload;
  const how = exit_code === 0 ? "gave an answer that Oxbow cannot read" : `failed with exit code ${exit_code}`;
  return `Hook '${name}' command '${command}' ${how}.`;
}
