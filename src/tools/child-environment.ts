/**
 * The environment of the programs that tools start.
 *
 * 1. Oxbow's own programs (git, hooks, servers) get `core`: a variable passes only if its name is listed here.
 * 2. Commands of the model get what the user's policy says; by default everything but secrets (by name or value) and variables that make
 *    every program load code or change what a command means (NODE_OPTIONS, LD_PRELOAD, BASH_ENV, GIT_DIR …).
 * 3. Addresses pass without the user name and password in them. The rule for `core` is idempotent.
 */
const BASICS = [
  ..."PATH HOME USER LOGNAME SHELL TERM COLORTERM LANG LANGUAGE PWD TMPDIR TMP TEMP TZ HOSTNAME CI NO_COLOR".split(" "),
  ..."XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME".split(" "),
];

/** Folders of tool chains: never code to load or options to obey. */
const TOOL_CHAINS = [
  ..."NVM_DIR NVM_BIN VOLTA_HOME FNM_DIR PNPM_HOME BUN_INSTALL DENO_DIR DENO_INSTALL COREPACK_HOME".split(" "),
  ..."JAVA_HOME JDK_HOME MAVEN_HOME M2_HOME GRADLE_HOME GRADLE_USER_HOME ANDROID_HOME ANDROID_SDK_ROOT".split(" "),
  ..."GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOPROXY CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN".split(" "),
  ..."PYENV_ROOT PYENV_VERSION VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV CONDA_EXE POETRY_HOME PIPX_HOME".split(" "),
  ..."UV_CACHE_DIR PIP_CACHE_DIR RBENV_ROOT GEM_HOME GEM_PATH BUNDLE_PATH DOTNET_ROOT".split(" "),
  ..."ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR HOMEBREW_PREFIX HOMEBREW_CELLAR HOMEBREW_REPOSITORY NIX_PROFILES".split(" "),
  ..."SDKROOT DEVELOPER_DIR PLAYWRIGHT_BROWSERS_PATH".split(" "),
];

const NETWORK = [
  ..."HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY".split(" "),
  ..."SSL_CERT_FILE SSL_CERT_DIR NIX_SSL_CERT_FILE NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE".split(" "),
];

const WINDOWS = [
  ..."SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT OS USERNAME USERPROFILE HOMEDRIVE HOMEPATH".split(" "),
  ..."APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 NUMBER_OF_PROCESSORS".split(" "),
];

const NAMES: ReadonlySet<string> = new Set([...BASICS, ...TOOL_CHAINS, ...NETWORK, ...WINDOWS]);
const PREFIXES = ["LC_", "OLLAMA_", "OXBOW_"];

const SECRET_NAME =
  /KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASSCODE|CREDENTIAL|PRIVATE|BEARER|COOKIE|JWT|(^|_)(AUTH|PASS|PWD|PIN|SALT)(_|$)/;
/** The usual prefixes of keys and tokens. */
const SECRET_VALUE =
  /\b(sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[abeprs]|npm|hf|gsk|AIza|AKIA|ASIA|eyJ)[-_A-Za-z0-9]{16,}|-----BEGIN /;

/** Stops programs from asking, paging, opening editors and buffering their output, and tells them where they are. */
const NOBODY_IS_THERE: Readonly<Record<string, string>> = {
  PAGER: "cat",
  MANPAGER: "cat",
  GIT_PAGER: "cat",
  SYSTEMD_PAGER: "cat",
  EDITOR: "true",
  VISUAL: "true",
  GIT_EDITOR: "true",
  GIT_TERMINAL_PROMPT: "0",
  DEBIAN_FRONTEND: "noninteractive",
  PIP_NO_INPUT: "1",
  PYTHONUNBUFFERED: "1",
  // A command sees the workspace as a file system of its own, and its repository may begin above it.
  GIT_DISCOVERY_ACROSS_FILESYSTEM: "1",
  // An Oxbow that sees this variable was started by a model: it asks no questions and approves nothing.
  OXBOW_AGENT: "1",
};

