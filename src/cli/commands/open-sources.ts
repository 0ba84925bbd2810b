/** The place of `oxbow sources` and `oxbow hooks`. */
import { resolve } from "node:path";
import type { Variables } from "../../base/variables.js";
import type { ParsedFlags } from "../../feature/flags.js";
import { sourceCommands } from "../../runtime/commands/sources.js";
import { loadSettings } from "../../runtime/settings/settings.js";
import { openRoot } from "../../tools/files/workspace-root.js";
import type { ShellPlace } from "../shell-command.js";

export async function openSources(flags: ParsedFlags, variables: Variables): Promise<ShellPlace> {
  const loaded = await loadSettings(flags, variables);
  const root = await openRoot(resolve(flags.text("cwd") ?? process.cwd()));
  return { commands: sourceCommands({ loaded, variables, root }) };
}
