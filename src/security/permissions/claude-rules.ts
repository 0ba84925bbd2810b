/**
 * Rules of Claude Code as rules of Oxbow: `permissions.deny` and `permissions.ask` of `.claude/settings.json`, after approval. `allow` is
 * not taken over: what runs without a question is for the user to say, in Oxbow's own words.
 */
import { homedir } from "node:os";
import type { ExtensionFile } from "../../base/extension-files.js";
import { safeLine } from "../../base/terminal-text.js";
import type { Layer } from "../../feature/setting.js";
import type { JsonObject } from "../../protocol/json.js";
import { parsePermissions } from "./parse-rules.js";

const ENTRY = /^permissions\.(ask|deny)$/;
const RULE = /^\s*([\w*-]+)\s*(?:\(([\s\S]*)\))?\s*$/;
const EDITING = /^(?:(?:Multi|Notebook)?Edit|Write)$/;

/** The built-in tools. */
export interface RuledTools {
  /** Those that change files. */
  readonly editing: readonly string[];
  /** Finds a tool by its name or one of another harness. */
  named(name: string): string | undefined;
}

/** Names the tools of Oxbow that do what one of Claude Code does. */
function counterparts(name: string, about: string, tools: RuledTools): readonly string[] {
  // Nothing may touch what must not be read.
  if (name === "Read" && about !== "") return ["*"];
  return EDITING.test(name) ? tools.editing : [tools.named(name) ?? []].flat();
}

/** A layer for each approved list, and a warning for each rule that has no counterpart. */
export async function claudeLayers(
  files: readonly ExtensionFile[],
  known: RuledTools,
): Promise<{ readonly layers: readonly Layer[]; readonly warnings: readonly string[] }> {
  const warnings: string[] = [];
  const lists = files.filter(({ entry = "" }) => ENTRY.test(entry));
  const layers = lists.map(async (file): Promise<Layer> => {
    const decision = ENTRY.exec(file.entry ?? "")?.[1] ?? "deny";
    const written: unknown = JSON.parse(await file.read());
    const rules = (Array.isArray(written) ? written : []).flatMap((rule: unknown) => {
      const found = claudeRules(String(rule), known).map((each) => ({ ...each, decision }));
      const { problems } = parsePermissions(
        { rules: found },
        { file: file.path, scope: "project" },
        { home: homedir() },
      );
      if (found.length > 0 && problems.length === 0) return found;
      warnings.push(`${file.path}: Oxbow has no counterpart of the rule "${safeLine(String(rule))}".`);
      return [];
    });
    const { path, scope } = file;
    return { scope, path, text: "", profile: { permissions: { rules } } };
  });
  return { layers: await Promise.all(layers), warnings };
}

/** `Bash(git push:*)`, `Read(./.env)`, `WebFetch(domain:example.com)`, `mcp__server`. Empty if Oxbow has no such rule. */
export function claudeRules(text: string, known: RuledTools): readonly JsonObject[] {
  const [, name = "", given = ""] = RULE.exec(text) ?? [];
  const about = given.trim() === "*" ? "" : given.trim();
  if (name.startsWith("mcp__")) return [{ tool: /^mcp__.+__/.test(name) ? name : `${name}__*` }];
  const tools = counterparts(name, about, known);
  if (about === "") return tools.map((tool) => ({ tool }));
  if (name === "Bash") return commandRules(about, tools[0] ?? "");
  if (name === "WebFetch") return addressRules(about, tools[0] ?? "");
  if (name === "Read" || EDITING.test(name)) return tools.map((tool) => ({ tool, path: pathGlob(about) }));
  return [];
}

/** `x:*` and `x *` mean the command and everything after it. */
function commandRules(about: string, tool: string): readonly JsonObject[] {
  const command = about.replace(/:\*$/, " *");
  return /[;|&<>]/.test(command) ? [] : [{ tool, command }];
}

function addressRules(about: string, tool: string): readonly JsonObject[] {
  const domain = /^domain:(.+)$/.exec(about)?.[1]?.trim();
  if (domain === undefined) return [];
  return [`*://${domain}`, `*://${domain}/*`].map((glob) => ({ tool, argument: { name: "url", glob } }));
}

/** `//x` is absolute, `/x` and `./x` begin at the project, and a bare name counts in every folder. */
function pathGlob(about: string): string {
  if (about.startsWith("//")) return about.slice(1);
  if (about.startsWith("~/")) return about;
  const plain = about.replace(/^\.?\//, "");
  return plain === about && !plain.includes("/") ? `**/${plain}` : plain;
}
