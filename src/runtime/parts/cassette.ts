/**
 * Records the model traffic of a run on a cassette, or replays one: `--record FILE` and `--replay FILE`, and the same for the
 * library. A problem with the file is a CassetteError.
 */
import { createHash } from "node:crypto";
import { appendFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import type { Clock } from "../../base/clock.js";
import type { Variables } from "../../base/variables.js";
import type { Authorise } from "../../providers/authorisation.js";
import type { Place, Surroundings } from "../../providers/cassette/canonical.js";
import { recordingClient } from "../../providers/cassette/record.js";
import { type ReplayReport, replayingClient } from "../../providers/cassette/replay.js";
import { CASSETTE_VERSION, CassetteError, cassetteLine, parseCassette } from "../../providers/cassette/tape.js";
import { NAMED_PROVIDERS } from "../../providers/named.js";
import type { ProgramTape } from "../../providers/selection/model-parts.js";
import { redact } from "../../security/redact/redact.js";
import { RedactingStream } from "../../security/redact/redacting-stream.js";
import { readGivenFileSync } from "../../system/given-file.js";
import { createHttpClient, type HttpClient } from "../../system/http-client.js";
import type { ModelRegistryOptions } from "../models/model-registry.js";
import type { OpenNetwork } from "../network.js";

export type CassetteOptions =
  | { readonly record: string }
  | {
      readonly replay: string;
      /** 1 is the recorded speed; default: no delay. */
      readonly speed?: number | undefined;
    };

export interface CassetteFacts {
  readonly variables: Variables;
  /** Folders that differ from run to run. */
  readonly places: readonly Place[];
  readonly clock: Clock;
  readonly network?: OpenNetwork | undefined;
}

export interface RunCassette {
  readonly http: HttpClient;
  /** The addresses and keys of requests. */
  readonly registry: Partial<ModelRegistryOptions>;
  /** The model that the recorded run began with. */
  readonly model?: { readonly provider: string; readonly model: string } | undefined;
  /** Records the model that the run begins with. */
  begins(model: { readonly provider: string; readonly model: string }): void;
  /** The report at the end of the run; undefined if it went as recorded. */
  conclude(): Conclusion | undefined;
}

export interface Conclusion {
  /** Lines for the user. */
  readonly text: string;
  readonly failed: boolean;
}

export function openCassette(options: CassetteOptions, facts: CassetteFacts): RunCassette {
  return "record" in options
    ? record(options.record, facts)
    : replay(options.replay, { ...facts, speed: options.speed });
}

function record(file: string, facts: CassetteFacts): RunCassette {
  const { variables, clock } = facts;
  const header = {
    type: "cassette" as const,
    version: CASSETTE_VERSION,
    recorded: new Date(clock.wall()).toISOString(),
    variables: addresses(variables),
  };
  try {
    writeFileSync(file, cassetteLine(header), { flag: "wx", mode: 0o600 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CassetteError(
      code === "EEXIST"
        ? `${file} exists already. Remove it, or choose another name.`
        : `Cannot write ${file}: ${message}`,
    );
  }
  let calls = 0;
  const taped = (http: HttpClient) =>
    recordingClient({
      ...surroundings(facts),
      redactStream: () => new RedactingStream(),
      http,
      clock,
      write: (exchange) => {
        if (exchange.type === "call") calls++;
        appendFileSync(file, cassetteLine(exchange));
      },
    });
  const http = taped(createHttpClient({ clock, network: facts.network }));
  const { redact: hide } = surroundings(facts);
  const met = new Set<string>();
  const programs: ProgramTape = {
    outputs: new Map(),
    met: (name, outputs) => {
      if (met.has(name)) return;
      met.add(name);
      appendFileSync(file, cassetteLine({ type: "program", name, defaults: hide(outputs) }));
    },
    around: taped,
  };
  return {
    http,
    registry: { http, programs, aroundAccess: (authorise) => authorise && throughTape(authorise, taped) },
    begins: ({ provider, model }) => appendFileSync(file, cassetteLine({ type: "model", provider, model })),
    conclude: () => {
      const text = `${file} holds no model call: the offline model makes none.`;
      return calls === 0 ? { text, failed: false } : undefined;
    },
  };
}

/** A client with its own authorisation also carries the traffic. */
function throughTape(authorise: Authorise, taped: (http: HttpClient) => HttpClient): Authorise {
  return async (signal) => {
    const given = await authorise(signal);
    return "failure" in given || given.http === undefined ? given : { ...given, http: taped(given.http) };
  };
}

function replay(file: string, facts: CassetteFacts & { readonly speed?: number | undefined }): RunCassette {
  const cassette = read(file);
  const http = replayingClient({ ...surroundings(facts), cassette, file, clock: facts.clock, speed: facts.speed });
  const variables: Record<string, string | undefined> = { ...facts.variables };
  for (const { keyName, baseUrlName } of NAMED_PROVIDERS) {
    if (baseUrlName !== undefined) variables[baseUrlName] = cassette.header.variables[baseUrlName];
    if (keyName !== undefined) variables[keyName] = undefined;
  }
  // A replay has no server that checks the key.
  const outputs = new Map(cassette.programs.map(({ name, defaults }) => [name, defaults]));
  const programs: ProgramTape = { outputs, around: () => http };
  const registry: Partial<ModelRegistryOptions> = { http, programs, variables, aroundAccess: () => async () => ({}) };
  return { http, registry, model: cassette.model, begins: () => {}, conclude: () => verdict(file, http.report()) };
}

function read(file: string) {
  let text: string;
  try {
    text = readGivenFileSync(file).toString("utf8");
  } catch (error) {
    throw new CassetteError(`Cannot read ${file}: ${(error as Error).message}`);
  }
  return parseCassette(text, file);
}

function verdict(file: string, { mismatch, left }: ReplayReport): Conclusion | undefined {
  if (mismatch !== undefined) {
    // The run has ended with the failure itself.
    return { text: mismatch.differences && `recorded (-) and sent (+):\n${mismatch.differences}`, failed: true };
  }
  if (left.length === 0) return undefined;
  const calls = left.length === 1 ? "1 call was" : `${left.length} calls were`;
  const lines = left.map((line) => `\n  ${line}`).join("");
  return { text: `${file}: ${calls} recorded and not made:${lines}`, failed: true };
}

function surroundings({ places, clock }: CassetteFacts): Surroundings {
  return {
    places: [...places, { name: "tmp", path: tmpdir() }],
    today: new Date(clock.wall()).toISOString().slice(0, 10),
    redact,
    digest: (text) => createHash("sha256").update(text).digest("hex").slice(0, 32),
  };
}

/** Addresses without possible secrets. */
function addresses(variables: Variables): Record<string, string> {
  const names = new Set(NAMED_PROVIDERS.flatMap(({ baseUrlName }) => baseUrlName ?? []));
  return Object.fromEntries([...names].flatMap((name) => (variables[name] ? [[name, bare(variables[name])]] : [])));
}

function bare(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  url.username = "";
  url.password = "";
  url.search = "";
  return url.href.replace(/\/$/, "");
}
