/**
 * The parts of a file found by patterns, line by line. This is not a parser: it sees what is written in the usual layout, and
 * says so in the answer.
 */
export type PartKind = "function" | "class" | "type" | "constant" | "export" | "import" | "heading" | "key" | "target";

export interface Part {
  readonly line: number;
  readonly kind: PartKind;
  /** As written, without the body. */
  readonly text: string;
  readonly depth: number;
  readonly exported: boolean;
}

export interface NumberedLine {
  readonly line: number;
  readonly text: string;
}

interface Rule {
  readonly pattern: RegExp;
  readonly kind: PartKind;
}

interface Language {
  readonly files: RegExp;
  readonly rules: readonly Rule[];
  readonly comment: RegExp;
  /** Which parts others can see. */
  readonly exported: RegExp;
  /** Lines between two of these are text, not structure. */
  readonly fence?: RegExp;
}

const NEVER = /(?!)/;
const C_COMMENT = /^\s*(?:\/\/|\/?\*)/;
const HASH_COMMENT = /^\s*#/;
const CONTROL =
  "(?!(?:if|for|while|switch|catch|return|function|else|do|with|await|new|throw|typeof|super|using|lock|foreach|sizeof)\\b)";

const LANGUAGES: readonly Language[] = [
  {
    files: /\.[cm]?[jt]sx?$/i,
    comment: C_COMMENT,
    exported: /^\s*(?:export\b|module\.exports|exports\.)/,
    rules: [
      { pattern: /^(?:import\b.*|(?:const|let|var)\s+.*=\s*require\(.*)$/, kind: "import" },
      {
        pattern: /^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:async\s+)?function\b\s*\*?\s*[\w$]*/,
        kind: "function",
      },
      { pattern: /^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?class\b\s*[\w$]*/, kind: "class" },
      {
        pattern:
          /^\s*(?:export\s+)?(?:declare\s+)?(?:interface|type|enum|const enum|namespace|module)\s+[\w$.]+\s*(?:[<={]|extends|$)/,
        kind: "type",
      },
      {
        pattern:
          /^(?:export\s+)?(?:const|let|var)\s+[\w$]+\s*(?::[^=]+)?=\s*(?:async\s*)?(?:function\b|\([^()]*\)\s*(?::[^=]+)?=>|[\w$]+\s*=>)/,
        kind: "function",
      },
      { pattern: /^export\s+(?:declare\s+)?(?:const|let|var)\s+[\w$]+/, kind: "constant" },
      {
        pattern: /^(?:export\s*(?:type\s*)?[{*].*|export\s+default\b.*|module\.exports\b.*|exports\.[\w$]+\s*=.*)$/,
        kind: "export",
      },
      {
        pattern: new RegExp(
          `^\\s+(?:(?:public|private|protected|static|async|override|readonly|get|set|abstract)\\s+)*\\*?\\s*${CONTROL}[#\\w$]+\\s*(?:<[^>]*>)?\\([^;]*\\)\\s*(?::\\s*[^=;]+)?\\{\\s*(?:.*\\})?$`,
        ),
        kind: "function",
      },
    ],
  },
  {
    files: /\.pyi?$/i,
    comment: HASH_COMMENT,
    exported: /^(?:class|def|async def)\s+[^_]/,
    rules: [
      { pattern: /^(?:import|from)\s+.*$/, kind: "import" },
      { pattern: /^\s*(?:async\s+)?def\s+\w+/, kind: "function" },
      { pattern: /^\s*class\s+\w+/, kind: "class" },
      { pattern: /^[A-Z][A-Z0-9_]+\s*(?::[^=]+)?=/, kind: "constant" },
    ],
  },
  {
    files: /\.go$/i,
    comment: C_COMMENT,
    exported: /^(?:func\s+(?:\([^)]*\)\s*)?[A-Z]|type\s+[A-Z]|(?:const|var)\s+[A-Z])/,
    rules: [
      { pattern: /^import\b.*$/, kind: "import" },
      { pattern: /^func\s+(?:\([^)]*\)\s*)?\w+/, kind: "function" },
      { pattern: /^type\s+\w+/, kind: "type" },
      { pattern: /^(?:const|var)\s+\w+/, kind: "constant" },
    ],
  },
  {
    files: /\.rs$/i,
    comment: /^\s*\/\//,
    exported: /^\s*pub\b/,
    rules: [
      { pattern: /^(?:pub\s+)?use\s+.*$/, kind: "import" },
      {
        pattern:
          /^\s*(?:pub(?:\([^)]*\))?\s+)?(?:default\s+)?(?:const\s+)?(?:async\s+)?(?:unsafe\s+)?(?:extern\s+"[^"]*"\s+)?fn\s+\w+/,
        kind: "function",
      },
      { pattern: /^\s*(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|union)\s+\w+/, kind: "class" },
      { pattern: /^\s*(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+)?(?:trait|type|mod)\s+\w+/, kind: "type" },
      { pattern: /^\s*(?:unsafe\s+)?impl\b.*$/, kind: "class" },
      { pattern: /^\s*(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\s+(?:mut\s+)?\w+\s*:/, kind: "constant" },
      { pattern: /^\s*macro_rules!\s*\w+/, kind: "function" },
    ],
  },
  {
    files: /\.(?:java|cs|kts?|scala|swift|dart)$/i,
    comment: C_COMMENT,
    exported: /^\s*(?:public|open|export)\b/,
    rules: [
      { pattern: /^\s*(?:import|using|package)\s+[\w.*]+;?$/, kind: "import" },
      { pattern: /^\s*(?:@\w+\s+)*(?:[\w-]+\s+)*(?:class|struct|record|object|actor|extension)\s+\w+/, kind: "class" },
      { pattern: /^\s*(?:[\w-]+\s+)*(?:interface|enum|protocol|trait|typealias|namespace)\s+[\w.]+/, kind: "type" },
      { pattern: /^\s*(?:[\w-]+\s+)*(?:fun|func|def)\s+(?:<[^>]*>\s*)?[\w.`]+/, kind: "function" },
      {
        pattern: new RegExp(
          `^\\s+(?:(?:public|private|protected|internal|static|final|abstract|async|override|virtual|sealed|synchronized|native|default)\\s+)*${CONTROL}[\\w<>\\[\\],.?]+\\s+${CONTROL}\\w+\\s*\\([^;=]*\\)\\s*(?:throws\\s+[\\w., ]+)?\\s*\\{?$`,
        ),
        kind: "function",
      },
    ],
  },
  {
    files: /\.(?:c|h|cc|cpp|cxx|hh|hpp|hxx|m|mm)$/i,
    comment: C_COMMENT,
    exported: NEVER,
    rules: [
      { pattern: /^#\s*include\b.*$/, kind: "import" },
      { pattern: /^#\s*define\s+\w+/, kind: "constant" },
      { pattern: /^(?:typedef\s+)?(?:struct|class|union)\s+\w+\s*(?:final\s*)?(?::[^;]*)?\{?$/, kind: "class" },
      { pattern: /^(?:typedef\s+)?enum\b[^;]*\{?$|^typedef\b.*$|^namespace\s+[\w:]+/, kind: "type" },
      {
        pattern:
          /^(?!\s|typedef|return|else|using|extern\s+"C"|#)[\w:<>,~*&\s]+?[\s*&]~?[\w:~]+\s*\([^;]*\)?\s*(?:const\s*)?(?:noexcept\s*)?\{?$/,
        kind: "function",
      },
    ],
  },
  {
    files: /\.(?:rb|rake)$|(?:^|\/)(?:Rakefile|Gemfile)$/i,
    comment: HASH_COMMENT,
    exported: NEVER,
    rules: [
      { pattern: /^\s*require(?:_relative)?\s+.*$/, kind: "import" },
      { pattern: /^\s*def\s+[\w.?!=]+/, kind: "function" },
      { pattern: /^\s*(?:class|module)\s+[\w:]+/, kind: "class" },
    ],
  },
  {
    files: /\.php$/i,
    comment: /^\s*(?:\/\/|#|\/?\*)/,
    exported: /\bpublic\b/,
    rules: [
      { pattern: /^\s*use\s+[\w\\]+.*$/, kind: "import" },
      { pattern: /^\s*(?:(?:public|private|protected|static|abstract|final)\s+)*function\s+&?\w+/, kind: "function" },
      { pattern: /^\s*(?:abstract\s+|final\s+)*class\s+\w+/, kind: "class" },
      { pattern: /^\s*(?:interface|trait|enum)\s+\w+/, kind: "type" },
    ],
  },
  {
    files: /\.(?:sh|bash|zsh)$/i,
    comment: HASH_COMMENT,
    exported: NEVER,
    rules: [
      { pattern: /^\s*(?:function\s+[\w-]+|[\w-]+\s*\(\)\s*)/, kind: "function" },
      { pattern: /^export\s+\w+/, kind: "constant" },
    ],
  },
  {
    files: /\.(?:md|markdown|mdx)$/i,
    comment: NEVER,
    exported: NEVER,
    fence: /^\s*(?:```|~~~)/,
    rules: [{ pattern: /^#{1,6}\s+.*$/, kind: "heading" }],
  },
  {
    files: /\.(?:toml|ini|cfg|conf)$/i,
    comment: HASH_COMMENT,
    exported: NEVER,
    rules: [{ pattern: /^\[{1,2}[^\]]+\]{1,2}/, kind: "heading" }],
  },
  {
    files: /\.ya?ml$/i,
    comment: HASH_COMMENT,
    exported: NEVER,
    rules: [{ pattern: /^[\w"'.-][^:#]*:(?=\s|$)/, kind: "key" }],
  },
  {
    files: /\.jsonc?$/i,
    comment: NEVER,
    exported: NEVER,
    rules: [{ pattern: /^(?: {1,4}|\t)"[^"]+"\s*:/, kind: "key" }],
  },
  {
    files: /(?:^|\/)(?:GNU)?[Mm]akefile$|\.mk$/,
    comment: HASH_COMMENT,
    exported: NEVER,
    rules: [{ pattern: /^[\w./%-][\w./% -]*::?(?!=)/, kind: "target" }],
  },
  {
    files: /\.sql$/i,
    comment: /^\s*--/,
    exported: NEVER,
    rules: [
      {
        pattern:
          /^\s*create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|unique\s+|virtual\s+|materialized\s+)*(?:table|view|index|trigger|function|procedure|type)\s+(?:if\s+not\s+exists\s+)?[\w."]+/i,
        kind: "type",
      },
    ],
  },
];

/** The parts in the order of the file, or nothing when there are no patterns for such a file. */
export function outlineParts(path: string, lines: readonly NumberedLine[]): readonly Part[] | undefined {
  const language = LANGUAGES.find(({ files }) => files.test(path));
  if (language === undefined) return undefined;
  const parts: Part[] = [];
  let fenced = false;
  for (const { line, text } of lines) {
    if (language.fence?.test(text)) fenced = !fenced;
    if (fenced || language.comment.test(text)) continue;
    const rule = language.rules.find(({ pattern }) => pattern.test(text));
    if (rule === undefined) continue;
    parts.push({
      line,
      kind: rule.kind,
      text: headOf(text),
      depth: depthOf(text, rule.kind),
      exported: language.exported.test(text),
    });
  }
  return parts;
}

const LONGEST_HEAD = 100;

/** The line without its body, short enough to read. */
function headOf(text: string): string {
  const head = text
    .trim()
    .replace(/\s*(?:=>\s*)?\{\s*\}?$/, "")
    .replace(/\s*[=:(]$/, "");
  return head.length > LONGEST_HEAD ? `${head.slice(0, LONGEST_HEAD)}…` : head;
}

function depthOf(text: string, kind: PartKind): number {
  if (kind === "heading") return Math.max(0, (/^#+/.exec(text)?.[0].length ?? 1) - 1);
  return /^\s/.test(text) && kind !== "key" ? 1 : 0;
}
