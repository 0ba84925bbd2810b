/**
 * `decide_shell`: the decision about a shell command before any question. Without rules it uses Oxbow's defaults; with rules it uses
 * `--strict-permissions`, where being read-only is not enough.
 */
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { decideByRules } from "../../security/shell/index.js";

export function handleDecideShell({ command, allow, deny }: JsonObject): JsonObject {
  const rules = { allow: beginnings(allow), deny: beginnings(deny) };
  const strict = rules.allow.length + rules.deny.length > 0;
  return { decision: decideByRules(String(command ?? ""), { ...rules, ...(strict && { strict: true as const }) }) };
}

/** A rule of the suites means every command that begins with its text. */
function beginnings(rules: JsonValue | undefined): readonly string[] {
  if (!Array.isArray(rules)) return [];
  return rules.map(String).map((rule) => (rule.endsWith("*") ? rule : `${rule} *`));
}
