/** Finds the commands behind programs that run other programs. */
import { readArguments } from "./arguments.js";
import { parseShell } from "./grammar.js";
import { WRAPPERS } from "./programs/wrappers.js";
import type { Script, Word } from "./syntax.js";
import { fixedValue } from "./word-values.js";

/** The name of the program that a command calls; undefined when it is not known beforehand. */
export function programName(words: readonly Word[]): string | undefined {
  const [first] = words;
  if (first === undefined) return undefined;
  return first.text === "[" ? "[" : fixedValue(first);
}

/** The command behind a wrapper that adds nothing; the same words without one, or why it is unknown. */
export function unwrapQuietly(words: readonly Word[]): readonly Word[] | string {
  let inner = words;
  for (let depth = 0; depth < 4; depth++) {
    const name = programName(inner);
    const rules = name === undefined || !Object.hasOwn(WRAPPERS, name) ? undefined : WRAPPERS[name];
    if (name === undefined || !rules?.quiet) return inner;
    if (name === "command" && inner[1]?.text.startsWith("-")) return inner;
    let index = 1;
    const { flags = "", valued = "", before = [] } = rules;
    while (inner[index]?.text.startsWith("-")) {
      const takesNext = valued.split(" ").includes(inner[index]?.text ?? "");
      const taken = inner.slice(index, index + (takesNext ? 2 : 1));
      const read = readArguments(taken, { flags, valued });
      if (typeof read === "string") return `"${name}": ${read}`;
      index += taken.length;
    }
    for (const shape of before) {
      const word = inner[index];
      if (word === undefined || !shape.test(fixedValue(word) ?? "")) return `"${name}" is called in an unusual way`;
      index += 1;
    }
    if (inner[index] === undefined) return `"${name}" is given no command`;
    inner = inner.slice(index);
  }
  return "too many programs that run another one";
}

export interface Inner {
  /** Words that may be a command, by position alone: an option's value may be among them. */
  readonly commands: readonly (readonly Word[])[];
  /** Texts handed to a shell; undefined for those that cannot be parsed. */
  readonly scripts: readonly (Script | undefined)[];
}

/** Everything that a command may run through its arguments. For finding what is denied, not for trusting the rest. */
export function innerCommands(words: readonly Word[]): Inner {
  const name = programName(words)?.split("/").at(-1) ?? "";
  const rules = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  if (rules === undefined) return { commands: [], scripts: [] };
  const rest = words.slice(1, 60);
  const commands = rest.map((_, index) => rest.slice(index)).filter(([first]) => !first?.text.startsWith("-"));
  const texts: (string | undefined)[] = [];
  const code = new Set((rules.code ?? "").split(" "));
  rest.forEach((word, index) => {
    const next = rest[index + 1];
    if (code.has(word.text) && next !== undefined) texts.push(fixedValue(next));
  });
  if (rules.codeOperands) texts.push(joined(rest));
  return {
    commands,
    scripts: texts.map((text) => {
      const parsed = text === undefined ? undefined : parseShell(text);
      return parsed?.ok ? parsed.script : undefined;
    }),
  };
}

function joined(words: readonly Word[]): string | undefined {
  const values = words.map(fixedValue);
  return values.includes(undefined) ? undefined : values.join(" ");
}
