/** `/login`: the sign-in of `oxbow auth set`, on the terminal of the client. */

import type { Block } from "../content/block.js";
import { pickerDialog } from "../dialogs/list-picker.js";
import type { Carrier, CarrierOptions } from "./carrier.js";

export interface SignIn {
  readonly name: string;
  /** A key, an account, or nothing. */
  readonly needs: string;
  /** What to do instead, if there is nothing to sign in to. */
  readonly advice?: string;
}

/** How the program signs in to providers. */
export interface Login {
  providers(): Promise<readonly SignIn[]>;
  /** Runs the sign-in on the terminal; true if it succeeded. */
  run(provider: string): Promise<boolean>;
}

export async function login(provider: string, carrier: Carrier, options: CarrierOptions): Promise<void> {
  const { login: port, open, print } = options;
  if (port === undefined) {
    print({ kind: "notice", level: "info", text: "To sign in, leave and run: oxbow auth set PROVIDER" });
    return;
  }
  if (provider !== "") return signIn(provider, carrier, options);
  const providers = await port.providers();
  const items = providers.map(({ name, needs }) => ({ value: name, label: name, columns: [needs] }));
  const dialog = pickerDialog({
    name: "login",
    title: "Sign in",
    scopes: [{ name: "all", items }],
    empty: "No such provider.",
    matches: (filter, text) => text.toLowerCase().includes(filter.toLowerCase()),
  });
  open(dialog, (chosen) => {
    if (chosen !== undefined) void signIn(chosen, carrier, options);
  });
}

async function signIn(provider: string, carrier: Carrier, options: CarrierOptions): Promise<void> {
  const { login: port, print, update, hint } = options;
  const advice = (await port?.providers())?.find(({ name }) => name === provider)?.advice;
  if (advice !== undefined) {
    print({ kind: "notice", level: "info", text: advice });
    return;
  }
  const isDone = await port?.run(provider).catch((error: Error) => {
    print({ kind: "notice", level: "error", text: error.message });
    return false;
  });
  if (!isDone) print({ kind: "notice", level: "warning", text: `Not signed in to ${provider}. Nothing was changed.` });
  update((now) => now);
  await carrier.refresh();
  if (!isDone) return;
  hint(`Asking ${provider} …`);
  print(await verified(provider, options));
  hint("");
  await carrier.openDialog("models");
}

/** Uses the key once: the list of the provider's models shows whether it is accepted. */
async function verified(provider: string, { client, state }: CarrierOptions): Promise<Block> {
  const reply = await client.query("ListProviders", {}, state().session);
  const found = reply.ok ? reply.answer.providers.find(({ name }) => name === provider) : undefined;
  if (found === undefined) return { kind: "notice", level: "info", text: `${provider} is stored.` };
  if (!found.ready)
    return { kind: "notice", level: "warning", text: `${provider} is stored, but did not work: ${found.detail}` };
  const count = found.models.length === 1 ? "1 model" : `${found.models.length} models`;
  return { kind: "notice", level: "info", text: `${provider} is connected: ${count}.` };
}
