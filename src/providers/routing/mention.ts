/** `@name …` at the beginning of an input: the route that it names, and the rest of the input. */

export type Mention =
  /** Not a mention, or `\@`, which means `@`. */
  | { readonly kind: "none"; readonly text: string }
  /** Has the form of a mention. `text` is the rest after the name. */
  | { readonly kind: "named"; readonly name: string; readonly text: string };

export const ROUTE_NAME = /^[a-z0-9][\w.-]*$/i;

export function readMention(input: string): Mention {
  const escaped = /^(\s*)\\(@[\s\S]*)$/.exec(input);
  if (escaped !== null) return { kind: "none", text: `${escaped[1]}${escaped[2]}` };
  const [, name, text] = /^\s*@([a-z0-9][\w.-]*)(?:\s+([\s\S]*))?$/i.exec(input) ?? [];
  return name === undefined ? { kind: "none", text: input } : { kind: "named", name, text: text ?? "" };
}
