/** Kinds of files as people name them ("TypeScript files", ".md files", "*.py") and the name patterns that stand for them. */
export interface FileKind {
  /** For an answer: "TypeScript". */
  readonly label: string;
  /** Globs over file names, without a folder. */
  readonly names: readonly string[];
}

interface KindRow extends FileKind {
  readonly words: readonly string[];
}

function row(label: string, words: string, names: string): KindRow {
  return { label, words: words.split("|"), names: names.split(" ") };
}

const KINDS: readonly KindRow[] = [
  row("TypeScript", "typescript|ts|tsx", "*.ts *.tsx *.mts *.cts"),
  row("JavaScript", "javascript|js|jsx", "*.js *.jsx *.mjs *.cjs"),
  row("Python", "python|py", "*.py *.pyi"),
  row("Markdown", "markdown|md", "*.md *.markdown *.mdx"),
  row("JSON", "json", "*.json *.jsonc"),
  row("YAML", "yaml|yml", "*.yaml *.yml"),
  row("TOML", "toml", "*.toml"),
  row("XML", "xml", "*.xml"),
  row("HTML", "html|htm", "*.html *.htm"),
  row("CSS", "css|stylesheet|style", "*.css *.scss *.sass *.less"),
  row("Rust", "rust|rs", "*.rs"),
  row("Go", "go|golang", "*.go"),
  row("Java", "java", "*.java"),
  row("Kotlin", "kotlin|kt", "*.kt *.kts"),
  row("Swift", "swift", "*.swift"),
  row("C", "c", "*.c *.h"),
  row("C++", "c++|cpp|cxx", "*.cc *.cpp *.cxx *.hh *.hpp *.hxx"),
  row("C#", "c#|csharp|cs", "*.cs"),
  row("Ruby", "ruby|rb", "*.rb"),
  row("PHP", "php", "*.php"),
  row("shell", "shell|bash|sh|shell script", "*.sh *.bash *.zsh"),
  row("SQL", "sql", "*.sql"),
  row("text", "text|txt", "*.txt"),
  row("CSV", "csv", "*.csv"),
  row("image", "image|picture", "*.png *.jpg *.jpeg *.gif *.svg *.webp"),
  row("test", "test|spec|unit test", "*.test.* *.spec.* *_test.* test_*.py"),
];

/** The kind a word names: `typescript`, `.ts`, `*.ts`, `ts`. A bare extension means only itself when it is written as one. */
export function findFileKind(word: string): FileKind | undefined {
  const lower = word.toLowerCase();
  const extension = /^\*?(\.[a-z0-9_+-]{1,12}(?:\.[a-z0-9]{1,12})?)$/i.exec(word)?.[1];
  if (extension !== undefined) return { label: `*${extension}`, names: [`*${extension}`] };
  const known = KINDS.find((kind) => kind.words.includes(lower));
  return known === undefined ? undefined : { label: known.label, names: known.names };
}

/** All words that name a kind, longest first, as alternatives of a rule. */
export const KIND_WORDS: string = [
  ...KINDS.flatMap((kind) => kind.words)
    .sort((a, b) => b.length - a.length)
    .map((word) => word.replace(/[+#]/g, "\\$&")),
  "\\*?\\.[a-z0-9_+-]{1,12}(?:\\.[a-z0-9]{1,12})?",
].join("|");

/** The kind a file belongs to by its name, for counting a project by language. Tests count as their language. */
export function labelOfFile(name: string): string | undefined {
  const extension = /[^/](\.[a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase();
  if (extension === undefined) return undefined;
  return KINDS.find((kind) => kind.names.includes(`*${extension}`))?.label;
}
