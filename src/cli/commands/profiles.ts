/** `oxbow profiles`. */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "../../base/usage-error.js";
import { PROFILES_LIST, PROFILES_SHOW, profileCommands } from "../../runtime/commands/profiles.js";
import { placeSettings } from "../../runtime/content/place-settings.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "profiles",
  specs: [PROFILES_LIST, PROFILES_SHOW],
  about:
    "A profile is a TOML file of settings: built in, in the folder 'profiles' of your configuration, or in .oxbow/profiles of a project.",
  more: 'Use one: oxbow --profile NAME, OXBOW_PROFILE=NAME, or profile = "NAME" in config.toml (docs/profiles.md).',
  open: async (flags, variables) => {
    const loaded = await placeSettings(flags, variables, { unapproved: "ignore" });
    const root = folder(flags.text("cwd"));
    return { commands: profileCommands({ loaded, variables, root }) };
  },
};

export const run = shellRunner(shell);

function folder(given: string | undefined): string {
  try {
    return realpathSync.native(resolve(given ?? process.cwd()));
  } catch (error) {
    throw new UsageError(`--cwd: ${(error as Error).message}`);
  }
}
