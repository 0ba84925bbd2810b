/** Provider variants from `.conf` files: `key=value` lines, `#` comments. Every error message has its line. */
import { FieldError, type ProviderFields, readField, readHeader } from "./own-provider.js";

export function parseProviderConf(text: string, file: string, programs: readonly string[] = []): ProviderFields {
  let fields: ProviderFields = {};
  const seen = new Map<string, number>();
  for (const [index, raw] of text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const place = `${file}:${index + 1}`;
    const equals = line.indexOf("=");
    if (equals < 1) throw new FieldError(`${place}: expected KEY=VALUE, got "${line.slice(0, 60)}".`);
    const key = line.slice(0, equals).trim();
    const before = seen.get(key.toLowerCase());
    if (before !== undefined) throw new FieldError(`${place}: ${key} is already set in line ${before}.`);
    seen.set(key.toLowerCase(), index + 1);
    try {
      fields = merged(fields, readEntry(key, unquoted(line.slice(equals + 1).trim()), programs));
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      const known = /^there is no field/.test(error.message);
      throw new FieldError(`${place}: ${known ? "" : `${key}: `}${error.message}`);
    }
  }
  return fields;
}

/** `header.NAME=VALUE` is a header. */
function readEntry(key: string, value: string, programs: readonly string[]): ProviderFields {
  const header = /^headers?\.(.+)$/i.exec(key)?.[1];
  return header === undefined ? readField(key, value, programs) : { headers: readHeader(header, value) };
}

function merged(fields: ProviderFields, more: ProviderFields): ProviderFields {
  const headers = { ...fields.headers, ...more.headers };
  return { ...fields, ...more, ...(Object.keys(headers).length > 0 && { headers }) };
}

function unquoted(value: string): string {
  return /^(".*"|'.*')$/s.test(value) && value.length > 1 ? value.slice(1, -1) : value;
}
