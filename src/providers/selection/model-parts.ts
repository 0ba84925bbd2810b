/** Describes what the code that finds, opens and describes models shares. */

import type { HttpClient } from "../../system/http-client.js";
import type { AskedModel } from "../catalogue/catalogue.js";
import type { ContainProvider } from "../executable/containment.js";
import type { LocalOptions } from "../local/local-ollama.js";
import type { Trace } from "../trace.js";
import type { ProviderDirectory } from "./provider-directory.js";

/** Describes how a cassette records and replays provider programs. */
export interface ProgramTape {
  /** The recorded descriptions of programs, by name: these programs do not run. */
  readonly outputs: ReadonlyMap<string, string>;
  /** Called after a program has described itself. */
  readonly met?: (name: string, outputs: string) => void;
  /** Wraps or replaces a program. */
  readonly around: (program: HttpClient) => HttpClient;
}

export interface ModelParts {
  readonly directory: ProviderDirectory;
  readonly http: HttpClient;
  readonly trace?: Trace;
  readonly local?: LocalOptions;
  readonly programs?: ProgramTape;
  /** The sandbox for the providers of a project. */
  readonly contain?: ContainProvider;
  /** The time between two lines of the offline model's answers. */
  readonly offlineLineMs?: number | undefined;
  /** False: a provider that refuses the sign-in is never replaced by another one. */
  readonly standIns?: boolean | undefined;
  /** Tells whether the catalogue says that a model takes audio; undefined if it does not know. */
  readonly hears?: ((model: AskedModel) => Promise<boolean | undefined>) | undefined;
  /** The state folder: Oxbow works without the files in it. */
  readonly state?: string | undefined;
  /** The cache folder, which may have a newer catalogue. */
  readonly cache?: string | undefined;
}

/** The built-in model and its provider. */
export const OFFLINE = "offline";
