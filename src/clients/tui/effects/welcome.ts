/** Messages for the start that take a moment to find out. Nothing waits for them. */
import { isJsonObject } from "../../../protocol/json.js";
import type { State } from "../state.js";
import { ageOf } from "../views/age.js";
import type { Carrier, CarrierOptions } from "./carrier.js";
import { isWorking, lastSession } from "./resume.js";

export async function welcome(
  carrier: Carrier,
  { client, state, clock, keys, print, update }: CarrierOptions,
  before: State,
): Promise<void> {
  const say = (text: string) => {
    // Once the conversation has begun, this prints nothing.
    const now = state();
    if (now.session !== before.session || now.turn !== undefined || now.costs !== before.costs) return;
    print({ kind: "notice", level: "info", text });
    update((current) => current);
  };
  const last = await lastSession(client, state());
  if (last !== undefined) {
    const { title = "(no title)" } = last;
    const key = keys.nameOf("last-session") ?? "/resume";
    const age = ageOf(Date.parse(last.active_at), clock.wall());
    const ago = age === "0m" ? "just now" : `${age} ago`;
    say(
      isWorking(last)
        ? `${key} opens the conversation that still works here: ${title}`
        : `${key} resumes the last conversation here: ${title} (${ago})`,
    );
    return;
  }
  // The first time in this folder.
  for (const tip of tips(keys)) say(tip);
  const reply = await carrier.slash("security", "");
  const value = reply.ok && isJsonObject(reply.value) ? reply.value.value : undefined;
  const sandbox = isJsonObject(value) ? value.sandbox : undefined;
  // One that works is no news: /security explains it.
  if (typeof sandbox === "string" && !/^(bubblewrap|unshare)/.test(sandbox)) say(`Sandbox: ${sandbox}`);
}

function tips(keys: CarrierOptions["keys"]): readonly string[] {
  const mode = keys.nameOf("mode");
  return [
    'Try: "what does this project do?", or name a file with @. !COMMAND runs a command of your own.',
    `${mode === undefined ? "/mode" : `${mode} or /mode`} chooses between auto, review of each edit, and plan. /undo takes changes back.`,
    "/init writes an AGENTS.md with what the model should know about this project.",
  ];
}
