/** The surroundings of this terminal for a session in the engine: its environment, its flags and its keys. */
import { resolve } from "node:path";
import type { Variables } from "../../base/variables.js";
import type { ParsedFlags } from "../../feature/flags.js";
import type { SessionStart } from "../../protocol/commands.js";
import { lendKeys } from "../../runtime/credentials/lend-keys.js";
import type { LoadedSettings } from "../../runtime/settings/settings.js";
import { sessionEnvironment } from "../../tools/child-environment.js";
import { RUN_FLAGS } from "../commands/run-flags.js";

/** Throws a CredentialError if the credential helper does not take the keys. */
export async function sessionStart(
  flags: ParsedFlags,
  { variables, loaded }: { readonly variables: Variables; readonly loaded: LoadedSettings },
): Promise<SessionStart> {
  const keys = await lendKeys(loaded, variables);
  const environment = sessionEnvironment(variables, loaded.settings.environment.value);
  return {
    environment,
    withheld: Object.keys(variables).filter((name) => variables[name] !== undefined && environment[name] === undefined),
    umask: process.umask(),
    flags: sessionFlags(flags),
    keys,
  };
}

/** The flags that hold for a session, as words. Paths are absolute: the engine works in another folder. */
function sessionFlags(flags: ParsedFlags): readonly string[] {
  return RUN_FLAGS.filter(({ name, holds = "session" }) => holds === "session" && flags.has(name)).flatMap(
    ({ name, value, repeatable }) => {
      if (value === undefined) return [`--${name}`];
      const given = repeatable ? flags.list(name) : [flags.text(name) ?? ""];
      return given.map((text) => `--${name}=${wherever(name, text)}`);
    },
  );
}

function wherever(name: string, text: string): string {
  if (name === "system-prompt" && text.startsWith("@")) return `@${resolve(text.slice(1))}`;
  if (name === "plugin-dir") return resolve(text);
  if (name === "profile" && /^\.{0,2}\//.test(text)) return resolve(text);
  return text;
}

/** The flags that only an engine of one's own can follow. */
export function engineFlags(flags: ParsedFlags): readonly string[] {
  return RUN_FLAGS.filter(({ name, holds }) => holds === "engine" && flags.has(name)).map(({ name }) => `--${name}`);
}
