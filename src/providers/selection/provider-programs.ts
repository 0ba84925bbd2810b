/** Provider programs: describes and opens them. */
import { dirname } from "node:path";
import type { Model } from "../../engine/ports.js";
import { environmentOf, inspectExecutable, parseDefaults } from "../executable/introspection.js";
import { createExecutableModel } from "../executable/model.js";
import { loadWire, type WireName } from "../named.js";
import type { ModelParts } from "./model-parts.js";

const WIRES: readonly string[] = ["anthropic", "openai-chat", "openai-responses", "gemini", "ollama"];

/** It runs in its own folder, so that nothing in the workspace can affect it. */
export function meetProgram({ directory }: ModelParts, file: string) {
  return inspectExecutable(file, {
    cwd: dirname(file),
    env: environmentOf(directory.variables, []),
    envOf: (asked) => environmentOf(directory.variables, asked),
  });
}

export async function openProgram(
  parts: ModelParts,
  { name, file, model }: { readonly name: string; readonly file: string; readonly model: string | undefined },
): Promise<Model | { readonly problem: string }> {
  const { programs } = parts;
  const taped = programs?.said.get(name);
  const { said, variables } = taped === undefined ? await meetProgram(parts, file) : { said: taped, variables: [] };
  programs?.met?.(name, said);
  const defaults = parseDefaults(said);
  const { protocol, family, idleMs, streaming } = defaults;
  if (protocol !== undefined && !isWire(protocol)) {
    return { problem: `${file} says protocol=${protocol}. There are ${WIRES.join(", ")}.` };
  }
  return createExecutableModel({
    provider: name,
    path: file,
    model: model ?? defaults.model ?? name,
    cwd: dirname(file),
    env: environmentOf(parts.directory.variables, variables),
    streaming,
    ...(protocol !== undefined && { wire: await loadWire(protocol) }),
    ...(family !== undefined && { family }),
    ...(idleMs !== undefined && { idleMs }),
    ...(defaults.maxOutputTokens !== undefined && { maxOutputTokens: defaults.maxOutputTokens }),
    ...(defaults.maxContextTokens !== undefined && { maxContextTokens: defaults.maxContextTokens }),
    ...(programs !== undefined && { around: programs.around }),
  });
}

function isWire(name: string): name is WireName {
  return WIRES.includes(name);
}
