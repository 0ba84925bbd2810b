/**
 * A slash command as a Markdown file: fields, then a prompt.
 *
 * | folder | command |
 * | --- | --- |
 * | `.oxbow/commands`, `.claude/commands` | `/NAME`; a folder is a namespace: `git/fix.md` is `/git:fix` |
 * | `.codex/prompts` | `/prompts:NAME` |
 * | `commands` of a plugin | `/PLUGIN:NAME` |
 */
import type { ExtensionFile, ExtensionScope } from "../../base/extension-files.js";
import { argumentHintOf, flagOf, isYamlMap, lineOf, wordsOf } from "../../base/front-matter.js";
import { readLooseFrontMatter } from "../../base/loose-front-matter.js";
import type { YamlValue } from "../../base/yaml.js";

export type PromptLayout = "oxbow" | "claude" | "codex";

export interface PromptFile {
  /** As it is typed, without the slash. */
  readonly name: string;
  readonly layout: PromptLayout;
  readonly scope: ExtensionScope;
  readonly path: string;
  /** The folder of the plugin that it belongs to. */
  readonly pluginRoot?: string;
  readonly summary: string;
  readonly argumentHint?: string;
  /** The names of the arguments, in their order. */
  readonly argumentNames: readonly string[];
  /** Shown only: a file never allows a call. */
  readonly allowedTools: readonly string[];
  readonly model?: string;
  readonly body: string;
  /** Sentences without their full stop. */
  readonly problems: readonly string[];
}

const SUMMARY_LENGTH = 120;

export async function readPromptFile(file: ExtensionFile): Promise<PromptFile | { readonly refused: string }> {
  const found = readLooseFrontMatter(await file.read());
  if ("fault" in found) return { refused: found.message };
  const { fields, body } = found;
  const layout = layoutOf(file);
  const hint = argumentHintOf(fields);
  const model = lineOf(fields, "model");
  const problems = found.problems.map(({ line, message }) => `${message} (line ${line})`);
  return {
    name: file.plugin === undefined ? nameOf(file.name, layout) : `${file.plugin}:${nameOf(file.name, layout)}`,
    layout,
    scope: file.scope,
    path: file.path,
    ...(file.plugin !== undefined && { pluginRoot: file.source }),
    summary: (lineOf(fields, "description") ?? firstLine(body)).slice(0, SUMMARY_LENGTH),
    ...(hint !== undefined && { argumentHint: hint }),
    argumentNames: namesOf(fields.get("arguments")) ?? wordsOf(fields, "arguments"),
    allowedTools: wordsOf(fields, "allowed-tools"),
    ...(model !== undefined && model !== "inherit" && { model }),
    body: body.trim(),
    problems:
      flagOf(fields, "user-invocable") === false
        ? [...problems, "it is not for people, so it is not a command"]
        : problems,
  };
}

function layoutOf({ source, plugin }: Pick<ExtensionFile, "source" | "plugin">): PromptLayout {
  if (plugin !== undefined) return "claude";
  if (/[/\\]\.codex[/\\]?$/.test(source)) return "codex";
  return /[/\\]\.claude[/\\]?$/.test(source) ? "claude" : "oxbow";
}

function nameOf(path: string, layout: PromptLayout): string {
  const words = path
    .replace(/\.md$/i, "")
    .split("/")
    .map((word) =>
      word
        .normalize("NFKC")
        .trim()
        .replace(/[\s:]+/g, "-"),
    );
  return [...(layout === "codex" ? ["prompts"] : []), ...words].join(":");
}

/** Some files describe their arguments: a list of maps, each with a name. */
function namesOf(value: YamlValue | undefined): readonly string[] | undefined {
  if (!Array.isArray(value) || !value.some(isYamlMap)) return undefined;
  return value.map((one) => (isYamlMap(one) ? String(one.get("name") ?? "") : String(one)));
}

function firstLine(body: string): string {
  const line = body.split("\n").find((one) => one.trim() !== "") ?? "";
  return line.replace(/^#+\s*/, "").trim() || "a prompt";
}
