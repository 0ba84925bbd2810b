/**
 * Settings with their origin: a flag overrides the environment, the environment overrides the profile, the
 * profile overrides the default. There is no configuration object: each owner takes the values it needs.
 */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { nearest } from "../../base/nearest.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { ParsedFlags } from "../../commands/flags.js";
import { DEFAULT_INSTRUCTION_BYTES } from "../../context/instructions/capped-texts.js";
import type { BudgetLimit } from "../../costs/budget.js";
import type { Effort, ToolSet } from "../../engine/ports.js";
import type { Overrides } from "../../providers/catalogue/overrides.js";
import type { LocalOptions } from "../../providers/local/local-ollama.js";
import { DEFAULT_PERMISSION_TIMEOUT_MS } from "../../security/permissions/identity.js";
import type { PermissionMode } from "../../security/permissions/modes.js";
import type { LogLevels } from "../../system/log.js";
import { type Roots, roots } from "../../system/xdg-paths.js";
import type { CredentialKeyChoice } from "../credentials/credential-places.js";
import type { SandboxMode } from "../parts/sandbox.js";
import { type KeySource, readStoreSetting } from "../sessions/session-stores.js";
import { makeHome } from "./home-folder.js";
import type { SpinnerKind } from "./setting-readers.js";
import * as read from "./setting-readers.js";

export interface Setting<T> {
  readonly value: T;
  /** `flag --model`, `OXBOW_MODEL`, the profile's path, or `default`. */
  readonly origin: string;
}

export interface Settings {
  readonly provider: Setting<string | undefined>;
  readonly model: Setting<string | undefined>;
  readonly max_iterations: Setting<number>;
  readonly max_output_tokens: Setting<number | undefined>;
  /** A longer answer ends the turn as a failure. */
  readonly max_answer_chars: Setting<number>;
  /** How much the model thinks. */
  readonly effort: Setting<Effort | undefined>;
  readonly tool_sets: Setting<readonly ToolSet[]>;
  readonly permission_mode: Setting<PermissionMode>;
  readonly system_prompt: Setting<string | undefined>;
  readonly timeout_ms: Setting<number | undefined>;
  /** The default time limit of a command. */
  readonly run_timeout_ms: Setting<number | undefined>;
  /** The time limit for one answer of a model on this machine; undefined for none. */
  readonly ollama_timeout_ms: Setting<number | undefined>;
  /** How long a model call waits for a busy or failing provider; 0 disables retries. */
  readonly retry_wait_ms: Setting<number>;
  readonly store: Setting<string | undefined>;
  readonly session_key: Setting<KeySource>;
  readonly retention_days: Setting<number>;
  /** How a new credential file is encrypted, if the environment has neither key nor passphrase. */
  readonly credential_key: Setting<CredentialKeyChoice>;
  /** How long the idle credential helper stays. */
  readonly credential_idle_ms: Setting<number>;
  /** The `[permissions]` table, as it was written. */
  readonly permissions: Setting<unknown>;
  /** The `[routes]` tables, as they were written. */
  readonly routes: Setting<unknown>;
  /** The `[providers]` tables, as they were written. */
  readonly providers: Setting<unknown>;
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
  /** The image whose containers commands run in, instead of the system's own sandbox. */
  readonly sandbox_container: Setting<string | undefined>;
  /** Hosts that `web_fetch` may reach although they are not on the public internet. */
  readonly web_hosts: Setting<readonly string[]>;
  /** Whether `web_fetch` checks the addresses of a name itself although a proxy looks it up again, or leaves names to the proxy. */
  readonly web_names: Setting<"check" | "proxy">;
  /** The proxy for http and https requests, where no variable names one. */
  readonly proxy: Setting<string | undefined>;
  readonly no_proxy: Setting<string | undefined>;
  /** A file of additional certificate authorities. */
  readonly ca_file: Setting<string | undefined>;
  /** Whether results of tools are marked as text from outside. */
  readonly untrusted_results: Setting<UntrustedResults>;
  /** What the terminal client shows while the model works: lines of verse, or only the time. */
  readonly spinner: Setting<SpinnerKind>;
  /** The terminal client writes line by line, and nothing moves by itself. */
  readonly screen_reader: Setting<boolean>;
  readonly theme: Setting<string | undefined>;
  /** Instruction files to load, in this order; each folder gives all that it has. */
  readonly context_sources: Setting<readonly string[]>;
  /** The size limit of all of them. */
  readonly context_bytes: Setting<number>;
  /** Most bytes of all long outputs of commands together; the oldest are deleted first. */
  readonly output_bytes: Setting<number>;
  /** The part of the window at which the conversation is compacted; undefined for never. */
  readonly compact_at: Setting<number | undefined>;
  /** For local models: exactly this much context, instead of what a request needs. */
  readonly num_ctx: Setting<number | undefined>;
  /** How long Ollama keeps a model in memory after an answer. */
  readonly keep_alive: Setting<string | undefined>;
  /** How long a model on this machine may be silent; undefined for no limit. */
  readonly local_idle_ms: Setting<number | undefined>;
  readonly log: Setting<LogLevels>;
  /** Budgets: of this run, a turn, a session with all its runs, and all sessions of a day. */
  readonly budget: Setting<BudgetLimit | undefined>;
  readonly budget_turn: Setting<BudgetLimit | undefined>;
  readonly budget_session: Setting<BudgetLimit | undefined>;
  readonly budget_day: Setting<BudgetLimit | undefined>;
  /** The `[models]` tables, checked. */
  readonly models: Setting<Overrides | undefined>;
  readonly catalogue_url: Setting<string | undefined>;
}

