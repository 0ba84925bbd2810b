/** Settings of permissions, the sandbox and credentials. */
import { DEFAULT_PERMISSION_TIMEOUT_MS } from "../../security/permissions/identity.js";
import type { PermissionMode } from "../../security/permissions/modes.js";
import type { CredentialKeyChoice } from "../credentials/credential-places.js";
import type { SandboxMode } from "../parts/sandbox.js";
import type { Setting, SettingReader } from "./setting.js";
import * as read from "./setting-readers.js";

export type UntrustedResults = "wrap" | "plain";

export interface SecuritySettings {
  readonly permission_mode: Setting<PermissionMode>;
  /** The `[permissions]` table, as it was written. */
  readonly permissions: Setting<unknown>;
  /** The `[hooks]` tables, as they were written. */
  readonly hooks: Setting<unknown>;
  readonly strict_permissions: Setting<boolean>;
  readonly auto_approve: Setting<boolean>;
  readonly plan: Setting<boolean>;
  /** How long a question waits; undefined for no limit. */
  readonly permission_timeout: Setting<number | undefined>;
  readonly sandbox: Setting<SandboxMode>;
  /** Hosts that sandboxed commands may reach. */
  readonly sandbox_hosts: Setting<readonly string[]>;
  /** Folders that sandboxed commands may change besides the workspace; `git` is the workspace's repository if it lies outside. */
  readonly sandbox_writable: Setting<readonly string[]>;
  /** Whether sandboxed commands may create Unix sockets with a name. */
  readonly sandbox_unix_sockets: Setting<boolean>;
  /** The image whose containers run the commands, instead of the system's own sandbox. */
  readonly sandbox_container: Setting<string | undefined>;
  /** Whether results of tools are marked as text from outside. */
  readonly untrusted_results: Setting<UntrustedResults>;
  /** How a new credential file is encrypted, if the environment has neither key nor passphrase. */
  readonly credential_key: Setting<CredentialKeyChoice>;
  /** How long the idle credential helper stays. */
  readonly credential_idle_ms: Setting<number>;
}

export function readSecuritySettings(from: SettingReader): SecuritySettings {
  return {
    permission_mode: from.pick<PermissionMode>({
      key: "permission_mode",
      flag: "permission-mode",
      fallback: "auto",
      read: read.permissionMode,
    }),
    permissions: from.raw("permissions"),
    hooks: from.raw("hooks"),
    strict_permissions: from.flag("strict-permissions"),
    auto_approve: from.flag("auto-approve"),
    plan: from.flag("plan"),
    permission_timeout: from.pick<number | undefined>({
      key: "permission_timeout",
      fallback: DEFAULT_PERMISSION_TIMEOUT_MS,
      read: read.durationOrOff,
    }),
    sandbox: from.pick<SandboxMode>({ key: "sandbox", flag: "sandbox", fallback: "auto", read: read.sandboxMode }),
    sandbox_hosts: from.pick<readonly string[]>({ key: "sandbox_hosts", fallback: [], read: read.words }),
    sandbox_writable: from.pick<readonly string[]>({
      key: "sandbox_writable",
      fallback: [],
      read: read.writableFolders,
    }),
    sandbox_unix_sockets: from.pick({ key: "sandbox_unix_sockets", fallback: false, read: read.onOrOff }),
    sandbox_container: from.pick<string | undefined>({
      key: "sandbox_container",
      fallback: undefined,
      read: read.image,
    }),
    untrusted_results: from.pick<UntrustedResults>({
      key: "untrusted_results",
      fallback: "wrap",
      read: read.untrustedResults,
    }),
    credential_key: from.pick<CredentialKeyChoice>({
      key: "credential_key",
      fallback: "file",
      read: read.credentialKey,
    }),
    credential_idle_ms: from.pick({ key: "credential_idle", fallback: 15 * 60_000, read: read.duration }),
  };
}
