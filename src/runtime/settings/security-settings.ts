/** Settings of permissions, the sandbox and credentials. */

import type { CredentialKeyChoice } from "../../security/credentials/places.js";
import { DEFAULT_PERMISSION_TIMEOUT_MS } from "../../security/permissions/identity.js";
import type { PermissionMode } from "../../security/permissions/modes.js";
import type { EnvironmentPolicy } from "../../tools/child-environment.js";
import type { SandboxMode } from "../parts/sandbox.js";
import type { PermissionTable } from "./permission-tables.js";
import type { Layer } from "./profile.js";
import { originOf, type Setting, type SettingReader } from "./setting.js";
import * as read from "./setting-readers.js";

export type UntrustedResults = "wrap" | "plain";

export interface SecuritySettings {
  readonly permission_mode: Setting<PermissionMode>;
  /** The `[permissions]` of each file, checked; undefined if no file has one. */
  readonly permissions: Setting<readonly PermissionTable[] | undefined>;
  readonly strict_permissions: Setting<boolean>;
  readonly auto_approve: Setting<boolean>;
  readonly plan: Setting<boolean>;
  /** How long a question waits; undefined for no limit. */
  readonly permission_timeout: Setting<number | undefined>;
  readonly sandbox: Setting<SandboxMode>;
  /** Whether contained commands run without asking where they write straight into the workspace; undefined: a person is asked once. */
  readonly containment: Setting<read.Containment | undefined>;
  /** Hosts that sandboxed commands may reach. */
  readonly sandbox_hosts: Setting<readonly string[]>;
  /** Folders that sandboxed commands may change besides the workspace; `git` is the workspace's repository if it lies outside. */
  readonly sandbox_writable: Setting<readonly string[]>;
  /** Folders that tools and commands use like the workspace. */
  readonly extra_roots: Setting<readonly string[]>;
  /** Whether sandboxed commands may create Unix sockets with a name. */
  /** Secret files that commands of mode auto may read. */
  readonly sandbox_secrets: Setting<readonly string[]>;
  readonly sandbox_unix_sockets: Setting<boolean>;
  /** The image whose containers run the commands, instead of the system's own sandbox. */
  readonly sandbox_container: Setting<string | undefined>;
  /** Whether results of tools are marked as text from outside. */
  readonly untrusted_results: Setting<UntrustedResults>;
  /** The `[environment]` table: which variables the commands of the model get. */
  readonly environment: Setting<EnvironmentPolicy>;
  /** How a new credential file is encrypted, if the environment has neither key nor passphrase. */
  readonly credential_key: Setting<CredentialKeyChoice>;
  /** How long the idle credential helper stays. */
  readonly credential_idle_ms: Setting<number>;
}

export async function readSecuritySettings(from: SettingReader): Promise<SecuritySettings> {
  return {
    permission_mode: from.pick<PermissionMode>({
      key: "permission_mode",
      flag: "permission-mode",
      fallback: "auto",
      read: read.permissionMode,
      project: isStricterMode,
    }),
    permissions: await readPermissions(from),
    strict_permissions: from.flag("strict-permissions"),
    auto_approve: from.flag("auto-approve"),
    plan: from.flag("plan"),
    permission_timeout: from.pick<number | undefined>({
      key: "permission_timeout",
      fallback: DEFAULT_PERMISSION_TIMEOUT_MS,
      read: read.durationOrOff,
    }),
    sandbox: from.pick<SandboxMode>({
      key: "sandbox",
      flag: "sandbox",
      fallback: "auto",
      read: read.sandboxMode,
      project: isStricterSandbox,
    }),
    containment: from.pick<read.Containment | undefined>({
      key: "containment",
      fallback: undefined,
      read: read.containment,
    }),
    sandbox_hosts: from.pick<readonly string[]>({ key: "sandbox_hosts", fallback: [], read: read.words }),
    sandbox_writable: from.pick<readonly string[]>({
      key: "sandbox_writable",
      fallback: [],
      read: read.writableFolders,
    }),
    sandbox_secrets: from.pick<readonly string[]>({ key: "sandbox_secrets", fallback: [], read: read.words }),
    extra_roots: from.pick<readonly string[]>({ key: "extra_roots", fallback: [], read: read.absoluteFolders }),
    sandbox_unix_sockets: from.pick({
      key: "sandbox_unix_sockets",
      fallback: false,
      read: read.onOrOff,
      project: (theirs) => !theirs,
    }),
    sandbox_container: from.pick<string | undefined>({
      key: "sandbox_container",
      fallback: undefined,
      read: read.image,
    }),
    untrusted_results: from.pick<UntrustedResults>({
      key: "untrusted_results",
      fallback: "wrap",
      read: read.untrustedResults,
      project: (theirs) => theirs === "wrap",
    }),
    environment: read.environmentPolicy(from.tables("environment")),
    credential_key: from.pick<CredentialKeyChoice>({
      key: "credential_key",
      fallback: "file",
      read: read.credentialKey,
    }),
    credential_idle_ms: from.pick({ key: "credential_idle", fallback: 15 * 60_000, read: read.duration }),
  };
}

/** From the widest to the strictest. `review` asks about edits and `ask` about commands: neither is stricter than the other. */
const STRICTNESS: Readonly<Record<PermissionMode, number>> = { allow: 0, auto: 1, review: 2, ask: 2, deny: 3 };
const SANDBOXES: readonly SandboxMode[] = ["off", "auto", "required"];

function isStricterMode(theirs: PermissionMode, yours: PermissionMode): boolean {
  return theirs === yours || STRICTNESS[theirs] > STRICTNESS[yours];
}

function isStricterSandbox(theirs: SandboxMode, yours: SandboxMode): boolean {
  return SANDBOXES.indexOf(theirs) >= SANDBOXES.indexOf(yours);
}

async function readPermissions(from: SettingReader): Promise<Setting<readonly PermissionTable[] | undefined>> {
  const layers = from.written("permissions", "stricter");
  const flags = (["allow", "deny"] as const).map((name) => ({ name, texts: from.values(name) }));
  const given = flags.filter(({ texts }) => texts.length > 0);
  if (layers.length === 0 && given.length === 0) return { value: undefined, origin: "default" };
  const { permissionTables } = await import("./permission-tables.js");
  const refuse = (layer: Layer, why: string) => from.refuse(layer, "permissions", why);
  const value = await permissionTables(layers, { config: from.config, refuse, flags: given });
  const origins = [...layers.map((layer) => originOf(layer, "permissions")), ...given.map(({ name }) => `--${name}`)];
  return { value, origin: origins.join(", ") };
}