export interface LoadedSettings {
  readonly settings: Settings;
  readonly roots: Roots;
  readonly profilePath: string;
  readonly warnings: readonly string[];
}

export type UntrustedResults = "wrap" | "plain";

const DEFAULT_OUTPUT_BYTES = 256 * 1024 * 1024;

const DEFAULT_SETS: readonly ToolSet[] = ["read", "edit", "command", "git", "web"];

interface Definition<T> {
  readonly key: keyof Settings;
  readonly flag?: string;
  readonly variable?: string;
  readonly fallback: T;
  /** Throws UsageError with what was expected. */
  readonly read: (text: string) => T;
}

/** Of the profile's keys and what they mean. */
const PROFILE_VERSION = 1;

const PROFILE_KEYS = [
  "schema_version",
  "provider",
  "model",
  "max_iterations",
  "max_output_tokens",
  "max_answer_chars",
  "effort",
  "tool_sets",
  "permission_mode",
  "system_prompt",
  "timeout",
  "run_timeout",
  "retry_wait",
  "store",
  "session_key",
  "retention_days",
  "credential_key",
  "credential_idle",
  "permissions",
  "providers",
  "permission_timeout",
  "routes",
  "sandbox",
  "sandbox_hosts",
  "sandbox_writable",
  "sandbox_unix_sockets",
  "sandbox_container",
  "web_hosts",
  "web_names",
  "proxy",
  "no_proxy",
  "ca_file",
  "untrusted_results",
  "spinner",
  "screen_reader",
  "theme",
  "context_sources",
  "context_bytes",
  "output_bytes",
  "compact_at",
  "num_ctx",
  "keep_alive",
  "local_idle",
  "ollama_timeout",
  "log",
  "budget",
  "budget_turn",
  "budget_session",
  "budget_day",
  "models",
  "catalogue_url",
];

type Profile = Readonly<Record<string, unknown>>;

