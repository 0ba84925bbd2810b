/**
 * Rules out of a profile's `[permissions]` table, already parsed as TOML:
 *
 *     [permissions]
 *     edits = "ask"                    # ask for edits also where a sandbox holds them ("contained", the default, does not)
 *     preset = "strict"                # no quiet preset ("quiet" is the default)
 *
 *     [[permissions.rules]]
 *     tool = "bash"                    # a glob over tool names; needed
 *     command = "git push *"           # or path = "docs/**", or argument = { name = "url", glob = "https://docs.rs/*" }
 *     decision = "ask"                 # allow, ask or deny; needed
 *     priority = 10                    # higher wins; default: 0
 *     reason = "pushes are reviewed"   # shown with the decision
 *     network = true                   # with allow: opens the network of the sandbox for these commands; yours only, not a project's
 *     match = ["git push origin main"] # must apply to these, and not to those in not_match: checked when it loads
 *     not_match = ["git pull"]
 *
 * 1. A rule with a problem is not used, and the problem names the file, the rule's number and what was expected. The caller that loads
 *    rules stops there: to continue would ignore what the user forbade.
 * 2. `command = "*"` is the same as no `command`. A command with an operator (`;`, `|`, `&`, `<`, `>`) is refused: rules are held against
 *    each command of a text by itself.
 * 3. A path is where a file really is, links followed, as seen from the workspace. What forbids a path ignores letter case.
 */

import { posix } from "node:path";
import { shorten } from "../../base/cap-text.js";
import { compileGlob, type Glob, GlobError, type GlobKind, withoutCase } from "../../base/glob.js";
import { isJsonObject } from "../../protocol/json.js";
import { DECISIONS, type Decision, IDENTITIES, type Identity } from "./facts.js";
import type { PathGlob, PermissionRule, RuleSource } from "./rule.js";

export interface ParsedRules {
  readonly rules: readonly PermissionRule[];
  readonly problems: readonly string[];
}

export interface ParsedPermissions extends ParsedRules {
  readonly edits: EditPolicy | undefined;
  readonly preset: PermissionPreset | undefined;
}

export type EditPolicy = "contained" | "ask";
export type PermissionPreset = "quiet" | "strict";

export interface ParseOptions {
  /** For paths that begin with `~/`; without it they are a problem. */
  readonly home?: string;
  /** The tools that a name in a rule means besides those of that very name. */
  readonly meantTools?: (name: string, decision: Decision) => readonly string[];
}

const SECTION_KEYS = ["rules", "edits", "preset"];

/** The whole `[permissions]` table. */
export function parsePermissions(section: unknown, source: RuleSource, options: ParseOptions = {}): ParsedPermissions {
  if (section === undefined) return { rules: [], problems: [], edits: undefined, preset: undefined };
  if (!isJsonObject(section)) {
    const problems = [`${source.file}: permissions must be a table, [permissions].`];
    return { rules: [], problems, edits: undefined, preset: undefined };
  }
  const problems = unknownKeys(section, SECTION_KEYS).map(
    (key) => `${source.file}, permissions: unknown key "${key}".`,
  );
  const choice = <T extends string>(key: string, known: readonly T[]): T | undefined => {
    const value = section[key];
    const found = known.find((each) => each === value);
    if (value !== undefined && found === undefined)
      problems.push(`${source.file}, permissions: ${key} must be ${known.join(" or ")}, got ${shown(value)}.`);
    return found;
  };
  const edits = choice("edits", ["contained", "ask"]);
  const preset = choice("preset", ["quiet", "strict"]);
  const parsed = parseRules(section.rules ?? [], source, options);
  return { rules: parsed.rules, problems: [...problems, ...parsed.problems], edits, preset };
}

/** The list under `[[permissions.rules]]`. */
export function parseRules(list: unknown, source: RuleSource, options: ParseOptions = {}): ParsedRules {
  if (!Array.isArray(list)) {
    return { rules: [], problems: [`${source.file}: write each rule under its own [[permissions.rules]].`] };
  }
  const rules: PermissionRule[] = [];
  const problems: string[] = [];
  list.forEach((value: unknown, index) => {
    const reader = new RuleReader(value, index + 1, { source, options });
    const rule = reader.read();
    for (const problem of reader.problems) problems.push(`${source.file}, rule ${index + 1}: ${problem}`);
    if (rule !== undefined && reader.problems.length === 0) rules.push(rule);
  });
  return { rules, problems };
}

