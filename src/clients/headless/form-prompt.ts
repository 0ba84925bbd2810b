/** Asks the user at the terminal for the values of a form, a line each. */
import { paint } from "../../base/terminal-style.js";
import { safeLine } from "../../base/terminal-text.js";
import type { FormField } from "../../protocol/form.js";
import type { Terminal } from "./terminal.js";

/** The values as JSON; undefined if the input ended. The engine checks them. An empty line takes the default. */
export async function askForm(
  terminal: Terminal,
  fields: readonly FormField[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const values: Record<string, string> = {};
  for (const field of fields) {
    for (const line of aboutField(field)) terminal.err.write(`${paint(terminal, "dim", line)}\n`);
    for (;;) {
      const line = await terminal.askLine?.(`${safeLine(field.title ?? field.name)}${usualOf(field)}: `, signal);
      if (line === undefined) return undefined;
      const written = line.trim();
      if (written !== "") values[field.name] = chosen(field, written);
      if (written !== "" || field.required === undefined || field.default !== undefined) break;
      terminal.err.write("This one is required.\n");
    }
  }
  return JSON.stringify(values);
}

function aboutField({ description, hint, kind, choices = [] }: FormField): readonly string[] {
  const facts = [description, hint, kind === "yes_no" ? "yes or no" : undefined].filter((each) => each !== undefined);
  const listed = choices.map(({ title }, index) => `  ${index + 1}) ${safeLine(title)}`);
  const how = kind === "some" ? ["several with commas: 1,3"] : [];
  return [...(facts.length === 0 ? [] : [safeLine(facts.join("; "))]), ...listed, ...how];
}

function usualOf({ default: usual, choices = [] }: FormField): string {
  if (usual === undefined) return "";
  const titleOf = (value: string) => choices.find((choice) => choice.value === value)?.title ?? value;
  const shown = Array.isArray(usual)
    ? usual.map(titleOf).join(", ")
    : typeof usual === "boolean"
      ? usual
        ? "yes"
        : "no"
      : titleOf(String(usual));
  return ` [${safeLine(shown)}]`;
}

/** A number of the list, or the choice itself. */
function chosen({ choices, kind }: FormField, written: string): string {
  if (choices === undefined) return written;
  const valueFor = (part: string) => choices[Number(part) - 1]?.value ?? part;
  return kind === "some"
    ? written
        .split(",")
        .map((part) => valueFor(part.trim()))
        .join(",")
    : valueFor(written);
}
