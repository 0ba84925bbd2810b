/**
 * Arguments that a tool wants as headers of the HTTP request too (`x-mcp-header`). The protocol refuses a tool that declares them in a
 * wrong way. The library would leave it out as well, but would print raw text of the server on the terminal.
 */

type Members = Readonly<Record<string, unknown>>;

const KEY = "x-mcp-header";
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);
const DATA: ReadonlySet<string> = new Set(["enum", "const", "default", "examples"]);

/** Ends the sentence "its schema …". */
export function headerFault(schema: Members): string | undefined {
  const names = new Set<string>();
  const visit = (value: unknown, place: "argument" | "root" | "elsewhere"): string | undefined => {
    if (typeof value !== "object" || value === null) return undefined;
    const node = value as Members;
    const own = Object.hasOwn(node, KEY) ? declarationFault(node, { place, names }) : undefined;
    if (own !== undefined) return own;
    for (const [key, inner] of Object.entries(node)) {
      if (DATA.has(key)) continue;
      const isArguments = key === "properties" && typeof inner === "object" && inner !== null;
      const next = isArguments && place !== "elsewhere" ? "argument" : "elsewhere";
      for (const each of isArguments ? Object.values(inner) : [inner]) {
        const fault = visit(each, next);
        if (fault !== undefined) return fault;
      }
    }
    return undefined;
  };
  return visit(schema, "root");
}

function declarationFault(
  { [KEY]: name, type }: Members,
  { place, names }: { readonly place: string; readonly names: Set<string> },
): string | undefined {
  if (place !== "argument") return `has an "${KEY}" that is not at an argument`;
  if (typeof name !== "string" || !TOKEN.test(name)) return `has an "${KEY}" that is not the name of a header`;
  if (!TYPES.has(type)) return `has an "${KEY}" at an argument that is not a string, an integer or a boolean`;
  const lower = name.toLowerCase();
  if (names.has(lower)) return `names the header "${name.slice(0, 80)}" twice`;
  names.add(lower);
  return undefined;
}