export async function loadSettings(flags: ParsedFlags, variables: Variables): Promise<LoadedSettings> {
  const where = roots(variables);
  makeHome(variables);
  const profilePath = variables.OXBOW_PROFILE || join(where.config, "config.toml");
  const { profile, warnings } = await readProfile(profilePath, { required: Boolean(variables.OXBOW_PROFILE) });
  const pick = <T>(definition: Definition<T>) => resolve(definition, { flags, variables, profile, profilePath });
  const given = (flag: string): Setting<boolean> =>
    flags.has(flag) ? { value: true, origin: `--${flag}` } : { value: false, origin: "default" };
  const settings: Settings = {
    provider: pick({
      key: "provider",
      flag: "provider",
      variable: "OXBOW_PROVIDER",
      fallback: undefined,
      read: String,
    }),
    model: pick({ key: "model", flag: "model", variable: "OXBOW_MODEL", fallback: undefined, read: String }),
    max_iterations: pick({
      key: "max_iterations",
      flag: "max-iterations",
      variable: "OXBOW_MAX_TURNS",
      fallback: 100,
      read: read.wholeNumber,
    }),
    max_output_tokens: pick({ key: "max_output_tokens", fallback: undefined, read: read.wholeNumber }),
    max_answer_chars: pick({ key: "max_answer_chars", fallback: 10_000_000, read: read.wholeNumber }),
    effort: pick<Effort | undefined>({
      key: "effort",
      flag: "effort",
      variable: "OXBOW_EFFORT",
      fallback: undefined,
      read: read.effort,
    }),
    tool_sets: pick({ key: "tool_sets", flag: "tool-set", fallback: DEFAULT_SETS, read: read.toolSets }),
    permission_mode: pick<PermissionMode>({
      key: "permission_mode",
      flag: "permission-mode",
      fallback: "auto",
      read: read.permissionMode,
    }),
    system_prompt: pick({ key: "system_prompt", flag: "system-prompt", fallback: undefined, read: read.textOrFile }),
    timeout_ms: pick({ key: "timeout_ms", flag: "timeout", fallback: undefined, read: read.duration }),
    run_timeout_ms: pick<number | undefined>({
      key: "run_timeout_ms",
      flag: "run-timeout",
      fallback: 5 * 60_000,
      read: read.limit,
    }),
    ollama_timeout_ms: pick<number | undefined>({
      key: "ollama_timeout_ms",
      flag: "ollama-timeout",
      fallback: undefined,
      read: read.limit,
    }),
    retry_wait_ms: pick({ key: "retry_wait_ms", flag: "retry-wait", fallback: 300_000, read: read.wait }),
    store: pick<string | undefined>({
      key: "store",
      flag: "store",
      variable: "OXBOW_STORE",
      fallback: undefined,
      read: readStoreSetting,
    }),
    session_key: pick<KeySource>({ key: "session_key", fallback: "file", read: read.keySource }),
    retention_days: pick({ key: "retention_days", fallback: 30, read: read.wholeNumber }),
    credential_key: pick<CredentialKeyChoice>({ key: "credential_key", fallback: "file", read: read.credentialKey }),
    credential_idle_ms: pick({ key: "credential_idle_ms", fallback: 15 * 60_000, read: read.duration }),
    permissions: {
      value: profile.permissions,
      origin: profile.permissions === undefined ? "default" : `${profilePath} (permissions)`,
    },
    routes: {
      value: profile.routes,
      origin: profile.routes === undefined ? "default" : `${profilePath} (routes)`,
    },
    providers: {
      value: tables("providers", profile, profilePath),
      origin: profile.providers === undefined ? "default" : `${profilePath} (providers)`,
    },
    strict_permissions: given("strict-permissions"),
    auto_approve: given("auto-approve"),
    plan: given("plan"),
    permission_timeout: pick<number | undefined>({
      key: "permission_timeout",
      fallback: DEFAULT_PERMISSION_TIMEOUT_MS,
      read: (text) => (text === "off" ? undefined : read.duration(text)),
    }),
    sandbox: pick<SandboxMode>({ key: "sandbox", flag: "sandbox", fallback: "auto", read: read.sandboxMode }),
    sandbox_hosts: pick<readonly string[]>({ key: "sandbox_hosts", fallback: [], read: read.words }),
    sandbox_writable: pick<readonly string[]>({ key: "sandbox_writable", fallback: [], read: read.writableFolders }),
    sandbox_unix_sockets: pick({ key: "sandbox_unix_sockets", fallback: false, read: read.onOrOff }),
    sandbox_container: pick<string | undefined>({ key: "sandbox_container", fallback: undefined, read: read.image }),
    web_hosts: pick<readonly string[]>({ key: "web_hosts", fallback: [], read: read.words }),
    web_names: pick<"check" | "proxy">({ key: "web_names", fallback: "check", read: read.webNames }),
    proxy: pick<string | undefined>({ key: "proxy", fallback: undefined, read: String }),
    no_proxy: pick<string | undefined>({ key: "no_proxy", fallback: undefined, read: String }),
    ca_file: pick<string | undefined>({ key: "ca_file", fallback: undefined, read: read.certificateFile }),
    spinner: pick<SpinnerKind>({ key: "spinner", fallback: "verses", read: read.spinner }),
    screen_reader: pick<boolean>({ key: "screen_reader", fallback: false, read: read.yesOrNo }),
    theme: pick<string | undefined>({ key: "theme", fallback: undefined, read: read.theme }),
    untrusted_results: pick<UntrustedResults>({
      key: "untrusted_results",
      fallback: "wrap",
      read: read.untrustedResults,
    }),
    context_sources: pick<readonly string[]>({
      key: "context_sources",
      fallback: ["AGENTS.md"],
      read: read.contextSources,
    }),
    output_bytes: pick({ key: "output_bytes", fallback: DEFAULT_OUTPUT_BYTES, read: read.wholeNumber }),
    context_bytes: pick({ key: "context_bytes", fallback: DEFAULT_INSTRUCTION_BYTES, read: read.wholeNumber }),
    compact_at: pick<number | undefined>({ key: "compact_at", fallback: 0.8, read: read.windowShare }),
    num_ctx: pick({ key: "num_ctx", fallback: undefined, read: read.wholeNumber }),
    keep_alive: pick({ key: "keep_alive", fallback: undefined, read: read.keepAlive }),
    local_idle_ms: pick<number | undefined>({
      key: "local_idle_ms",
      fallback: undefined,
      read: (text) => (text === "off" ? undefined : read.duration(text)),
    }),
    log: pick({
      key: "log",
      flag: "log-level",
      variable: "OXBOW_LOG",
      fallback: { standard: "info", byComponent: new Map() },
      read: read.logLevels,
    }),
    budget: pick({ key: "budget", flag: "budget", fallback: undefined, read: read.budget }),
    budget_turn: pick({ key: "budget_turn", fallback: undefined, read: read.budget }),
    budget_session: pick({ key: "budget_session", fallback: undefined, read: read.budget }),
    budget_day: pick({ key: "budget_day", fallback: undefined, read: read.budget }),
    models: await modelTables(profile, profilePath),
    catalogue_url: pick({ key: "catalogue_url", variable: "OXBOW_CATALOGUE_URL", fallback: undefined, read: String }),
  };
  return { settings, roots: where, profilePath, warnings };
}

