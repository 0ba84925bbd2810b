/** `/login` of the line client: the sign-in of `oxbow auth set`, between two prompts. */
import { padText, textWidth } from "../../base/text-width.js";
import type { Login } from "../../clients/tui/effects/login.js";

export async function loginByLine(login: Login, provider: string, say: (text: string) => void): Promise<void> {
  const providers = await login.providers();
  if (provider === "") {
    const width = Math.max(...providers.map(({ name }) => textWidth(name)));
    for (const { name, needs } of providers) say(`${padText(name, width)}  ${needs}`);
    say("Sign in: /login PROVIDER");
    return;
  }
  const advice = providers.find(({ name }) => name === provider)?.advice;
  if (advice !== undefined) say(advice);
  else if (await login.run(provider)) say(`${provider} is connected. /model lists its models.`);
  else say(`Not signed in to ${provider}. Nothing was changed.`);
}
