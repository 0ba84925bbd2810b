/**
 * Lists what stays readable of the user's home folder for a build: the tool chains that PATH and a few variables name, and what was
 * downloaded for them. The list has known names only: a folder that merely looks useful may hold something private.
 */
import { existsSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { textAt } from "../../system/names-in.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { isWithin } from "../../system/within.js";

export type Variables = Readonly<Record<string, string | undefined>>;

const list = (words: string) => words.split(" ");

/** Version managers and tool chains that live in one folder: where PATH leads into it, all of it is readable. */
const ROOTS = list(
  ".nvm .volta .fnm .nodenv .nodebrew .nvs .n .pyenv .rye .pixi .poetry .rbenv .rvm .jenv .goenv .phpenv .phpbrew .asdf .proto " +
    ".sdkman .jbang .bun .deno .juliaup .julia .ghcup .opam .dotnet .elan .nimble .luarocks .swiftly .swiftenv .foundry " +
    ".npm-global .npm-packages .yarn .moon .rustup .composer/vendor .config/composer/vendor .local/share/mise .local/share/fnm " +
    ".local/share/pnpm .local/share/uv .local/share/pipx .local/share/swiftly",
);

/** A folder of PATH that needs others beside it. */
const COMPANIONS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    ".cargo/bin": list(".rustup .cargo/registry .cargo/git"),
    "go/bin": list("go/pkg/mod"),
    ".local/bin": list(
      ".local/lib .local/pipx .local/share/pipx .local/share/uv .local/share/mise .local/share/fnm .local/share/pnpm",
    ),
    ".cabal/bin": list(".cabal/packages .cabal/store"),
  }),
);

/** Variables that name where a tool chain is installed. */
const VARIABLES = list(
  "NVM_DIR VOLTA_HOME FNM_DIR JAVA_HOME JDK_HOME MAVEN_HOME M2_HOME GRADLE_HOME ANDROID_HOME ANDROID_SDK_ROOT GOROOT RUSTUP_HOME " +
    "PYENV_ROOT VIRTUAL_ENV CONDA_PREFIX POETRY_HOME PIPX_HOME RBENV_ROOT GEM_HOME DOTNET_ROOT ASDF_DIR ASDF_DATA_DIR " +
    "MISE_DATA_DIR PLAYWRIGHT_BROWSERS_PATH SDKROOT",
);

/** Names what was downloaded or installed for builds, wherever the program lies that uses it. */
const DOWNLOADS = list(
  ".m2/repository .nuget/packages .gem .local/share/gem .local/lib .local/share/virtualenvs .virtualenvs .cache/pypoetry/virtualenvs " +
    ".cache/ms-playwright .cache/Cypress .cache/puppeteer .cache/electron .cache/node-gyp .cache/coursier .cache/pre-commit " +
    ".yarn/berry/cache .ivy2/cache .sbt/boot .stack .mix .pub-cache go/pkg/mod .opam .bundle/cache .konan",
);

/** Read by tools that work on a repository; shown only if they contain no login. */
const SETTINGS = list(
  ".gitconfig .config/git/config .config/git/ignore .config/git/attributes .gitignore .gitignore_global .cargo/config.toml",
);

export interface ToolChainOptions {
  readonly home: string;
  readonly variables: Variables;
}

/** Absolute paths below the home folder, existing or not. */
export function toolChains({ home, variables }: ToolChainOptions): string[] {
  const found = new Set<string>();
  for (const entry of (variables.PATH ?? "").split(":")) {
    for (const path of [entry, realpathOrSelf(entry)]) for (const each of ofPathEntry(path, home)) found.add(each);
  }
  for (const name of VARIABLES) {
    const value = variables[name] ?? "";
    if (isStrictlyWithin(value, home) && !isWithin(dirname(value), join(home, ".config"))) found.add(value);
  }
  for (const name of DOWNLOADS) found.add(join(home, name));
  for (const name of SETTINGS) if (isHarmless(join(home, name))) found.add(join(home, name));
  return [...found];
}

function ofPathEntry(entry: string, home: string): string[] {
  if (!isStrictlyWithin(entry, home)) return [];
  const below = relative(home, entry);
  const root = ROOTS.find((name) => below === name || below.startsWith(`${name}/`));
  if (root !== undefined) return [join(home, root)];
  const beside = (COMPANIONS.get(below) ?? []).map((name) => join(home, name));
  const prefix = dirname(entry);
  // A folder of programs in the home folder itself, or in one of its dotted ones, says nothing about what is beside it.
  const isPrefix =
    basename(entry) === "bin" && isStrictlyWithin(prefix, home) && !/^\.[^/]*$/.test(relative(home, prefix));
  return [...(isPrefix ? [prefix, ...interpreterOf(prefix, home)] : [entry]), ...beside];
}

/** A virtual environment of Python says where its interpreter lies. */
function interpreterOf(prefix: string, home: string): string[] {
  const configured = /^home\s*=\s*(.+)$/m.exec(textAt(join(prefix, "pyvenv.cfg")))?.[1]?.trim();
  return configured === undefined || configured === join(home, "bin")
    ? []
    : ofPathEntry(realpathOrSelf(configured), home);
}

const LOGIN = /token|passw|secret|extraheader|:\/\/[^/\s"]*@|_auth/i;

function isHarmless(file: string): boolean {
  return existsSync(file) && !LOGIN.test(textAt(file));
}

function isStrictlyWithin(path: string, folder: string): boolean {
  return path !== folder && isWithin(path, folder);
}
