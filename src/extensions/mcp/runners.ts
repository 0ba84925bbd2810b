/**
 * Programs that fetch a server and run it. They read settings of the folder they start in, and prefer programs there, so a folder decides
 * what they run.
 *
 * 1. The user's own servers start them outside the folder: a repository must not run code in a server that has the user's keys.
 * 2. For a server of the project, their settings belong to the files that are pinned.
 * 3. A server of the project whose code files of the project decide has no network: what it loads cannot be pinned, and a model can change it.
 *    They decide by its arguments, by variables that make it load code, and where a fetched interpreter runs them.
 */
import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isWithin } from "../../system/within.js";
import type { McpScope, StdioTransport } from "./server-config.js";

const NPM = [".npmrc"];
const UV = ["uv.toml", "pyproject.toml"];
const BUN = ["bunfig.toml", ...NPM];
/** With the files that change what they run. */
const RUNNERS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    ...{ npx: NPM, npm: NPM, pnpm: [...NPM, ".pnpmfile.cjs"], pnpx: [...NPM, ".pnpmfile.cjs"], corepack: NPM },
    ...{ yarn: [".yarnrc.yml", ".yarnrc", ...NPM], bun: BUN, bunx: BUN, deno: ["deno.json", "deno.jsonc"] },
    ...{
      uv: UV,
      uvx: UV,
      pipx: [],
      python: [],
      python2: [],
      python3: [],
      py: [],
      ruby: [],
      perl: [],
      php: ["php.ini"],
    },
  }),
);

function runnerOf(transport: Pick<StdioTransport, "command">): readonly string[] | undefined {
  return RUNNERS.get(programName(transport));
}

function programName({ command }: Pick<StdioTransport, "command">): string {
  return basename(command)
    .toLowerCase()
    .replace(/\.(?:exe|cmd|bat|ps1)$/, "")
    .replace(/(?<=^python\d)\.\d+$/, "");
}

/** They run a package of a registry. */
const FETCHERS: ReadonlySet<string> = new Set(["npx", "bunx", "pnpx", "uvx", "pipx run", "pnpm dlx", "yarn dlx"]);
/** These prefer a copy in the folder. */
const LOCAL_FIRST: ReadonlySet<string> = new Set(["npx", "bunx"]);
/** Matches what may stand before the name of the package; the second ones are followed by another name of a package. */
const HARMLESS = /^(?:-y|--yes|-q|--quiet|--prefer-offline|--prefer-online)$/;
const NAMES_PACKAGE = /^(?:-p|--package|--from|--with)$/;
const PACKAGE_NAME = /^(?:@[\w.-]+\/)?\w[\w.-]*(?:\[[\w,-]+\])?(?:@[\w.^~<>=-]+|==[\w.]+)?$/;
/** They run code of the folder they start in, whatever their arguments are. */
const INTERPRETERS: ReadonlySet<string> = new Set([
  ...[
    "node",
    "nodejs",
    "tsx",
    "ts-node",
    "vite-node",
    "babel-node",
    "jiti",
    "esno",
    "nodemon",
    "zx",
    "deno",
    "bun",
    "npm",
    "pnpm",
    "yarn",
    "corepack",
  ],
  ...["python", "python2", "python3", "py", "pypy", "pypy3", "uv", "pipx", "poetry", "pdm", "hatch", "rye"],
  ...["ruby", "bundle", "rake", "perl", "php", "lua", "java", "cargo", "go", "dotnet"],
  ...["sh", "bash", "dash", "zsh", "fish", "pwsh", "cmd", "env", "make", "just", "task"],
]);

