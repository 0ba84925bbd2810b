/** All types of subagents of a place: the built-in ones and those of files. If several have one name, the most local one wins. */
import type { ExtensionFile } from "../../base/extension-files.js";
import { type AgentType, BUILT_IN_TYPES } from "./agent-type.js";
import type { AgentFileFault } from "./read-agent-type.js";

export interface AgentTypes {
  /** In the order of their names. */
  readonly types: readonly AgentType[];
  /** Types that another one with the same name hides. */
  readonly shadowed: readonly AgentType[];
  readonly faults: readonly AgentFileFault[];
}

export const ONLY_BUILT_IN: AgentTypes = { types: BUILT_IN_TYPES, shadowed: [], faults: [] };

/** `files`: the most global first. Loads nothing for a place without files. */
export async function agentTypes(files: readonly ExtensionFile[]): Promise<AgentTypes> {
  if (files.length === 0) return ONLY_BUILT_IN;
  const { readAgentType } = await import("./read-agent-type.js");
  const read = await Promise.all(
    files
      .filter(({ name }) => /\.md$/i.test(name))
      .map(async (file) => {
        try {
          return readAgentType(await file.read(), file);
        } catch (error) {
          return { path: file.path, fault: (error as Error).message };
        }
      }),
  );
  const types = new Map(BUILT_IN_TYPES.map((type) => [type.name, type]));
  const shadowed: AgentType[] = [];
  for (const type of read) {
    if ("fault" in type) continue;
    const before = types.get(type.name);
    if (before !== undefined) shadowed.push(before);
    types.set(type.name, type);
  }
  const sorted = [...types.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { types: sorted, shadowed, faults: read.filter((each) => "fault" in each) };
}

/** By its name; capital letters do not matter, because models spell names of other harnesses. */
export function findType(types: readonly AgentType[], name: string): AgentType | undefined {
  const wanted = name.trim().toLowerCase();
  const known = wanted === "general-purpose" ? "general" : wanted;
  return types.find((type) => type.name === name) ?? types.find((type) => type.name.toLowerCase() === known);
}
