/** `oxbow auth set chatgpt|claude|copilot`: signing in with an account, in a browser. */

import { UsageError } from "../../../base/usage-error.js";
import { networkOf } from "../../../runtime/network.js";
import type { OAuthEntry } from "../../../security/credentials/entry.js";
import { OAuthError } from "../../../security/oauth/oauth-error.js";
import { findOpener, openBrowser } from "../../../security/oauth/open-browser.js";
import type { OAuthProvider } from "../../../security/oauth/providers.js";
import { agree, type SignInOptions, signIn } from "../../../security/oauth/sign-in.js";
import { atTestServer } from "../../../security/oauth/test-server.js";
import { createHttpClient } from "../../../system/http-client.js";
import { nodeClock } from "../../../system/node-clock.js";
import { EXIT } from "../../exit-codes.js";
import { printMessage } from "../../print-message.js";
import { inputIsConnected, personPresent, processTerminal } from "../../terminal-io.js";
import type { SecretContext } from "./open-commands.js";
import { openFileAtTerminal } from "./unlock.js";

const KEY_FLAGS = ["stdin", "key", "base-url"] as const;

export async function signInTo(
  row: OAuthProvider,
  context: SecretContext & { readonly account: string },
): Promise<number> {
  const { args, variables, account } = context;
  const wrong = KEY_FLAGS.find((name) => args.hasFlag(name));
  if (wrong !== undefined) throw new UsageError(`--${wrong} is for keys. ${row.label} uses a sign-in in a browser.`);
  const server = variables.OXBOW_TEST_SIGN_IN;
  const provider = server ? atTestServer(row, server) : row;
  const file = await openFileAtTerminal(variables);
  // A file that cannot be written shows before the sign-in, not after it.
  await file.change(() => ({ result: undefined }));
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  const http = createHttpClient({ clock: nodeClock, network: networkOf(variables) });
  const person = await openConversation(context);
  try {
    await agree(provider, { person, signal: stop.signal, consent: args.hasFlag("yes") ? "given" : "ask" });
    const entry = await signIn(provider, {
      http,
      clock: nodeClock,
      random: (count) => crypto.getRandomValues(new Uint8Array(count)),
      signal: stop.signal,
      person,
      account,
      ...browserOf(context),
    });
    await file.put(entry);
    process.stdout.write(`${success(provider, entry)}\n`);
    return EXIT.answered;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    printMessage(error.message);
    return error instanceof OAuthError && error.problem === "cancelled" ? EXIT.cancelled : EXIT.failed;
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    person.close();
    http.close();
  }
}

export function browserOf({ args, variables }: SecretContext): Pick<SignInOptions, "open"> {
  if (args.hasFlag("no-browser")) return {};
  const desktop = { platform: process.platform, variables, workspace: process.cwd() };
  const opener = findOpener(desktop);
  if ("program" in opener) return { open: (url) => openBrowser(opener, url, desktop) };
  printMessage(`cannot open a browser: ${opener.missing}.`);
  return {};
}

type Person = SignInOptions["person"] & { close(): void };

/** A script can paste too: its standard input is read line by line. */
export async function openConversation({ variables }: Pick<SecretContext, "variables">): Promise<Person> {
  const notify = (text: string) => void process.stderr.write(text);
  if (!personPresent() && !inputIsConnected()) return { notify, close: () => {} };
  const { LineReader } = await import("../../line-reader.js");
  const reader = new LineReader(nodeClock, { interrupt: "signal" });
  const ask = personPresent()
    ? processTerminal(variables, { lines: reader }).askLine
    : async (question: string) => {
        notify(`${question}\n`);
        return (await reader.next(question))?.text;
      };
  return { notify, ...(ask !== undefined && { ask }), close: () => reader.close() };
}

function success({ label, name }: OAuthProvider, { account, tokens, endpoint }: OAuthEntry): string {
  const who = [tokens.identity, account === "default" ? undefined : account].filter((part) => part !== undefined);
  const as = who.length === 0 ? "" : ` (${who.join(", ")})`;
  return `Signed in with ${label}${as}, for ${endpoint.baseUrl} only. Use it: oxbow --provider ${name} "PROMPT"`;
}
