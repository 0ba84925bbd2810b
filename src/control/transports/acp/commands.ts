/** Slash commands as the editor lists them. */
import type { AvailableCommand } from "@agentclientprotocol/sdk";
import type { CommandInfo } from "../../../protocol/queries.js";

/** Those that are not about a screen of Oxbow's own. */
export function isForEditors({ by_client: byClient }: CommandInfo): boolean {
  return !byClient;
}

export function availableCommand({ name, summary, usage }: CommandInfo): AvailableCommand {
  const hint = usage.slice(usage.indexOf(name) + name.length).trim();
  return { name, description: summary, ...(hint !== "" && { input: { hint } }) };
}
