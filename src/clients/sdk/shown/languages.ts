/** The languages that code is highlighted in, and other names for them. */
const LANGUAGES = [
  "bash",
  "c",
  "cpp",
  "csharp",
  "css",
  "diff",
  "dockerfile",
  "go",
  "ini",
  "java",
  "javascript",
  "json",
  "kotlin",
  "lua",
  "makefile",
  "markdown",
  "php",
  "powershell",
  "python",
  "ruby",
  "rust",
  "shell",
  "sql",
  "swift",
  "typescript",
  "xml",
  "yaml",
] as const;

export type Language = (typeof LANGUAGES)[number];

const ALIASES: Readonly<Record<string, Language>> = {
  sh: "bash",
  zsh: "bash",
  fish: "bash",
  console: "shell",
  "shell-session": "shell",
  h: "c",
  cc: "cpp",
  "c++": "cpp",
  hpp: "cpp",
  cs: "csharp",
  "c#": "csharp",
  scss: "css",
  less: "css",
  patch: "diff",
  docker: "dockerfile",
  golang: "go",
  toml: "ini",
  conf: "ini",
  properties: "ini",
  js: "javascript",
  jsx: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  json5: "json",
  jsonc: "json",
  jsonl: "json",
  kt: "kotlin",
  make: "makefile",
  md: "markdown",
  ps1: "powershell",
  pwsh: "powershell",
  py: "python",
  python3: "python",
  rb: "ruby",
  rs: "rust",
  ts: "typescript",
  tsx: "typescript",
  mts: "typescript",
  html: "xml",
  svg: "xml",
  vue: "xml",
  yml: "yaml",
};

export function languageNamed(name: string): Language | undefined {
  if ((LANGUAGES as readonly string[]).includes(name)) return name as Language;
  return Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined;
}

/** The language of a file, as a highlighter takes it. */
export function languageOfFile(path: string): string {
  const name = path.split("/").at(-1) ?? "";
  return (name.split(".").at(-1) ?? "").toLowerCase();
}