const RULE_KEYS = [
  "tool",
  "command",
  "path",
  "argument",
  "originator",
  "decision",
  "priority",
  "reason",
  "network",
  "lift_blocklist",
  "match",
  "not_match",
];

class RuleReader {
  readonly problems: string[] = [];
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #number: number;
  readonly #source: RuleSource;
  readonly #options: ParseOptions;

  constructor(
    value: unknown,
    number: number,
    context: { readonly source: RuleSource; readonly options: ParseOptions },
  ) {
    this.#value = isJsonObject(value) ? value : {};
    this.#number = number;
    this.#source = context.source;
    this.#options = context.options;
    if (!isJsonObject(value)) this.problems.push(`expected a table, got ${shown(value)}.`);
  }

  read(): PermissionRule | undefined {
    if (this.problems.length > 0) return undefined;
    for (const key of unknownKeys(this.#value, RULE_KEYS)) {
      this.problems.push(`unknown key "${key}"; there are ${RULE_KEYS.join(", ")}.`);
    }
    const tool = this.#tool();
    if (this.#value.tool === undefined) this.problems.push('tool is missing; write tool = "*" for every tool.');
    const decision = this.#choice<Decision>("decision", DECISIONS);
    if (this.#value.decision === undefined) this.problems.push("decision is missing: allow, ask or deny.");
    const subject = this.#subject();
    const { home = "~" } = this.#options;
    const examples = (key: string) =>
      this.#texts(key).map((text) => (subject.path === undefined ? text : atHome(text, home)));
    const { match, not_match } = { match: examples("match"), not_match: examples("not_match") };
    const rule = { ...subject, match, not_match, source: this.#source, number: this.#number };
    const originator = this.#choice<Identity>("originator", IDENTITIES);
    const reason = this.#text("reason");
    const liftsBlocklist = this.#lift(decision, subject);
    const network = this.#network(decision, subject);
    const priority = this.#priority();
    if (tool === undefined || decision === undefined) return undefined;
    return {
      tool,
      decision,
      priority,
      liftsBlocklist,
      ...rule,
      ...(originator !== undefined && { originator }),
      ...(reason !== undefined && { reason }),
      ...(network && { network }),
    };
  }

  /** Also under the names that the rule's author knows from elsewhere. */
  #tool(): Glob | undefined {
    const written = this.#text("tool");
    const glob = this.#glob("tool", "text");
    const decision = DECISIONS.find((each) => each === this.#value.decision);
    if (written === undefined || glob === undefined || decision === undefined || /[^\w-]/.test(written)) return glob;
    const meant = this.#options.meantTools?.(written, decision) ?? [];
    const names = [...new Set([written, ...meant])];
    return names.length === 1 ? glob : { ...compileGlob(`{${names.join(",")}}`, "text"), source: written };
  }

  #subject(): Pick<PermissionRule, "command" | "path" | "argument"> {
    const given = ["command", "path", "argument"].filter((key) => this.#value[key] !== undefined);
    if (given.length > 1) {
      this.problems.push(`${given.join(" and ")} cannot be combined in one rule; write one rule for each.`);
      return {};
    }
    if (given[0] === "command") return this.#command();
    if (given[0] === "path") {
      const path = this.#path();
      return path === undefined ? {} : { path };
    }
    return given[0] === "argument" ? this.#argument() : {};
  }

  #command(): Pick<PermissionRule, "command"> {
    const text = this.#text("command");
    if (text === undefined || text.trim() === "*") return {};
    if (/(^|[^\\])[;|&<>\n]/.test(text)) {
      this.problems.push(
        `command = ${shown(text)} holds an operator of the shell. A rule matches one command at a time: write one rule for each command, and put "\\" before a character that you mean literally.`,
      );
      return {};
    }
    const command = this.#glob("command", "words");
    return command === undefined ? {} : { command };
  }

  #path(): PathGlob | undefined {
    const written = this.#text("path");
    if (written === undefined) return undefined;
    const { home } = this.#options;
    if (/^~(\/|$)/.test(written) && home === undefined) {
      this.problems.push(`path = ${shown(written)}: "~" has no meaning here; write the folder in full.`);
      return undefined;
    }
    const escapedHome = (home ?? "~").replaceAll(/[\\*?[{]/g, "\\$&");
    const plain = atHome(written, escapedHome)
      .replace(/^(\.\/)+/, "")
      .replace(/\/+$/, "/**");
    if (plain.split("/").some((name) => name === ".." || name === ".") && plain !== ".") {
      this.problems.push(`path = ${shown(written)} holds "." or ".."; write it from the workspace, or from "/".`);
      return undefined;
    }
    return this.#attempt("path", written, () => {
      const glob = { ...compileGlob(plain, "path"), source: written };
      const folded = withoutCase(compileGlob(plain, "path"));
      return { glob, folded, absolute: posix.isAbsolute(plain), anywhere: plain.startsWith("**") };
    });
  }

  #argument(): Pick<PermissionRule, "argument"> {
    const { argument } = this.#value;
    if (!isJsonObject(argument) || typeof argument.name !== "string" || typeof argument.glob !== "string") {
      this.problems.push(`argument must be a table such as { name = "url", glob = "https://docs.rs/*" }.`);
      return {};
    }
    const { name, glob: text } = argument;
    const glob = this.#attempt("argument.glob", text, () => compileGlob(text, "text"));
    return glob === undefined ? {} : { argument: { name, glob } };
  }

  #lift(decision: Decision | undefined, subject: Pick<PermissionRule, "command" | "path">): boolean {
    const value = this.#value.lift_blocklist;
    if (value === undefined || value === false) return false;
    if (value !== true) this.problems.push(`lift_blocklist must be true or false, got ${shown(value)}.`);
    else if (decision !== "allow" || (subject.command === undefined && subject.path === undefined)) {
      this.problems.push('lift_blocklist needs decision = "allow" and a command or path that says what is allowed.');
    } else if (this.#source.scope === "project") {
      this.problems.push("lift_blocklist works in your own profile only, not in a project's.");
    }
    return value === true;
  }

