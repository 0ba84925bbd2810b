/** Names the places of stored credentials and of their helper, and what decrypts them. */
import { join } from "node:path";
import type { Variables } from "../../base/variables.js";
import { currentFolder } from "../../system/find-program.js";
import { type Roots, roots } from "../../system/xdg-paths.js";
import type { KeyPlaces } from "./credential-key.js";

export const CREDENTIAL_KEYS = ["file", "keychain", "passphrase"] as const;
export type CredentialKeyChoice = (typeof CREDENTIAL_KEYS)[number];

export function credentialFile(variables: Variables): string {
  return join(roots(variables).config, "creds.enc");
}

export function helperFolder(where: Roots): string {
  return join(where.state, "credential-helper");
}

export interface PlaceOptions {
  readonly variables: Variables;
  readonly choice: CredentialKeyChoice;
  /** The passphrase that the user typed. */
  readonly passphrase?: string | undefined;
}

export function keyPlaces({ variables, choice, passphrase }: PlaceOptions): KeyPlaces {
  return {
    path: credentialFile(variables),
    folder: roots(variables).data,
    machineKey: variables.OXBOW_MACHINE_KEY,
    passphrase: passphrase ?? variables.OXBOW_PASSPHRASE,
    choice,
    keychain: { path: variables.PATH, platform: process.platform, avoid: currentFolder() },
  };
}

/** The helper's whole environment: what Node's TLS and the keychain's program need. */
export function helperEnvironment(variables: Variables): Record<string, string> {
  const wanted = [
    "PATH",
    "HOME",
    "LANG",
    "NODE_EXTRA_CA_CERTS",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "DISPLAY",
  ];
  return Object.fromEntries(wanted.flatMap((name) => (variables[name] ? [[name, variables[name]]] : [])));
}
