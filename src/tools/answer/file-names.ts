/** Describes what looks like the name of a file in an answer, and which language fits it. */

const NAMES: ReadonlySet<string> = new Set(
  "Makefile Dockerfile Containerfile Justfile justfile Procfile Gemfile Rakefile LICENSE CODEOWNERS".split(" "),
);

/** `src/a`, `README.md`, `Makefile`. Another name without a dot is a language, and a number is a version. */
export function looksLikePath(word: string): boolean {
  if (!/^[^\s`"'<>|*?:]+$/.test(word) || /[\p{Cc}\p{Cf}]/u.test(word) || word.endsWith("/") || /^v?[\d.]+$/.test(word))
    return false;
  return (
    NAMES.has(word) || word.includes("/") || /^\.?[\w@-][\w@.-]*\.[A-Za-z0-9]+$/.test(word) || /^\.[a-z]\w*$/.test(word)
  );
}

/** Words for one language: what follows a fence, and the endings of its files. */
const LANGUAGES: readonly string[] = [
  "ts typescript tsx mts cts js javascript jsx mjs cjs node vue svelte astro",
  "py python python3 pyi pyw",
  "sh bash shell zsh fish ksh",
  "ps1 powershell psm1",
  "bat cmd batch",
  "json jsonc json5 ipynb webmanifest",
  "yaml yml",
  "toml",
  "ini cfg conf properties",
  "md markdown mdx",
  "html htm xhtml ejs hbs handlebars jinja j2",
  "xml svg xsd xsl csproj plist",
  "css scss sass less",
  "go golang mod",
  "rs rust",
  "java kt kts kotlin groovy gradle scala",
  "c h cpp c++ cc cxx hpp hh",
  "cs csharp c# fs fsx fsharp vb",
  "rb ruby gemfile rakefile erb",
  "php",
  "swift",
  "dart",
  "lua",
  "pl pm perl",
  "r",
  "jl julia",
  "ex exs elixir",
  "erl hrl erlang",
  "hs haskell",
  "ml mli ocaml",
  "clj cljs edn clojure",
  "sql",
  "graphql gql",
  "proto protobuf",
  "tf hcl terraform tfvars",
  "dockerfile containerfile docker",
  "makefile make mk justfile just",
  "tex latex bib",
  "zig",
  "nim",
  "vim",
  "csv tsv",
  "txt rst adoc",
  "nix",
  "prisma",
];

const GROUPS: ReadonlyMap<string, number> = new Map(
  LANGUAGES.flatMap((words, group) => words.split(" ").map((word) => [word, group] as const)),
);

/** Lists what a program printed, not what is in a file. */
const OUTPUTS: ReadonlySet<string> = new Set(
  "console terminal output shell-session shellsession log stdout".split(" "),
);

/** Names of products that look like files. */
const PRODUCTS = /^(?:node|vue|next|nuxt|react|express|three|d3|angular|ember|backbone|alpine|chart|solid|nest)\.js$/i;
const DOMAIN = /^[\w-][\w.-]*\.(?:com|org|net|io|dev|ai|edu|gov)(?:\/|$)/i;

/** Stricter than `looksLikePath`, for names that no fence marks as such: `console.log` and `Node.js` are no files. */
export function isFileName(word: string): boolean {
  if (!looksLikePath(word) || PRODUCTS.test(word) || DOMAIN.test(word)) return false;
  const base = baseOf(word);
  // `.ts` alone is an ending.
  if (NAMES.has(base) || (/^\.[a-z][\w.-]*$/.test(base) && !GROUPS.has(base.slice(1)))) return true;
  const ending = /^.+\.([A-Za-z]\w*)$/.exec(base)?.[1];
  return ending !== undefined && (word.includes("/") || GROUPS.has(ending.toLowerCase()));
}

/** Tells whether a block with this language can be the whole text of the file. Unknown words fit everything. */
export function fitsLanguage(path: string, language: string): boolean {
  const word = language.toLowerCase();
  if (OUTPUTS.has(word)) return false;
  const [wanted, given] = [groupOf(path), GROUPS.get(word)];
  return wanted === undefined || given === undefined || wanted === given;
}

/** Tells whether a line with `#` is a heading in this file. */
export function isMarkdown(path: string): boolean {
  return groupOf(path) === GROUPS.get("md");
}

function groupOf(path: string): number | undefined {
  const base = baseOf(path).toLowerCase();
  return GROUPS.get(/\.([^.]+)$/.exec(base)?.[1] ?? base);
}

function baseOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
