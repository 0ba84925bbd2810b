/**
 * The permission rules of plugins.
 *
 * 1. A plugin may allow its own tools. Like a rule of a project, any other rule applies only if it is stricter than the user's rules.
 * 2. A plugin with an invalid rule is switched off.
 */

import type { JsonObject } from "../../protocol/json.js";
import type { LoadedPlugin } from "./plugins.js";

interface Table {
  readonly table: unknown;
  readonly file: string;
  readonly scope: "user" | "project";
}

export async function pluginRules<Rule>(
  plugins: readonly LoadedPlugin[] = [],
  load: (table: Table) => Promise<{ readonly rules: readonly Rule[]; readonly problems: readonly string[] }>,
): Promise<readonly Rule[]> {
  const rules: Rule[] = [];
  for (const { from, registrations, guard } of plugins) {
    if (registrations.rules.length === 0) continue;
    const tools = registrations.tools.map(({ name }) => name);
    const isOwn = (rule: JsonObject) => isAllowanceOf(rule, tools);
    const [own, others] = [registrations.rules.filter(isOwn), registrations.rules.filter((rule) => !isOwn(rule))];
    const parsed = [
      await load({ table: { rules: own }, file: from, scope: "user" }),
      await load({ table: { rules: others }, file: from, scope: "project" }),
    ];
    const [problem] = parsed.flatMap(({ problems }) => problems);
    if (problem === undefined) rules.push(...parsed.flatMap((each) => each.rules));
    else guard.switchOff("a permission rule", problem);
  }
  return rules;
}

function isAllowanceOf(
  { decision, tool, command, path, lift_blocklist }: JsonObject,
  tools: readonly string[],
): boolean {
  const isPlain = command === undefined && path === undefined && lift_blocklist === undefined;
  return decision === "allow" && isPlain && typeof tool === "string" && tools.includes(tool);
}
