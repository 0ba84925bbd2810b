/** Variables in the files of MCP servers: each tool writes them in its own way. */

/** Says whose file it is. */
export type Dialect = "oxbow" | "claude" | "cursor" | "vscode" | "codex";

export interface ExpandOptions {
  readonly dialect: Dialect;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly root: string;
  readonly home: string | undefined;
}

export interface Expansion {
  expand(text: string): string;
  /** The names without a value so far. They stay as they are written. */
  readonly unset: readonly string[];
}

/** The value of `${input:ID}`, which VS Code asks the user for, comes from this variable. */
function inputVariable(id: string): string {
  return `OXBOW_MCP_INPUT_${id.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
}

const SHELL_STYLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;
const EDITOR_STYLE = /\$\{(?:(env|input):)?([^}:]+)\}/g;

export function expander(options: ExpandOptions): Expansion {
  const unset = new Set<string>();
  const { dialect, variables } = options;
  const look = (name: string, fallback: string | undefined, written: string) => {
    const value = variables[name] ?? fallback;
    if (value === undefined) unset.add(name);
    return value ?? written;
  };
  const expand = (text: string) => {
    if (dialect === "codex") return text;
    if (dialect === "claude" || dialect === "oxbow")
      return text.replace(SHELL_STYLE, (written, name: string, fallback?: string) => look(name, fallback, written));
    return text.replace(EDITOR_STYLE, (written, kind: string | undefined, name: string) => {
      if (kind === "env") return look(name, undefined, written);
      if (kind === "input") return look(inputVariable(name), undefined, written);
      return placeVariable(name, options) ?? written;
    });
  };
  return {
    expand,
    get unset() {
      return [...unset];
    },
  };
}

function placeVariable(name: string, { root, home }: ExpandOptions): string | undefined {
  switch (name) {
    case "workspaceFolder":
      return root;
    case "workspaceFolderBasename":
      return root.split("/").at(-1);
    case "userHome":
      return home;
    case "pathSeparator":
    case "/":
      return "/";
    default:
      return undefined;
  }
}
