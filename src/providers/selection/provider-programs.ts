/** Provider programs: describes and opens them. */
import { dirname } from "node:path";
import type { Model } from "../../engine/ports.js";
import { environmentOf, inspectExecutable, type ProviderVariable, parseDefaults } from "../executable/introspection.js";
import { createExecutableModel } from "../executable/model.js";
import { loadWire, type WireName } from "../named.js";
import type { ModelParts } from "./model-parts.js";
import { isOwnVariable } from "./own-providers.js";
import type { ProviderEntry } from "./provider-directory.js";

const WIRES: readonly string[] = ["anthropic", "openai-chat", "openai-responses", "gemini", "ollama"];

/** It runs in its own folder, so that nothing in the workspace can affect it. */
export function meetProgram({ directory }: ModelParts, program: ProgramEntry) {
  return inspectExecutable(program.file, {
    cwd: dirname(program.file),
    env: environmentOf(directory.variables, []),
    envOf: (asked) => environmentOf(directory.variables, granted(asked, program)),
  });
}

type ProgramEntry = Pick<Extract<ProviderEntry, { kind: "executable" }>, "name" | "file" | "ofProject">;

/** A program of a project could name the key of another provider. */
function granted(asked: readonly ProviderVariable[], { name, ofProject }: ProgramEntry): readonly ProviderVariable[] {
  return ofProject ? asked.filter((variable) => isOwnVariable(variable.name, name)) : asked;
}

export async function openProgram(
  parts: ModelParts,
  program: ProgramEntry & { readonly model: string | undefined },
): Promise<Model | { readonly problem: string }> {
  const { programs } = parts;
  const { name, file, model } = program;
  const taped = programs?.said.get(name);
  const { said, variables } = taped === undefined ? await meetProgram(parts, program) : { said: taped, variables: [] };
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
    env: environmentOf(parts.directory.variables, granted(variables, program)),
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
