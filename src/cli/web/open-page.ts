/** Asks the engine of this home to show the web client, and opens it in the person's browser. */
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { WebAsked } from "../../control/transports/http/call.js";
import type { JsonObject } from "../../protocol/json.js";
import { findOpener, openBrowser } from "../../security/oauth/open-browser.js";
import { roots } from "../../system/xdg-paths.js";
import { startEngine } from "../engine/start-engine.js";
import { askEngine } from "../tokens/token-commands.js";

export interface Page {
  readonly address: string;
  readonly url: string;
  readonly fingerprint?: string;
}

/** Starts the engine if none runs. */
export async function askForPage(variables: Variables, body: WebAsked & JsonObject = {}): Promise<Page> {
  const started = await startEngine(variables, { name: "oxbow web", canAnswer: false });
  if ("failed" in started) throw new UsageError(started.failed);
  await started.client.close();
  const answer = await askEngine(roots(variables), { method: "POST", path: "/v1/web", body });
  const { address, url, fingerprint, error } = answer?.body ?? {};
  if (typeof address === "string" && typeof url === "string")
    return { address, url, ...(typeof fingerprint === "string" && { fingerprint }) };
  const { message } = (error ?? {}) as { readonly message?: unknown };
  throw new UsageError(typeof message === "string" ? message : "The engine has ended.");
}

/** Returns why no browser opens, as the end of a sentence. */
export function openPage(url: string, variables: Variables): string | undefined {
  const desktop = { platform: process.platform, variables, workspace: process.cwd() };
  const opener = findOpener(desktop);
  if ("missing" in opener) return opener.missing;
  openBrowser(opener, url, desktop);
  return undefined;
}
