/**
 * The sign-in of a page. The code of its address becomes a token, once. The token is kept for this tab, and belongs to this scheme, host
 * and port; it goes to the engine as a header, never as a cookie.
 */

const KEY = "oxbow.token";

export const HOW = "Run 'oxbow web' in a terminal, or type /web in a conversation, and open the address that you get.";

export async function signIn(
  code: string | undefined,
): Promise<{ readonly token: string } | { readonly problem: string }> {
  const kept = sessionStorage.getItem(KEY);
  if (code === undefined) return kept === null ? { problem: `This page is not signed in. ${HOW}` } : { token: kept };
  const [request, digits] = code.split(".");
  const answer = await fetch("/v1/auth/token", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ request, code: digits }),
    redirect: "error",
  }).catch(() => undefined);
  if (answer === undefined) return { problem: `Oxbow does not answer. ${HOW}` };
  const body = (await answer.json().catch(() => ({}))) as { readonly token?: string };
  // Someone who opens an old address in a tab that is signed in keeps what they have.
  if (typeof body.token !== "string")
    return kept === null
      ? { problem: `This address was used before, or is older than a minute. ${HOW}` }
      : { token: kept };
  sessionStorage.setItem(KEY, body.token);
  return { token: body.token };
}

export function signOut(): void {
  sessionStorage.removeItem(KEY);
}
