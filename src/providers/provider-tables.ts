/** Providers in the profile: `[providers.NAME]` tables. */
import { isJsonObject, type JsonValue } from "../protocol/json.js";
import { FieldError, type ProviderFields, readField, readHeader } from "./own-provider.js";

/** Reads one table. Error messages name the file and the key: `config.toml (providers.acme.url)`. */
export function readProviderTable(name: string, table: JsonValue, file: string): ProviderFields {
  const place = (key = "") => `${file} (providers.${name}${key})`;
  if (!isJsonObject(table)) throw new FieldError(`${place()}: expected a table of settings.`);
  let fields: ProviderFields = {};
  for (const [key, value] of Object.entries(table)) {
    try {
      fields = { ...fields, ...readEntry(key, value) };
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      throw new FieldError(`${place(`.${key}`)}: ${error.message}`);
    }
  }
  return fields;
}

function readEntry(key: string, value: JsonValue | undefined): ProviderFields {
  if (key === "headers" || key === "body") {
    if (!isJsonObject(value)) throw new FieldError("expected a table.");
    if (key === "body") return { body: value };
    const headers = Object.entries(value).map(([name, text]) => readHeader(name, String(text)));
    return { headers: Object.assign({}, ...headers) };
  }
  if (typeof value !== "string" && typeof value !== "number") throw new FieldError("expected a string or a number.");
  return readField(key, String(value));
}
