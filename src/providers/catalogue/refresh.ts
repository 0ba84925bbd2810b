/** Fetches the newest catalogue, checks it, and replaces the old one atomically. */
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { JsonValue } from "../../protocol/json.js";
import { writeFileAtomic } from "../../system/atomic-file.js";
import type { HttpClient } from "../../system/http-client.js";
import { HttpError } from "../../system/http-error.js";
import { fromModelsDev } from "./models-dev.js";
import { type CatalogueTable, renderTable } from "./table.js";

export const CATALOGUE_URL = "https://models.dev/api.json";

export interface RefreshOptions {
  readonly url: string;
  /** The file of the fetched catalogue. */
  readonly file: string;
  readonly http: HttpClient;
  /** YYYY-MM-DD. */
  readonly today: string;
  readonly signal?: AbortSignal;
}

const MOST_BYTES = 32 * 1024 * 1024;
const TIMEOUTS = { connectMs: 10_000, idleMs: 20_000 };

/** Throws with a message for the user; then the old one stays. */
export async function refreshCatalogue(options: RefreshOptions): Promise<CatalogueTable> {
  const { url, file, today } = options;
  const table = read(await get(options), url, today);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFileAtomic(
    file,
    renderTable(table, `Facts about models from ${url}, fetched by 'oxbow models --refresh'.`),
  );
  return table;
}

async function get({ url, http, signal }: RefreshOptions): Promise<string> {
  try {
    const response = await http.request({
      method: "GET",
      url,
      headers: { accept: "application/json" },
      timeouts: TIMEOUTS,
      ...(signal !== undefined && { signal }),
    });
    const { status } = response;
    const body = await response.text(MOST_BYTES);
    if (status !== 200) throw new Error(`${url} answered with HTTP ${status}.`);
    return body;
  } catch (error) {
    if (error instanceof HttpError) throw new Error(`Could not fetch ${url}: ${error.message}`);
    throw error;
  }
}

function read(body: string, url: string, today: string): CatalogueTable {
  let document: JsonValue;
  try {
    document = JSON.parse(body) as JsonValue;
  } catch {
    throw new Error(`${url} did not answer with JSON. The catalogue stays as it was.`);
  }
  try {
    return fromModelsDev(document, today);
  } catch (error) {
    throw new Error(`${url} is not a catalogue of models: ${(error as Error).message}. The old one stays.`);
  }
}