const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export interface EnvironmentPolicy {
  /** `filtered`: all but secrets. `core`: the listed names. `none`: what a shell needs. `all`: everything, secrets included. */
  readonly inherit: "filtered" | "core" | "none" | "all";
  /** Names that pass in any case, and names that never do; `*` stands for any characters. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly set: Readonly<Record<string, string>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

const CORE: EnvironmentPolicy = { inherit: "core", include: [], exclude: [], set: {} };
export const FILTERED: EnvironmentPolicy = { ...CORE, inherit: "filtered" };

export function childEnvironment(env: Environment, policy: EnvironmentPolicy = CORE): Record<string, string> {
  const child: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || withheld(name, value, { env, policy }) !== undefined) continue;
    const isAsIs = policy.inherit === "all" || isAmong(policy.include, name);
    child[name] = isAsIs ? value : withoutLogin(name, value);
  }
  Object.assign(child, policy.set);
  if (child.PATH === undefined && process.platform !== "win32") child.PATH = DEFAULT_PATH;
  child.TERM ??= "dumb";
  return Object.assign(child, NOBODY_IS_THERE);
}

export type Withheld = "excluded" | "secret" | "loads code" | "of npm" | "not listed";

/** Tells why commands do not get a variable; undefined if they do. */
function withheld(
  name: string,
  value: string,
  { env, policy }: { readonly env: Environment; readonly policy: EnvironmentPolicy },
): Withheld | undefined {
  const { inherit, include, exclude } = policy;
  if (isAmong(exclude, name)) return "excluded";
  if (isAmong(include, name) || inherit === "all") return undefined;
  const upper = name.toUpperCase();
  if (inherit === "core") return mayPass(upper, value) ? undefined : "not listed";
  if (inherit === "none") return NEEDED.has(upper) ? undefined : "not listed";
  if (isSecret(upper, value)) return "secret";
  if (LOADS_CODE.test(upper)) return "loads code";
  // It describes the script that started Oxbow, and confuses every npm below.
  if (env.npm_lifecycle_event !== undefined && /^npm_|^INIT_CWD$/.test(name)) return "of npm";
  return undefined;
}

/** Names only: a value may be a secret. */
export interface EnvironmentReport {
  readonly passed: readonly string[];
  /** By reason. */
  readonly withheld: Readonly<Partial<Record<Withheld, readonly string[]>>>;
  /** The settings give them a value. */
  readonly set: readonly string[];
}

/** `secrets`: the names of variables that are missing in `env`, because its client left them out. */
export function environmentReport(
  env: Environment,
  policy: EnvironmentPolicy,
  secrets: readonly string[] = [],
): EnvironmentReport {
  const passed: string[] = [];
  const left: Partial<Record<Withheld, string[]>> = secrets.length > 0 ? { secret: [...secrets].sort() } : {};
  for (const [name, value] of Object.entries(env).sort()) {
    if (value === undefined || secrets.includes(name)) continue;
    const why = withheld(name, value, { env, policy });
    if (why === undefined) passed.push(name);
    else left[why] = [...(left[why] ?? []), name];
  }
  return { passed, withheld: left, set: Object.keys(policy.set) };
}

/** `secret: A_TOKEN, B_KEY` for each reason. */
export function withheldLines({ withheld: left }: EnvironmentReport): readonly string[] {
  return Object.entries(left).map(([why, names]) => `${why}: ${names.join(", ")}`);
}

const NEEDED: ReadonlySet<string> = new Set("PATH HOME USER LOGNAME SHELL TERM LANG TMPDIR".split(" "));

function isAmong(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => {
    const parts = pattern.split("*").map((part) => part.replace(/[^\w]/g, "\\$&"));
    return new RegExp(`^${parts.join(".*")}$`, "i").test(name);
  });
}

function isSecret(upper: string, value: string): boolean {
  return !NAMES.has(upper) && (SECRET_NAME.test(upper) || SECRET_VALUE.test(value));
}

/** Tells what a client brings for a session in another process: everything but secrets. Proxies keep their logins, which requests need. */
export function sessionEnvironment(env: Environment, { inherit, include }: EnvironmentPolicy): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    const isWanted = inherit === "all" || isAmong(include, name);
    if (isWanted || !isSecret(name.toUpperCase(), value)) kept[name] = value;
  }
  return kept;
}

function mayPass(name: string, value: string): boolean {
  if (NAMES.has(name)) return true;
  return PREFIXES.some((prefix) => name.startsWith(prefix)) && !SECRET_NAME.test(name) && !SECRET_VALUE.test(value);
}

/** They make every program of their kind load code, run another program or ignore how it was called. */
const LOADS_CODE =
  /^(LD_.*|DYLD_.*|BASH_ENV|ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|IFS|PS4|PROMPT_COMMAND|NODE_OPTIONS|PYTHONSTARTUP|PYTHONHOME|PERL5OPT|PERL5DB|RUBYOPT|LUA_INIT.*|_?JAVA_(TOOL_)?OPTIONS|JDK_JAVA_OPTIONS|LESSOPEN|LESSCLOSE|BROWSER|.*_?ASKPASS|.*PAGER|SSH_.*|GIT_(?!(AUTHOR|COMMITTER)_).*|GCONV_PATH)$/;

/**
 * The value of a variable that a user's or an approved hook adds for commands; undefined if it may not. Any name may be added but those
 * that look like a secret, that load code, or that Oxbow sets itself.
 */
export function addedValue(name: string, value: string): string | undefined {
  const upper = name.toUpperCase();
  const isOwn = upper.startsWith("OXBOW_") || Object.hasOwn(NOBODY_IS_THERE, upper) || upper === "PWD";
  if (isOwn || LOADS_CODE.test(upper) || SECRET_NAME.test(upper) || SECRET_VALUE.test(value)) return undefined;
  return value.includes("\0") ? undefined : withoutLogin(name, value);
}

/** `http://me:word@proxy:80` becomes `http://proxy:80`; proxies are also written without the scheme. */
function withoutLogin(name: string, value: string): string {
  const addresses = value.replace(/([a-z][a-z0-9+.-]*:\/\/)[^/\s]*@/gi, "$1");
  return /_PROXY$/i.test(name) ? addresses.replace(/^[^/\s]*@/, "") : addresses;
}
