/** What finding, opening and describing models have in common. */

import type { HttpClient } from "../../system/http-client.js";
import type { LocalOptions } from "../local/local-ollama.js";
import type { Trace } from "../trace.js";
import type { ProviderDirectory } from "./provider-directory.js";

/** What a cassette has to do with providers that are programs. */
export interface ProgramTape {
  /** What the programs on it said of themselves, by name: these are neither asked nor run. */
  readonly said: ReadonlyMap<string, string>;
  /** Called after a program has described itself. */
  readonly met?: (name: string, said: string) => void;
  /** Wraps or replaces a program. */
  readonly around: (program: HttpClient) => HttpClient;
}

export interface ModelParts {
  readonly directory: ProviderDirectory;
  readonly http: HttpClient;
  readonly trace?: Trace;
  readonly local?: LocalOptions;
  readonly programs?: ProgramTape;
  /** The folder of what is worth keeping but not worth missing. */
  readonly state?: string | undefined;
}

/** The built-in model and its provider. */
export const OFFLINE = "offline";
