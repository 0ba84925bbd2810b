/** `oxbow update`: how this copy was installed, and what updates it. */
import type { Variables } from "../../base/variables.js";
import { VERSION } from "../../base/version.js";
import type { CommandResult } from "../../feature/command.js";
import { UPDATE } from "../../runtime/commands/program.js";
import { findInstallation, type InstallationKind } from "../installation.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "update",
  specs: [UPDATE],
  about: "Says how this copy of Oxbow was installed, and how to update it. It changes nothing and uses no network.",
  open: async (_flags, variables) => ({ commands: [{ ...UPDATE, run: () => describeUpdate(variables) }] }),
};

export const run = shellRunner(shell);

const MORE: Readonly<Partial<Record<InstallationKind, string>>> = {
  clone: "The script ./oxbow builds what changed at its next start.",
  "npm global": "From a packed file, give npm the file instead of oxbow@latest. Both keep your settings and sessions.",
};

function describeUpdate(variables: Variables): CommandResult {
  const { kind, root, about, update } = findInstallation(variables);
  const text = [`Oxbow ${VERSION} ${about}`, "To update it:", ...update.map((line) => `  ${line}`), MORE[kind] ?? ""];
  return {
    text: text.filter((line) => line !== "").join("\n"),
    value: { version: VERSION, kind, root, update: [...update] },
  };
}
