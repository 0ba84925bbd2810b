/**
 * The home folder of commands that run without asking: empty except tool chains, with caches that this
 * workspace's commands have for themselves.
 *
 * 1. Nothing outside the sandbox uses anything in it: only later commands of the same workspace see what a command leaves in a
 *    cache.
 * 2. If a tool can read the user's earlier downloads, it does: there is no network to download them again. Once the
 *    workspace has its own downloads, made by a command with network access, it uses those.
 * 3. A folder that is mounted never lies in one that a command can change: a link put there would lead the mount elsewhere.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { isWithin } from "../../system/within.js";
import type { OwnCaches, PrivateHome } from "../sandbox/policy.js";
import { toolChains, type Variables } from "./tool-chains.js";

export interface PrivateHomeOptions {
  readonly home: string;
  readonly workspace: string;
  readonly variables: Variables;
  /** Oxbow's cache folder. */
  readonly cacheFolder: string;
  readonly network: "off" | "open";
}

/** Says why no home folder can be hidden; undefined when one can. */
export function whyNoPrivateHome({ home, workspace }: Pick<PrivateHomeOptions, "home" | "workspace">) {
  const real = realPath(home);
  if (real === undefined) return "there is no home folder.";
  if (real === "/") return "the home folder is the whole file system.";
  return isWithin(real, workspace) ? "the workspace holds your home folder." : undefined;
}

/** Home folders of other people, and the one of Windows where its disk is mounted: no build needs them. */
export function otherHomes(home: string): string[] {
  const own = realPath(home) ?? home;
  const all = [
    "/root",
    ...["/home", "/Users", "/mnt/c/Users"].flatMap((parent) => subfolders(parent).map((name) => join(parent, name))),
  ];
  return all.filter((each) => !isWithin(own, each));
}

/** Describes what the commands of a workspace keep between them, also where the home folder of the user is readable. */
export function ownCaches(options: PrivateHomeOptions): OwnCaches {
  const cache = join(ownFolder(options), "caches");
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  const home = realPath(options.home) ?? options.home;
  return { cache, environment: cacheVariables({ ...options, home }, cache) };
}

function ownFolder({ cacheFolder, workspace }: PrivateHomeOptions): string {
  return join(cacheFolder, "builds", createHash("sha256").update(workspace).digest("hex").slice(0, 24));
}

export function privateHome(options: PrivateHomeOptions): PrivateHome {
  const path = realPath(options.home) ?? options.home;
  const place = { ...options, home: path };
  const { cache, environment } = ownCaches(place);
  const gradle = gradleHome(place, ownFolder(options));
  const readable = [...toolChains(place), ...enclosingRepository(place)].map((each) => [each, each] as const);
  return {
    path,
    cache,
    readable: { ...Object.fromEntries(readable), ...gradle.readable },
    cached: gradle.cached,
    environment: { ...environment, ...gradle.environment },
  };
}

/** Each tool's own variable; other tools write to the private home folder, which is deleted after the command. */
const CACHES: Readonly<Record<string, string>> = {
  XDG_CACHE_HOME: "xdg",
  npm_config_cache: "npm",
  // Its store is inside. As `npm_config_store_dir` every command of npm would warn about it.
  PNPM_HOME: "pnpm",
  YARN_CACHE_FOLDER: "yarn",
  BUN_INSTALL_CACHE_DIR: "bun",
  DENO_DIR: "deno",
  COREPACK_HOME: "corepack",
  PIP_CACHE_DIR: "pip",
  UV_CACHE_DIR: "uv",
  POETRY_CACHE_DIR: "poetry",
  PIPENV_CACHE_DIR: "pipenv",
  PRE_COMMIT_HOME: "pre-commit",
  GOCACHE: "go-build",
  GOBIN: "go-bin",
  GOLANGCI_LINT_CACHE: "golangci-lint",
  BUNDLE_USER_CACHE: "bundle",
  COMPOSER_CACHE_DIR: "composer",
  NUGET_HTTP_CACHE_PATH: "nuget-http",
  CCACHE_DIR: "ccache",
  SCCACHE_DIR: "sccache",
  ZIG_GLOBAL_CACHE_DIR: "zig",
};

