/** The places of content, as data. Oxbow looks for these names in these places only, and never searches a repository. */
import type { ContentKind } from "./content.js";

export interface Place {
  readonly path: string;
  readonly kind: ContentKind;
  /** Other kinds that it may hold. */
  readonly also?: readonly ContentKind[];
  /**
   * `file`: just that; `tree`: every file below; `skills`: folders with a SKILL.md and what belongs to it; `servers`: the
   * file's entries, which start programs; `profile`: the file and such entries; `profiles`: all such files below; `store`: a folder of a
   * project that Oxbow writes to.
   */
  readonly shape: "file" | "tree" | "skills" | "servers" | "profile" | "profiles" | "store";
  /** Only names that end so. */
  readonly ending?: string;
  /** It counts only in a folder that has none of these. */
  readonly unless?: readonly string[];
}

const INSTRUCTIONS: Place = { path: "AGENTS.md", kind: "instructions", shape: "file" };

function fallback(path: string): Place {
  return { path, kind: "instructions", shape: "file" };
}

function fallbackFolder(path: string, ending: string): Place {
  return { path, kind: "instructions", shape: "tree", ending };
}

/** Other tools' instruction files, which a profile may list. */
const FALLBACKS: readonly Place[] = [
  fallback("AGENTS.override.md"),
  fallback("AGENT.md"),
  fallback("CLAUDE.md"),
  fallback("CLAUDE.local.md"),
  fallback(".claude/CLAUDE.md"),
  fallback("GEMINI.md"),
  fallback("QWEN.md"),
  fallback(".cursorrules"),
  fallbackFolder(".cursor/rules", ".mdc"),
  fallback(".windsurfrules"),
  fallbackFolder(".windsurf/rules", ".md"),
  fallback(".github/copilot-instructions.md"),
  fallbackFolder(".github/instructions", ".instructions.md"),
  fallbackFolder(".claude/rules", ".md"),
  fallback(".clinerules"),
  fallback(".roorules"),
  fallback(".goosehints"),
  fallback(".junie/guidelines.md"),
  fallbackFolder(".kiro/steering", ".md"),
  fallback(".rules"),
];

/** `AGENTS.md | CLAUDE.md`: the first of these that a folder has. */
export function alternativesOf(source: string): readonly string[] {
  return source.split("|").map((name) => name.trim());
}

/** The list with more names. A source that has one of them as an alternative is only its first name then. */
export function withSources(sources: readonly string[], names: readonly string[]): readonly string[] {
  const kept = sources.map((source) => {
    const [first = source, ...others] = alternativesOf(source);
    return others.some((name) => names.includes(name)) ? first : source;
  });
  return [...new Set([...kept, ...names])];
}

/** Tells what a profile lists as `context_sources`, in its order; a name that is not known is that of a file. Without a list: all that are known. */
export function instructionPlaces(sources: readonly string[] | undefined): readonly Place[] {
  const known = [INSTRUCTIONS, ...FALLBACKS];
  return (
    sources?.flatMap((source) =>
      alternativesOf(source).map((path, index, all) => {
        const place = known.find((each) => each.path === path) ?? fallback(path);
        return index === 0 ? place : { ...place, unless: all.slice(0, index) };
      }),
    ) ?? known
  );
}

/** In every folder from the working folder up, beside the instruction files. */
export const PROJECT_PLACES: readonly Place[] = [{ path: ".mcp.json", kind: "mcp", shape: "servers" }];

/** Lists what a source holds: `.oxbow/` of a project, Oxbow's configuration folder of a user. */
export const SOURCE_PLACES: readonly Place[] = [
  { path: "hooks.d", kind: "hook", shape: "tree" },
  { path: "tools", kind: "tool", shape: "tree" },
  { path: "commands", kind: "command", also: ["prompt", "event-hooks"], shape: "tree" },
  { path: "templates", kind: "prompt", also: ["event-hooks"], shape: "tree", ending: ".md" },
  { path: "providers", kind: "provider", shape: "tree" },
  { path: "plugins", kind: "plugin", shape: "tree" },
  { path: "config.toml", kind: "profile", also: ["mcp", "event-hooks"], shape: "profile" },
  { path: "profiles", kind: "profile", also: ["mcp", "event-hooks"], shape: "profiles", ending: ".toml" },
  { path: "aliases.toml", kind: "alias", shape: "file" },
  { path: "sessions", kind: "sessions", shape: "store" },
  { path: "AGENTS.md", kind: "instructions", shape: "file" },
  { path: "prompts", kind: "instructions", shape: "tree", ending: ".md" },
  { path: "agents", kind: "agent", also: ["event-hooks"], shape: "tree", ending: ".md" },
  { path: "memory", kind: "memory", shape: "tree", ending: ".md" },
  { path: "skills", kind: "skill", also: ["skill-file", "event-hooks"], shape: "skills" },
];

export const SOURCE_FOLDER = ".oxbow";

/** A folder of another tool, in a project or in the user's home. */
export interface Layout {
  readonly folder: string;
  readonly places: readonly Place[];
}

const SKILLS: Place = { path: "skills", kind: "skill", also: ["skill-file", "event-hooks"], shape: "skills" };

export const LAYOUTS: readonly Layout[] = [
  { folder: ".agents", places: [SKILLS] },
  {
    folder: ".codex",
    places: [
      { path: "config.toml", kind: "mcp", shape: "servers" },
      { path: "hooks.json", kind: "event-hooks", shape: "servers" },
      { path: "prompts", kind: "prompt", shape: "tree", ending: ".md" },
      SKILLS,
    ],
  },
  {
    folder: ".claude",
    places: [
      { path: "settings.json", kind: "event-hooks", also: ["profile"], shape: "servers" },
      { path: "settings.local.json", kind: "event-hooks", also: ["profile"], shape: "servers" },
      { path: "commands", kind: "prompt", also: ["event-hooks"], shape: "tree", ending: ".md" },
      { path: "agents", kind: "agent", also: ["event-hooks"], shape: "tree", ending: ".md" },
      SKILLS,
    ],
  },
  { folder: ".cursor", places: [{ path: "mcp.json", kind: "mcp", shape: "servers" }] },
  { folder: ".vscode", places: [{ path: "mcp.json", kind: "mcp", shape: "servers" }] },
];

/** The same in the user's home alone. */
export const HOME_LAYOUTS: readonly Layout[] = [
  { folder: ".config/Code/User", places: [{ path: "mcp.json", kind: "mcp", shape: "servers" }] },
  { folder: "Library/Application Support/Code/User", places: [{ path: "mcp.json", kind: "mcp", shape: "servers" }] },
  // The servers of Claude Code: those of the user, and those of the user for one project.
  { folder: "", places: [{ path: ".claude.json", kind: "mcp", shape: "servers" }] },
];

/** The settings of Claude Code, whose rules make Oxbow stricter. */
export function isClaudeSettings(path: string): boolean {
  return /(^|[/\\])settings(\.local)?\.json$/.test(path);
}
