/**
 * Front matter that is not YAML, read as its author meant it: a known field begins at the start of a line, and everything up to the next
 * one belongs to it. Many agent types have a description of several lines with examples, which no YAML parser accepts.
 */
import { type FrontMatter, type FrontMatterFault, isYamlMap, readFrontMatter } from "./front-matter.js";
import { parseYaml, YamlError, type YamlMap, type YamlValue } from "./yaml.js";

const KNOWN =
  "name description tools disallowedTools allowed-tools disallowed-tools model color permissionMode maxTurns max_iterations skills mcpServers hooks memory background effort isolation argument-hint arguments disable-model-invocation user-invocable license version when_to_use category tags author".split(
    " ",
  );
const FIELD = new RegExp(`^(${KNOWN.join("|")}):(?:[ \\t]|$)`);
export function readLooseFrontMatter(source: string): FrontMatter | FrontMatterFault {
  const found = readFrontMatter(source);
  if (!("fault" in found) || found.fault !== "yaml") return found;
  const text = source.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const [, head = "", body = ""] = /^\s*---[ \t]*\n([\s\S]*?)^---[ \t]*$\n?([\s\S]*)/m.exec(text) ?? [];
  const fields = looseFields(head);
  if (fields.size === 0) return found;
  return {
    fields,
    body,
    problems: [{ line: 1, message: `${found.message}, so Oxbow read it line by line` }],
    state: "read",
  };
}

function looseFields(head: string): YamlMap {
  const lines = new Map<string, string[]>();
  let current: string[] | undefined;
  for (const line of head.split("\n")) {
    const [, name] = FIELD.exec(line) ?? [];
    if (name !== undefined && !lines.has(name)) {
      current = [line];
      lines.set(name, current);
    } else current?.push(line);
  }
  return new Map([...lines].map(([name, texts]) => [name, fieldValue(name, texts.join("\n"))]));
}

/** A field by itself may be YAML. */
function fieldValue(name: string, text: string): YamlValue {
  try {
    const { value } = parseYaml(text);
    const found = isYamlMap(value) && value.size === 1 ? value.get(name) : undefined;
    if (found !== undefined) return found;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
  }
  return text.slice(name.length + 1).trim();
}
