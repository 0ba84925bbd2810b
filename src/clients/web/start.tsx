/** Starts the web client: it signs in, connects, and draws the page. */
import { render } from "preact";
import { App } from "./app.js";
import { signIn } from "./sign-in.js";
import { connectPage, problem } from "./store.js";

export async function start(code: string | undefined): Promise<void> {
  const root = document.getElementById("app");
  if (root === null) throw new Error("the page has no place for the client");
  const signed = await signIn(code);
  if ("problem" in signed) problem.value = { text: signed.problem, isFinal: true };
  else void connectPage(signed.token);
  render(<App />, root);
}
