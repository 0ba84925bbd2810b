/** Checks a provider's address. The message names the variable or file that it comes from. */
import type { NamedProvider } from "./named.js";

export function baseUrlProblem(
  provider: Pick<NamedProvider, "baseUrlName" | "sharedUrlName" | "origin">,
  baseUrl: string,
  variables: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (isAddress(baseUrl)) return undefined;
  const variable = [provider.baseUrlName, provider.sharedUrlName].find((name) => name && variables[name]?.trim());
  const given = (variable && variables[variable]?.trim()) || baseUrl;
  const guess = `http://${given.replace(/^[a-z]*:?\/*/i, (start) => (start.includes("/") ? "" : start))}`;
  const advice = !/^https?:/i.test(given) && isAddress(guess) ? ` Did you mean ${guess}?` : "";
  return `${variable ?? provider.origin ?? "The base URL"} is not an http or https address: "${given}".${advice}`;
}

/** A parser reads `http:///v1` as the host `v1`, so this checks for a host itself. */
function isAddress(text: string): boolean {
  return /^https?:\/\/[^/?#\s]/i.test(text) && URL.canParse(text);
}
