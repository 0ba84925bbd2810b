/** Requests for tokens: they open as a question, and end with a sentence. */
import type { TokenQuestion } from "../../../protocol/events.js";
import type { Reduced, State } from "../state.js";

/** The engine's limit. The clocks of a remote engine and this machine may differ, so its `expires_at` is not compared. */
const LIFETIME_MS = 60_000;

export function reduceToken(
  state: State,
  { token, message }: { readonly token: TokenQuestion; readonly message: string },
  now: number,
): Reduced {
  const { request, asks, code } = token;
  const others = state.tokens.filter((open) => open.request !== request);
  if (token.state === "open" && code !== undefined) {
    const tokens = [...others, { request, asks, code, until: now + LIFETIME_MS }];
    return { state: { ...state, tokens }, effects: [{ do: "call person", text: "A program asks for a token." }] };
  }
  const level = token.state === "void" ? "warning" : "info";
  return {
    state: { ...state, tokens: others },
    effects: [{ do: "print", block: { kind: "notice", level, text: message } }],
  };
}
