/** `oxbow NAME …` of a subject that declares its commands itself (`feature/command.ts`). */
import { resolve } from "node:path";
import type { Variables } from "../base/variables.js";
import type { OpenShell, ShellPlace, Subject } from "../feature/command.js";
import type { ParsedFlags } from "../feature/flags.js";
import { readSettings, SettingReader } from "../feature/setting.js";
import { nodeClock } from "../system/node-clock.js";
import { roots } from "../system/xdg-paths.js";
import type { CliModule } from "./command-table.js";
import { printMessage } from "./print-message.js";
import { shellRunner } from "./shell-command.js";

export async function subjectModule(
  { name, specs, shell: declared }: Subject,
  open: OpenShell | undefined = declared?.open,
): Promise<CliModule> {
  if (declared === undefined || open === undefined) throw new Error(`${name} has no commands outside a session`);
  const shell = {
    ...{ name, specs: specs.filter(({ places }) => places.includes("without a session")) },
    ...declared,
    open: (flags: ParsedFlags, variables: Variables) => open(shellPlace(flags, variables)),
  };
  return { shell, run: shellRunner(shell) };
}

export function shellPlace(
  flags: ParsedFlags,
  variables: Variables,
  notify: ShellPlace["notify"] = printMessage,
): ShellPlace {
  const root = async () => {
    const { openRoot } = await import("../tools/files/workspace-root.js");
    return openRoot(resolve(flags.text("cwd") ?? process.cwd()));
  };
  return {
    ...{ flags, variables, roots: roots(variables), clock: nodeClock, root, notify },
    settings: async (declared) => {
      const { loadSettings } = await import("../runtime/settings/settings.js");
      const { layers, sources } = await loadSettings(flags, variables);
      return readSettings(declared, new SettingReader({ ...sources, layers }));
    },
    approved: async (kinds, warn) => {
      const [{ loadSettings }, { findExtensions }] = await Promise.all([
        import("../runtime/settings/settings.js"),
        import("../runtime/content/find-extensions.js"),
      ]);
      const { files, notes } = await findExtensions({
        loaded: await loadSettings(flags, variables),
        ...{ variables, root: await root(), color: false, width: 80, skipUnapproved: true },
        // The notes are about what is not approved, not about programs that are off.
        allowProjectHooks: warn !== undefined,
        notify: warn ?? (() => {}),
        granted: new Set(),
        since: Number.POSITIVE_INFINITY,
      });
      for (const note of notes) warn?.(note);
      return files.filter(({ kind }) => kinds.includes(kind));
    },
    redact: async () => (await import("../security/redact/redact.js")).redact,
    key: async (purpose) => {
      const [{ loadSettings }, { SessionStores }, { keyFor }] = await Promise.all([
        import("../runtime/settings/settings.js"),
        import("../runtime/sessions/session-stores.js"),
        import("../runtime/feature-context.js"),
      ]);
      const { settings, roots, warnings } = await loadSettings(flags, variables);
      for (const warning of warnings) notify(warning);
      return keyFor(
        purpose,
        new SessionStores({ settings, roots, variables, root: await root(), notify, hint: notify }),
      );
    },
  };
}
