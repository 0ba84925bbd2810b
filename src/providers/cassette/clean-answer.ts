/**
 * An answer without keys, secrets and this machine's folders, even if the model wrote them across several pieces of its stream.
 *
 * 1. Only lines that contain something to hide change; every other byte stays. A field with a secret is split again, word by word.
 * 2. The pieces of one field are checked as one text. A replacement starts where the match began.
 * 3. This code knows no wire: a field is its path in the JSON of a line, and a line is server-sent data or plain JSON.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";

export interface Cleaning {
  /** Replacements, longest first. */
  readonly replace: (text: string) => readonly Replacement[];
  /** `redact` for a text that comes in pieces. */
  readonly redactStream: () => { push(text: string): string; end(): string };
}

export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

interface Leaf {
  readonly line: number;
  text: string;
  readonly write: (text: string) => void;
}

const DATA = /^(data: ?)?(\{.*\})(\r?)$/;

export function cleanLines(lines: readonly string[], cleaning: Cleaning): readonly string[] {
  const frames = lines.map((line) => {
    const found = DATA.exec(line);
    const value = found === null ? undefined : parse(found[2] ?? "");
    return { line, value, prefix: found?.[1] ?? "", suffix: found?.[3] ?? "" };
  });
  const fields = new Map<string, Leaf[]>();
  for (const [index, { value }] of frames.entries()) if (value !== undefined) collect(value, index, fields);
  const changed = new Set<number>();
  for (const leaves of fields.values()) for (const line of cleanField(leaves, cleaning)) changed.add(line);
  return frames.map(({ line, value, prefix, suffix }, index) =>
    changed.has(index) ? `${prefix}${JSON.stringify(value)}${suffix}` : line,
  );
}

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function collect(value: JsonValue, line: number, fields: Map<string, Leaf[]>, at = ""): void {
  if (typeof value !== "object" || value === null) return;
  const holder = value as Record<string, JsonValue>;
  for (const [key, item] of Object.entries(holder)) {
    const place = `${at}/${key}`;
    if (typeof item !== "string") {
      collect(item, line, fields, place);
      continue;
    }
    const leaves = fields.get(place) ?? [];
    fields.set(place, leaves);
    leaves.push({
      line,
      text: item,
      write: (text) => {
        holder[key] = text;
      },
    });
  }
}

/** The lines that were changed. */
function cleanField(leaves: readonly Leaf[], { replace, redactStream }: Cleaning): readonly number[] {
  // The same word in every line is a name or an id, not a text in pieces.
  if (leaves.length > 1 && leaves.every(({ text }) => text === leaves[0]?.text)) return [];
  const replaced = spread(
    leaves.map(({ text }) => text),
    replace(leaves.map(({ text }) => text).join("")),
  );
  const redaction = redactStream();
  const clean = replaced.map((text) => redaction.push(text));
  const last = clean.length - 1;
  clean[last] += redaction.end();
  // The redactor delays words until they end. If it hides nothing, the words stay in their original pieces.
  const final = clean.join("") === replaced.join("") ? replaced : clean;
  return leaves.flatMap((leaf, index) => {
    const text = final[index] ?? "";
    if (text === leaf.text) return [];
    leaf.write(text);
    return [leaf.line];
  });
}

function spread(pieces: readonly string[], found: readonly Replacement[]): readonly string[] {
  if (found.length === 0) return pieces;
  let offset = 0;
  return pieces.map((piece) => {
    const from = offset;
    const to = from + piece.length;
    offset = to;
    let out = "";
    let at = from;
    for (const { start, end, by } of found) {
      if (end <= at || start >= to) continue;
      if (start >= from) out += piece.slice(at - from, start - from) + by;
      at = Math.min(end, to);
    }
    return out + piece.slice(at - from);
  });
}