/** What the settings say about models on this machine. */
export function localOptions({ num_ctx, keep_alive, local_idle_ms, ollama_timeout_ms }: Settings): LocalOptions {
  return {
    ...(local_idle_ms.value !== undefined && { idleMs: local_idle_ms.value }),
    ...(ollama_timeout_ms.value !== undefined && { answerMs: ollama_timeout_ms.value }),
    ...(num_ctx.value !== undefined && { numCtx: num_ctx.value }),
    ...(keep_alive.value !== undefined && { keepAlive: keep_alive.value }),
  };
}

function resolve<T>(
  definition: Definition<T>,
  from: { flags: ParsedFlags; variables: Variables; profile: Profile; profilePath: string },
): Setting<T> {
  const { flag, variable, read } = definition;
  const attempt = (text: string, origin: string): Setting<T> => {
    try {
      return { value: read(text), origin };
    } catch (error) {
      if (error instanceof UsageError) throw new UsageError(`${origin}: ${error.message}`);
      throw error;
    }
  };
  if (flag !== undefined && from.flags.has(flag)) {
    return attempt(from.flags.text(flag) ?? from.flags.list(flag).join(","), `--${flag}`);
  }
  const fromEnvironment = variable === undefined ? undefined : from.variables[variable];
  if (variable !== undefined && fromEnvironment) return attempt(fromEnvironment, variable);
  const key = definition.key.replace(/_ms$/, "");
  const written = from.profile[key];
  if (written !== undefined) {
    return attempt(Array.isArray(written) ? written.join(",") : String(written), `${from.profilePath} (${key})`);
  }
  return { value: definition.fallback, origin: "default" };
}