/** They say what a build should not try, or should not wait for. */
const QUIET: Readonly<Record<string, string>> = {
  npm_config_update_notifier: "false",
  NO_UPDATE_NOTIFIER: "1",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  DOTNET_CLI_TELEMETRY_OPTOUT: "1",
  DOTNET_NOLOGO: "1",
  GOTELEMETRY: "off",
};

const OFFLINE: Readonly<Record<string, string>> = { CARGO_NET_OFFLINE: "true", UV_OFFLINE: "1" };

function cacheVariables({ home, variables, network }: PrivateHomeOptions, cache: string): Record<string, string> {
  const own = (name: string) => join(cache, name);
  const all: Record<string, string> = { ...QUIET, ...(network === "off" ? OFFLINE : {}) };
  for (const [name, folder] of Object.entries(CACHES)) all[name] = own(folder);
  // The user's downloads are used until the workspace has its own.
  const usesOwn = (folder: string) => network === "open" || existsSync(own(folder));
  const theirs = variables.GOMODCACHE ?? join(variables.GOPATH ?? join(home, "go"), "pkg/mod");
  all.GOMODCACHE = usesOwn("go-mod") || !existsSync(theirs) ? own("go-mod") : theirs;
  if (usesOwn("cargo")) all.CARGO_HOME = own("cargo");
  if (usesOwn("nuget")) all.NUGET_PACKAGES = own("nuget");
  const poetry = join(home, ".cache/pypoetry/virtualenvs");
  if (existsSync(poetry)) all.POETRY_VIRTUALENVS_PATH = poetry;
  for (const [name, folder] of BROWSERS) {
    const there = join(home, ".cache", folder);
    if (existsSync(there)) all[name] = variables[name] ?? there;
  }
  const maven = join(home, ".m2/repository");
  // Maven 3.9 and newer write into the one and look into the other; older ones read the user's repository.
  all.MAVEN_ARGS = `-Dmaven.repo.local=${own("maven")} -Dmaven.repo.local.tail=${maven}`;
  return all;
}

const BROWSERS = [
  ["PLAYWRIGHT_BROWSERS_PATH", "ms-playwright"],
  ["CYPRESS_CACHE_FOLDER", "Cypress"],
  ["PUPPETEER_CACHE_DIR", "puppeteer"],
] as const;

interface GradleHome {
  readonly readable: Readonly<Record<string, string>>;
  readonly cached: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Gradle has a variable for downloads that it only reads. Its wrapper locks a file beside each unpacked version, so only the
 * versions themselves are read-only.
 */
function gradleHome({ home, workspace }: PrivateHomeOptions, own: string): GradleHome {
  const isUsed = ["gradlew", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"].some(
    (name) => existsSync(join(workspace, name)),
  );
  if (!isUsed) return { readable: {}, cached: {}, environment: {} };
  const theirs = join(home, ".gradle");
  const ours = join(home, ".oxbow-gradle");
  const caches = join(own, "gradle");
  mkdirSync(caches, { recursive: true, mode: 0o700 });
  const downloads = join(theirs, "caches");
  const readable: Record<string, string> = { [downloads]: downloads };
  for (const version of subfolders(join(theirs, "wrapper/dists"))) {
    for (const hash of subfolders(join(theirs, "wrapper/dists", version))) {
      const folder = join("wrapper/dists", version, hash);
      for (const name of [...subfolders(join(theirs, folder)), `${version}.zip.ok`])
        readable[join(ours, folder, name)] = join(theirs, folder, name);
    }
  }
  return {
    readable,
    cached: { [join(ours, "caches")]: caches },
    environment: { GRADLE_USER_HOME: ours, GRADLE_RO_DEP_CACHE: downloads },
  };
}

/** A workspace in a folder of a repository builds with what lies above it. */
function enclosingRepository({ home, workspace }: PrivateHomeOptions): string[] {
  for (let folder = workspace; isWithin(folder, home) && folder !== home; folder = dirname(folder)) {
    if (folder !== workspace && existsSync(join(folder, ".git"))) return [folder];
  }
  return [];
}

function subfolders(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name);
  } catch {
    return [];
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
