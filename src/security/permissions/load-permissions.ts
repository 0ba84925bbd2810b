/** The `[permissions]` of the settings files, read and checked against their own examples. */
import type { CommandReader } from "./command-reader.js";
import { type ParsedPermissions, type ParseOptions, parsePermissions } from "./parse-rules.js";
import type { RuleSource } from "./rule.js";
import { checkExamples, needsCommandReader } from "./rule-examples.js";

export interface LoadOptions extends ParseOptions {
  /** Called only when a rule about commands has examples: it loads the shell parser. */
  commandReader(): Promise<CommandReader>;
}

/** All tables together, the most global first: of `preset` and `edits` the later one counts, rules add up. */
export async function loadPermissions(
  tables: readonly (RuleSource & { readonly table: unknown })[],
  options: LoadOptions,
): Promise<ParsedPermissions> {
  let all: ParsedPermissions = { rules: [], problems: [], edits: undefined, preset: undefined };
  for (const { table, file, scope } of tables) {
    const one = await loadTable(table, { file, scope }, options);
    all = {
      rules: [...all.rules, ...one.rules],
      problems: [...all.problems, ...one.problems],
      edits: one.edits ?? all.edits,
      preset: one.preset ?? all.preset,
    };
  }
  return all;
}

async function loadTable(section: unknown, source: RuleSource, options: LoadOptions): Promise<ParsedPermissions> {
  const parsed = parsePermissions(section, source, options);
  const needed = needsCommandReader(parsed.rules);
  const wrong = checkExamples(parsed.rules, needed ? { readCommand: await options.commandReader() } : {});
  return { ...parsed, problems: [...parsed.problems, ...wrong] };
}