function tables(key: string, profile: Profile, profilePath: string): unknown {
  const value = profile[key];
  if (value === undefined || (typeof value === "object" && !Array.isArray(value))) return value;
  throw new UsageError(`${profilePath} (${key}): expected tables such as [${key}.NAME].`);
}

/** Most machines have no profile, so nothing is loaded for the check. */
async function readProfile(
  path: string,
  { required }: { readonly required: boolean },
): Promise<{ profile: Profile; warnings: readonly string[] }> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    if (missing && !required) return { profile: {}, warnings: [] };
    throw new UsageError(`Cannot read the profile ${path}: ${(error as Error).message}`);
  }
  const { parse } = await import("smol-toml");
  let profile: Profile;
  try {
    profile = parse(text);
  } catch (error) {
    throw new UsageError(tomlProblem(path, error));
  }
  checkVersion(profile, path);
  await checkPermissions(profile, path);
  const unknown = Object.keys(profile).filter((key) => !PROFILE_KEYS.includes(key));
  return { profile, warnings: unknown.map((key) => `${path}: unknown key "${key}" is ignored.${meant(key)}`) };
}

function meant(key: string): string {
  const near = nearest(key, PROFILE_KEYS);
  return near === undefined ? "" : ` Did you mean "${near}"?`;
}

/** Where it is wrong, as editors and compilers write it. */
function tomlProblem(path: string, error: unknown): string {
  const { line, column, message } = error as { line?: number; column?: number; message: string };
  const place = line === undefined ? "" : `, line ${line}, column ${column ?? 1}`;
  const detail = message.split("\n")[0]?.replace(/^Invalid TOML document: /, "");
  return `${path}${place} is not valid TOML: ${detail}.`;
}

/** A newer profile may contain settings that this program does not know. */
function checkVersion({ schema_version: version }: Profile, path: string): void {
  if (version === undefined || version === PROFILE_VERSION) return;
  throw new UsageError(
    `${path}: schema_version is ${JSON.stringify(version)}, and this Oxbow reads ${PROFILE_VERSION}. Upgrade Oxbow, or write schema_version = ${PROFILE_VERSION}.`,
  );
}

/** An invalid key may be the one that denies, so the run stops. */
async function checkPermissions({ permissions }: Profile, path: string): Promise<void> {
  if (permissions === undefined) return;
  const { parsePermissions } = await import("../../security/permissions/parse-rules.js");
  const { problems } = parsePermissions(permissions, { file: path, scope: "user" }, { home: homedir() });
  if (problems.length > 0) throw new UsageError(problems.join("\noxbow: "));
}

async function modelTables({ models }: Profile, path: string): Promise<Setting<Overrides | undefined>> {
  if (models === undefined) return { value: undefined, origin: "default" };
  const { readOverrides } = await import("../../providers/catalogue/overrides.js");
  try {
    return { value: readOverrides(models), origin: `${path} (models)` };
  } catch (error) {
    throw new UsageError(`${path}: ${(error as Error).message}`);
  }
}
