/**
 * `decide_shell`: what happens to a shell command before anyone is asked. Without rules as Oxbow comes; with rules under
 * `--strict-permissions`, where being read-only is not enough.
 */
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { decideByRules } from "../../security/shell/index.js";

export function handleDecideShell({ command, allow, deny }: JsonObject): JsonObject {
  const rules = { allow: beginnings(allow), deny: beginnings(deny) };
  const strict = rules.allow.length + rules.deny.length > 0;
  return { decision: decideByRules(String(command ?? ""), { ...rules, ...(strict && { strict: true as const }) }) };
}

/** The suites mean every command that begins so. */
function beginnings(rules: JsonValue | undefined): readonly string[] {
  if (!Array.isArray(rules)) return [];
  return rules.map(String).map((rule) => (rule.endsWith("*") ? rule : `${rule} *`));
}
