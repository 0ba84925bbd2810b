/** Forms that a server asks the user to fill in. */
import type { JsonObject, JsonValue } from "../../protocol/json.js";

export interface Field {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: string | number | boolean | string[];
  readonly enum?: readonly string[];
}

export function formText(fields: Readonly<Record<string, Field>>, required: readonly string[]): string {
  const lines = Object.entries(fields).map(([name, { type, description, default: usual, enum: choices }]) => {
    const facts = [
      type ?? "text",
      required.includes(name) ? "required" : "optional",
      ...(choices === undefined ? [] : [`one of ${choices.join(", ")}`]),
      ...(usual === undefined ? [] : [`default ${JSON.stringify(usual)}`]),
    ];
    return `${name} (${facts.join("; ")})${description === undefined ? "" : `: ${description}`}`;
  });
  return [...lines, "", "Answer with NAME=VALUE lines or JSON as the message; without, the defaults are sent."].join(
    "\n",
  );
}

/** The defaults, and what the person wrote: JSON, lines of NAME=VALUE, or the value of the only field. */
export function formValues(
  fields: Readonly<Record<string, Field>>,
  message = "",
): Record<string, string | number | boolean | string[]> {
  const values: Record<string, string | number | boolean | string[]> = {};
  for (const [name, { default: usual }] of Object.entries(fields)) if (usual !== undefined) values[name] = usual;
  for (const [name, written] of Object.entries(writtenValues(fields, message))) {
    const field = fields[name];
    if (field === undefined) continue;
    const value = typeof written === "string" ? typed(written, field) : written;
    if (value !== undefined) values[name] = value as string | number | boolean;
  }
  return values;
}

function writtenValues(fields: Readonly<Record<string, Field>>, message: string): Readonly<Record<string, JsonValue>> {
  const words = message.trim();
  if (words === "") return {};
  if (words.startsWith("{")) {
    try {
      return JSON.parse(words) as JsonObject as Record<string, JsonValue>;
    } catch {
      return {};
    }
  }
  const pairs = [...words.matchAll(/^\s*([^=\s]+)\s*=\s*(.*?)\s*$/gm)].map(([, name = "", value = ""]) => [
    name,
    value,
  ]);
  const known = pairs.filter(([name = ""]) => Object.hasOwn(fields, name));
  if (known.length > 0) return Object.fromEntries(known) as Record<string, string>;
  const [only, ...others] = Object.keys(fields);
  return only !== undefined && others.length === 0 ? { [only]: words } : {};
}

function typed(written: string, { type }: Field): string | number | boolean | undefined {
  if (type === "boolean") return /^(true|yes|y|1)$/i.test(written);
  if (type !== "number" && type !== "integer") return written;
  const value = Number(written);
  return Number.isFinite(value) ? value : undefined;
}
