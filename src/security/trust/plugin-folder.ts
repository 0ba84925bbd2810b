/**
 * A plugin of Claude Code as a folder: `.claude-plugin/plugin.json`, `skills`, `commands`, `agents`, `hooks/hooks.json` and `.mcp.json`.
 *
 * 1. The manifest may name more places. `skills` adds to the usual folder; the other ones replace theirs. Places outside the folder do
 *    not count.
 * 2. Its hooks and servers may be in the manifest itself.
 */
import { readFileSync, statSync } from "node:fs";
import { basename, join, posix } from "node:path";
import type { Place } from "./places.js";

export interface PluginFolder {
  /** The namespace of what the plugin brings. */
  readonly name: string;
  readonly places: readonly Place[];
}

const MANIFEST = ".claude-plugin/plugin.json";
const MOST_BYTES = 1024 * 1024;

/** A plugin in TypeScript is a file, so nothing can be below it. */
export function isPluginFolder(folder: string): boolean {
  try {
    return statSync(join(folder, MANIFEST)).isFile();
  } catch {
    return false;
  }
}

/** Also for a folder without a manifest, and with one that cannot be read: the usual places count then. */
export function readPluginFolder(folder: string): PluginFolder {
  const manifest = manifestOf(folder);
  const { name } = manifest;
  const listed = (key: string) => pathsOf(manifest[key]);
  const skills = ["skills", ...(listed("skills") ?? [])].map((path): Place => {
    return { path, kind: "skill", also: ["skill-file", "event-hooks"], shape: "skills" };
  });
  return {
    name: nameOf(typeof name === "string" ? name : basename(folder)),
    places: [
      ...skills,
      ...documents(listed("commands") ?? ["commands"], "prompt"),
      ...documents(listed("agents") ?? ["agents"], "agent"),
      ...entries(listed("hooks") ?? ["hooks/hooks.json"], "event-hooks"),
      ...entries(listed("mcpServers") ?? [".mcp.json"], "mcp"),
      { path: MANIFEST, kind: "mcp", also: ["event-hooks"], shape: "servers" },
    ],
  };
}

function documents(paths: readonly string[], kind: "prompt" | "agent"): readonly Place[] {
  return paths.map((path): Place => {
    if (path.endsWith(".md")) return { path, kind, shape: "file" };
    return { path, kind, also: ["event-hooks"], shape: "tree", ending: ".md" };
  });
}

function entries(paths: readonly string[], kind: "event-hooks" | "mcp"): readonly Place[] {
  return paths.map((path) => ({ path, kind, shape: "servers" }));
}

/** A path, or a list of paths, within the folder; undefined if the manifest names none. */
function pathsOf(value: unknown): readonly string[] | undefined {
  const texts = (Array.isArray(value) ? value : [value]).filter((each) => typeof each === "string");
  if (texts.length === 0) return undefined;
  const paths = texts.map((text: string) => posix.normalize(text.replaceAll("\\", "/")).replace(/\/$/, ""));
  return paths.filter((path) => !/^(?:\.\.(?:\/|$)|\/|[A-Za-z]:|\.$)/.test(path));
}

/** One word that can be typed. */
function nameOf(name: string): string {
  return (
    name
      .normalize("NFKC")
      .replace(/[^\p{L}\p{N}_.-]+/gu, "-")
      .slice(0, 64) || "plugin"
  );
}

function manifestOf(folder: string): Readonly<Record<string, unknown>> {
  try {
    const path = join(folder, MANIFEST);
    const stat = statSync(path);
    if (!stat.isFile() || stat.size > MOST_BYTES) return {};
    const value: unknown = JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, ""));
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