  /** A rule that says nothing of the command would open the network for every command. */
  #network(decision: Decision | undefined, subject: Pick<PermissionRule, "command" | "argument">): boolean {
    const value = this.#value.network;
    if (value === undefined || value === false) return false;
    if (value !== true) this.problems.push(`network must be true or false, got ${shown(value)}.`);
    else if (decision !== "allow" || (subject.command === undefined && subject.argument?.name !== "command")) {
      this.problems.push('network needs decision = "allow" and a command that says what is allowed.');
    } else if (this.#source.scope === "project") {
      this.problems.push("network works in your own profile only, not in a project's.");
    }
    return value === true;
  }

  #priority(): number {
    const { priority } = this.#value;
    if (priority === undefined) return 0;
    if (typeof priority === "number" && Number.isSafeInteger(priority)) return priority;
    this.problems.push(`priority must be a whole number, got ${shown(priority)}.`);
    return 0;
  }

  #glob(key: "tool" | "command", kind: GlobKind): Glob | undefined {
    const text = this.#text(key);
    return text === undefined ? undefined : this.#attempt(key, text, () => compileGlob(text, kind));
  }

  #attempt<T>(key: string, text: string, compile: () => T): T | undefined {
    try {
      return compile();
    } catch (error) {
      if (!(error instanceof GlobError)) throw error;
      this.problems.push(`${key} = ${shown(text)} is not a glob: ${error.message}.`);
      return undefined;
    }
  }

  #text(key: string): string | undefined {
    const value = this.#value[key];
    if (value === undefined || typeof value === "string") return value;
    this.problems.push(`${key} must be a text, got ${shown(value)}.`);
    return undefined;
  }

  #texts(key: string): readonly string[] {
    const value = this.#value[key] ?? [];
    if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
    this.problems.push(`${key} must be a list of texts, got ${shown(value)}.`);
    return [];
  }

  #choice<T extends string>(key: string, known: readonly T[]): T | undefined {
    const value = this.#value[key];
    const found = known.find((each) => each === value);
    if (value !== undefined && found === undefined)
      this.problems.push(`${key} must be ${known.join(" or ")}, got ${shown(value)}.`);
    return found;
  }
}

function atHome(path: string, home: string): string {
  return path.replace(/^~(?=\/|$)/, () => home);
}

function unknownKeys(value: Readonly<Record<string, unknown>>, known: readonly string[]): string[] {
  return Object.keys(value).filter((key) => !known.includes(key));
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return shorten(text, 80);
}