/** Tells whether files of the project decide what a server does, beyond those that are pinned. `program` is the file of its command. */
export function isDecidedByFolder(
  transport: StdioTransport,
  place: { readonly program: string; readonly root: string; readonly top: string },
): boolean {
  const { program, root, top } = place;
  const from = transport.cwd ?? root;
  if (isWithin(program, top)) return true;
  const name = programName(transport);
  const [verb = "", ...rest] = transport.args;
  const fetcher = [name, `${name} ${verb}`].find((each) => FETCHERS.has(each));
  // A path counts before it exists: a model can make it.
  const isOfProject = (word: string) => {
    const path = resolve(from, word);
    return isWithin(path, top) && (/^\.|\//.test(word) || existsSync(path));
  };
  const loading = Object.entries(transport.env).filter(([variable]) => LOADS_CODE.test(variable));
  if (loading.flatMap(([, value]) => wordsIn(value)).some(isOfProject)) return true;
  const words = transport.args.flatMap(wordsIn);
  if (fetcher !== undefined) {
    const packages = fetchedPackages(fetcher === name ? transport.args : rest);
    return (
      packages === undefined ||
      packages.some((each) => INTERPRETERS.has(each.replace(VERSION, ""))) ||
      (LOCAL_FIRST.has(name) && packages.some((each) => hasPackage(each, { from, top }))) ||
      words.some((word) => SCRIPT.test(word) && isWithin(resolve(from, word), top))
    );
  }
  return INTERPRETERS.has(name) || words.some(isOfProject);
}

/** Programs load code by them, or find the programs that they run. */
const LOADS_CODE =
  /^(?:PATH|ENV|CLASSPATH|GCONV_PATH|_?JAVA.*|JDK_.*|(?:LD|DYLD|NODE(?!_EXTRA_CA_CERTS)|NPM_CONFIG|PNPM|YARN|BUN|DENO|UV|PIP|GEM|BUNDLE|LUA|DOTNET|BASH)_.*|(?:PYTHON|PERL5|RUBY|PHP).*|GO(?:BIN|ENV|FLAGS|PATH|ROOT|TOOLDIR|WORK))$/i;
export const SCRIPT =
  /\.(?:sh|bash|zsh|fish|ps1|py|pyz|rb|pl|php|lua|js|cjs|mjs|ts|cts|mts|jsx|tsx|jar|wasm|exe|cmd|bat)$/i;
const VERSION = /(?<=.)@[^/]*$/;

/** Tells what may be paths in an argument or a variable: `--import=./a.mjs`, `server.py:app`, `./lib:./other`. */
export function wordsIn(text: string): readonly string[] {
  const whole = /^[\w+-]+:\/\//.test(text) ? [] : [text];
  return [...whole, ...text.split(/[\s,:;=]+/)].filter((word) => word !== "");
}

/** The value of such an option of an interpreter is code, and the script still follows. */
const LOADER = /^-(?:r|-(?:require|import|(?:experimental-)?loader|preload))$/;

/** Names what is code whatever its name is: the script of an interpreter with all before it, and variables that load code. */
export function codeWords(transport: StdioTransport): readonly string[] {
  const { args, env } = transport;
  const isScript = (arg: string, at: number) => !arg.startsWith("-") && !LOADER.test(args[at - 1] ?? "");
  const script = INTERPRETERS.has(programName(transport)) ? args.findIndex(isScript) : -1;
  const loading = Object.entries(env).flatMap(([name, value]) => (LOADS_CODE.test(name) ? [value] : []));
  return [...args.slice(0, script + 1), ...loading].flatMap(wordsIn);
}

/** The names of the packages that are run; undefined if something else may be. */
function fetchedPackages(args: readonly string[]): readonly string[] | undefined {
  const packages: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? "";
    if (HARMLESS.test(arg)) continue;
    const isNamed = NAMES_PACKAGE.test(arg);
    const name = isNamed ? (args[++index] ?? "") : arg;
    if (!PACKAGE_NAME.test(name)) return undefined;
    packages.push(name);
    if (!isNamed) return packages;
  }
  return undefined;
}

/** A package in `node_modules` of the folder, or of one above it, comes before that of the registry. */
function hasPackage(named: string, { from, top }: { readonly from: string; readonly top: string }): boolean {
  const name = named.replace(VERSION, "");
  for (let folder = from; ; folder = dirname(folder)) {
    const places = [name, join(".bin", basename(name))];
    if (places.some((place) => existsSync(join(folder, "node_modules", place)))) return true;
    if (folder === top || folder === dirname(folder)) return false;
  }
}

/** The settings that exist in the folder and above it, up to `top`. */
export function runnerSettings(transport: StdioTransport, place: { readonly root: string; readonly top: string }) {
  const names = runnerOf(transport) ?? [];
  const found: string[] = [];
  for (let folder = transport.cwd ?? place.root; ; folder = dirname(folder)) {
    found.push(...names.map((name) => join(folder, name)).filter((file) => existsSync(file)));
    if (folder === place.top || folder === dirname(folder)) return found;
  }
}

/** Only the system can put files here. */
const OUTSIDE = "/";

/** Finds where a server starts, and its arguments for there. */
export function startPlace(
  transport: StdioTransport,
  { scope, root }: { readonly scope: McpScope; readonly root: string },
): Pick<StdioTransport, "args"> & { readonly cwd: string } {
  const { args, cwd } = transport;
  if (cwd !== undefined || scope === "project" || runnerOf(transport) === undefined) return { args, cwd: cwd ?? root };
  // A path that begins with a dot means the folder of the session.
  return { cwd: OUTSIDE, args: args.map((arg) => (/^\.{1,2}(?:\/|$)/.test(arg) ? resolve(root, arg) : arg)) };
}
