/** Provider programs: describes and opens them. */
import { dirname } from "node:path";
import type { Model } from "../../engine/ports.js";
import { currentFolder } from "../../system/find-program.js";
import { noteSecret } from "../../system/own-secrets.js";
import { readRegularFile } from "../../system/regular-file.js";
import { ownVariables } from "../../system/trusted-path.js";
import type { ProviderCommand } from "../executable/containment.js";
import { environmentOf, inspectExecutable, type ProviderVariable, parseDefaults } from "../executable/introspection.js";
import { createExecutableModel } from "../executable/model.js";
import { loadWire, type WireName } from "../named.js";
import type { ModelParts } from "./model-parts.js";
import { isOwnVariable } from "./own-providers.js";
import type { ProgramVariant, ProviderEntry } from "./provider-directory.js";

const WIRES: readonly string[] = ["anthropic", "openai-chat", "openai-responses", "gemini", "ollama"];

/** A project's program may be silent for this long at most. */
const PROJECT_IDLE_MS = 600_000;

/** It runs in its own folder, so that nothing in the workspace can affect it. */
export function meetProgram(parts: ModelParts, program: ProgramEntry) {
  const { directory } = parts;
  return inspectExecutable(program.file, {
    ...contained(parts, program, []),
    cwd: dirname(program.file),
    env: { ...environmentFor(directory, []), ...variantVariables(parts, program) },
    envOf: (asked) => ({ ...environmentFor(directory, granted(asked, program)), ...variantVariables(parts, program) }),
  });
}

/** Tells how a program learns what a `.conf` file says; without one, it gets none of these. */
function variantVariables(
  { directory }: ModelParts,
  { name, variant }: ProgramEntry,
): Readonly<Record<string, string>> {
  if (variant === undefined) return {};
  const key = variant.keyName === undefined ? undefined : directory.variables[variant.keyName];
  noteSecret(key ?? "");
  return {
    OXBOW_PROVIDER_NAME: name,
    ...(variant.url !== undefined && { OXBOW_PROVIDER_URL: variant.url }),
    ...(key !== undefined && { OXBOW_PROVIDER_KEY: key }),
  };
}

type ProgramEntry = Pick<Extract<ProviderEntry, { kind: "executable" }>, "name" | "file" | "ofProject" | "variant">;

/** The interpreter of a provider must not come from the workspace: it gets the provider's keys. */
function environmentFor({ variables }: ModelParts["directory"], asked: readonly ProviderVariable[]) {
  return environmentOf(ownVariables(variables, currentFolder()), asked);
}

/** A program of a project could name the key of another provider. */
function granted(asked: readonly ProviderVariable[], { name, ofProject }: ProgramEntry): readonly ProviderVariable[] {
  return ofProject ? asked.filter((variable) => isOwnVariable(variable.name, name)) : asked;
}

/** A program of a project describes itself without a network, and calls the hosts of its description. */
function contained({ contain }: ModelParts, { ofProject }: ProgramEntry, hosts: readonly string[]) {
  if (!ofProject || contain === undefined) return {};
  return { contain: (command: ProviderCommand) => contain(command, hosts) };
}

/** Hosts count only if the file names them: the person who approved the file has seen them there. */
async function unseenHosts({ file, ofProject }: ProgramEntry, hosts: readonly string[]): Promise<readonly string[]> {
  if (!ofProject || hosts.length === 0) return [];
  const text = (await readRegularFile(file)).toString("latin1");
  const written = new Set(text.split(/[^\w.:*-]+/));
  return hosts.filter((host) => !written.has(host));
}

export async function openProgram(
  parts: ModelParts,
  program: ProgramEntry & { readonly model: string | undefined },
): Promise<Model | { readonly problem: string }> {
  const { programs } = parts;
  const { name, file, model, variant } = program;
  const taped = programs?.outputs.get(name);
  const { output, variables } =
    taped === undefined ? await meetProgram(parts, program) : { output: taped, variables: [] };
  programs?.met?.(name, output);
  const defaults = parseDefaults(output);
  const { protocol, family, idleMs, streaming } = defaults;
  if (protocol !== undefined && !isWire(protocol)) {
    return { problem: `${file} says protocol=${protocol}. There are ${WIRES.join(", ")}.` };
  }
  const { hosts = [] } = defaults;
  const [unseen] = await unseenHosts(program, hosts);
  if (unseen !== undefined)
    return { problem: `${file} wants to reach ${unseen}, but its file does not name that host.` };
  const mostIdleMs = program.ofProject ? PROJECT_IDLE_MS : Number.POSITIVE_INFINITY;
  return createExecutableModel({
    ...contained(parts, program, hosts),
    provider: name,
    path: file,
    model: model ?? variant?.model ?? defaults.model ?? name,
    cwd: dirname(file),
    env: { ...environmentFor(parts.directory, granted(variables, program)), ...variantVariables(parts, program) },
    streaming,
    ...(protocol !== undefined && { wire: await loadWire(protocol) }),
    ...(family !== undefined && { family }),
    ...(idleMs !== undefined && { idleMs: Math.min(idleMs, mostIdleMs) }),
    ...limitsOf({ ...defaults, ...variant }),
    ...(programs !== undefined && { around: programs.around }),
  });
}

function limitsOf({ maxOutputTokens, maxContextTokens }: Pick<ProgramVariant, "maxOutputTokens" | "maxContextTokens">) {
  return {
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(maxContextTokens !== undefined && { maxContextTokens }),
  };
}

function isWire(name: string): name is WireName {
  return WIRES.includes(name);
}
