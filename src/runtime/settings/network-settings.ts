/** Settings of requests to the network. */
import { UsageError } from "../../base/usage-error.js";
import type { Setting, SettingReader } from "./setting.js";
import * as read from "./setting-readers.js";

/** The provider of the model if it can, an engine with a key, or the address of a SearXNG server. */
export type WebSearchChoice = "provider" | "off" | "brave" | "tavily" | URL;

export interface NetworkSettings {
  /** Hosts that `web_fetch` may reach although they are not on the public internet. */
  readonly web_hosts: Setting<readonly string[]>;
  /** Whether `web_fetch` checks the addresses of a name itself although a proxy looks it up again, or leaves names to the proxy. */
  readonly web_names: Setting<"check" | "proxy">;
  /** Who answers `web_search`. */
  readonly web_search: Setting<WebSearchChoice>;
  /** The proxy for http and https requests, if no variable sets one. */
  readonly proxy: Setting<string | undefined>;
  readonly no_proxy: Setting<string | undefined>;
  /** A file of additional certificate authorities. */
  readonly ca_file: Setting<string | undefined>;
}

function webSearch(text: string): WebSearchChoice {
  const [choice] = (["provider", "off", "brave", "tavily"] as const).filter((each) => each === text);
  if (choice !== undefined) return choice;
  const address = /^(?:searxng[:\s]+)?(https?:\/\/.+)$/.exec(text)?.[1];
  if (address !== undefined && URL.canParse(address)) return new URL(address);
  throw new UsageError(`expected provider, brave, tavily, the address of a SearXNG server or off, got "${text}".`);
}

export function readNetworkSettings(from: SettingReader): NetworkSettings {
  return {
    web_hosts: from.pick<readonly string[]>({ key: "web_hosts", fallback: [], read: read.words }),
    web_names: from.pick<"check" | "proxy">({ key: "web_names", fallback: "check", read: read.webNames }),
    web_search: from.pick<WebSearchChoice>({ key: "web_search", fallback: "provider", read: webSearch }),
    proxy: from.pick<string | undefined>({ key: "proxy", fallback: undefined, read: String }),
    no_proxy: from.pick<string | undefined>({ key: "no_proxy", fallback: undefined, read: String }),
    ca_file: from.pick<string | undefined>({ key: "ca_file", fallback: undefined, read: read.certificateFile }),
  };
}
