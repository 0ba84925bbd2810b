/** A profile's `[permissions]`, read and checked against its own examples. */
import type { CommandReader } from "./command-reader.js";
import { type ParsedPermissions, type ParseOptions, parsePermissions } from "./parse-rules.js";
import type { RuleSource } from "./rule.js";
import { checkExamples, needsCommandReader } from "./rule-examples.js";

export interface LoadOptions extends ParseOptions {
  /** Called only when a rule about commands has examples: it loads the shell parser. */
  commandReader(): Promise<CommandReader>;
}

export async function loadPermissions(
  section: unknown,
  source: RuleSource,
  options: LoadOptions,
): Promise<ParsedPermissions> {
  const parsed = parsePermissions(section, source, options);
  const needed = needsCommandReader(parsed.rules);
  const wrong = checkExamples(parsed.rules, needed ? { readCommand: await options.commandReader() } : {});
  return { ...parsed, problems: [...parsed.problems, ...wrong] };
}
