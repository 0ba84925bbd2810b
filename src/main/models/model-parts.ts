/** What finding, opening and describing models have in common. */
import type { LocalWishes } from "../../providers/local/local-ollama.js";
import type { Trace } from "../../providers/trace.js";
import type { HttpClient } from "../../system/http-client.js";
import type { ProviderDirectory } from "./provider-directory.js";

export interface ModelParts {
  readonly directory: ProviderDirectory;
  readonly http: HttpClient;
  readonly trace?: Trace;
  readonly local?: LocalWishes;
  /** The folder of what is worth keeping but not worth missing. */
  readonly state?: string | undefined;
}

/** The built-in model and its provider. */
export const OFFLINE = "offline";
