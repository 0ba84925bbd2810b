/** One sign-in: first `agree`, then `signIn`, by whichever flow the provider has, gives the entry for the credential file. */
import type { OAuthEntry } from "../credentials/entry.js";
import { type BrowserFlowOptions, signInByBrowser } from "./browser-flow.js";
import { exchangeForCopilot } from "./copilot-token.js";
import { signInByDevice } from "./device-flow.js";
import { OAuthError } from "./oauth-error.js";
import type { OAuthProvider } from "./providers.js";

export interface SignInOptions extends BrowserFlowOptions {
  readonly account: string;
}

export interface Agreement extends Pick<BrowserFlowOptions, "person" | "signal"> {
  /** `given`: the person has said yes already. */
  readonly consent: "ask" | "given";
}

/** Shows the provider's terms, and throws if the user does not continue. */
export async function agree(
  { terms, termsNeed }: OAuthProvider,
  { person, consent, signal }: Agreement,
): Promise<void> {
  person.notify(`${terms}\n`);
  if (termsNeed === "notice" || consent === "given") return;
  if (person.ask === undefined)
    throw new OAuthError("refused", "This needs your confirmation: run it on a terminal, or add --yes.");
  const answer = await person.ask("Go on? [y/N] ", signal);
  if (!/^y(es)?$/i.test(answer?.trim() ?? "")) throw new OAuthError("cancelled", "Cancelled. Nothing was saved.");
}

export async function signIn(provider: OAuthProvider, options: SignInOptions): Promise<OAuthEntry> {
  const { account, clock } = options;
  const { name } = provider;
  const { tokens, endpoint = provider.api } = await flow(provider, options);
  return { kind: "oauth", provider: name, account, endpoint, addedAt: clock.wall(), tokens };
}

async function flow(provider: OAuthProvider, options: SignInOptions) {
  if (provider.flow === "browser") return { tokens: await signInByBrowser(provider, options) };
  const token = await signInByDevice(provider, options);
  const { http, signal, clock } = options;
  return exchangeForCopilot(provider, token, { http, signal, now: clock.wall() });
}
