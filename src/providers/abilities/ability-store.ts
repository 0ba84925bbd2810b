/**
 * The reports, in one file of the user's state folder.
 *
 * 1. The newest report of a model replaces the one before. A report applies only to the model file that it was measured with.
 * 2. An unreadable file counts as no report; the next write replaces it.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import { writeFileAtomic } from "../../system/atomic-file.js";
import { asList, asNumber, asObject, asText, parseJson } from "../wire/fields.js";
import { ABILITIES, type AbilityReport, type Finding } from "./report.js";

const VERSION = 1;

export interface ModelName {
  readonly provider: string;
  readonly model: string;
}

export class AbilityStore {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  find({ provider, model }: ModelName): AbilityReport | undefined {
    return this.#read().find((report) => report.provider === provider && report.model === model);
  }

  async keep(report: AbilityReport): Promise<void> {
    await this.#write([...this.#without(report), report]);
  }

  /** False if there was no report. */
  async forget(name: ModelName): Promise<boolean> {
    if (this.find(name) === undefined) return false;
    await this.#write(this.#without(name));
    return true;
  }

  #without({ provider, model }: ModelName): readonly AbilityReport[] {
    return this.#read().filter((report) => report.provider !== provider || report.model !== model);
  }

  #read(): readonly AbilityReport[] {
    let text: string;
    try {
      text = readFileSync(this.#path, "utf8");
    } catch {
      return [];
    }
    const value = asObject(parseJson(text));
    if (value.version !== VERSION) return [];
    return asList(value.reports).flatMap((item) => (isJsonObject(item) ? readReport(item) : []));
  }

  async #write(reports: readonly AbilityReport[]): Promise<void> {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    await writeFileAtomic(this.#path, `${JSON.stringify({ version: VERSION, reports }, null, 2)}\n`, { mode: 0o600 });
  }
}

function readReport(item: JsonObject): readonly AbilityReport[] {
  const provider = asText(item.provider);
  const model = asText(item.model);
  if (provider === "" || model === "") return [];
  const digest = asText(item.digest);
  return [
    {
      provider,
      model,
      ...(digest !== "" && { digest }),
      measured_at: asText(item.measured_at),
      findings: asList(item.findings).flatMap((finding) => readFinding(asObject(finding))),
    },
  ];
}

function readFinding(item: JsonObject): readonly Finding[] {
  const ability = ABILITIES.find((known) => known === item.ability);
  if (ability === undefined) return [];
  const tokens = asNumber(item.tokens);
  return [
    {
      ability,
      ...(typeof item.able === "boolean" && { able: item.able }),
      detail: asText(item.detail),
      elapsed_ms: asNumber(item.elapsed_ms) ?? 0,
      ...(tokens !== undefined && { tokens }),
    },
  ];
}
