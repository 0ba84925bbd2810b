/** Holds what the tools of one session share. Each is created at first use. */
import type { BackgroundCommands } from "./background.js";
import type { BashOptions } from "./bash.js";
import type { Searcher } from "./search/searcher.js";
import type { WebFetchOptions } from "./web-fetch.js";
import type { Workspace } from "./workspace.js";

export interface ToolPlace {
  workspace(): Promise<Workspace>;
  searcher(): Promise<Searcher>;
  background(): Promise<BackgroundCommands>;
  /** The ports that listen in the network of the session's commands. */
  readonly ports: (() => Promise<readonly number[]>) | undefined;
  commands(): Promise<BashOptions>;
  web(): Promise<WebFetchOptions>;
}
