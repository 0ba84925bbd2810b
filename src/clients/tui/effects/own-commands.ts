/** Commands that the client does itself: a picker instead of a list, a new conversation, the end. */
import { text as textBlock } from "../../../protocol/content.js";
import type { DialogName } from "../state.js";
import type { Carrier, CarrierOptions } from "./carrier.js";

export interface TypedCommand {
  readonly verb: string;
  readonly args: string;
}

/** False if the engine must run it. */
export async function runOwnCommand(
  { verb, args }: TypedCommand,
  carrier: Carrier,
  options: CarrierOptions,
): Promise<boolean> {
  const bare = args.trim() === "";
  switch (options.clientAction(verb)) {
    case "exit":
      options.exit();
      return true;
    case "cancel":
      await carrier.send("CancelTurn", {});
      return true;
    case "queue":
      if (!bare) await carrier.send("SendInput", { content: [textBlock(args)], queue: true });
      return true;
    case "clear": {
      const work = clear(options);
      carrier.switching(work);
      await work;
      return true;
    }
  }
  if (UNDO.has(verb)) {
    const { reviewUndo } = await import("./review-undo.js");
    return reviewUndo(args, carrier, options);
  }
  if (verb === "login") {
    const { login } = await import("./login.js");
    await login(args.trim(), carrier, options);
    return true;
  }
  if (verb === "copy") {
    const { copyAnswer } = await import("./copy-answer.js");
    copyAnswer(args.trim(), carrier, options);
    return true;
  }
  if (verb === "web") {
    // The engine's answer shows all of them.
    const [address] = options.state().place?.addresses ?? [];
    if (address !== undefined && options.copy(address)) options.hint(`Asked the terminal to copy ${address}.`);
    return false;
  }
  if (!bare && verb === "theme") {
    chooseTheme(args.trim(), options);
    return true;
  }
  if (!bare) return false;
  const dialog = DIALOGS.get(verb);
  if (dialog === undefined) return false;
  await carrier.openDialog(dialog);
  return true;
}

const UNDO: ReadonlySet<string> = new Set(["undo", "unapply", "session:undo", "sessions:undo"]);

const DIALOGS: ReadonlyMap<string, DialogName> = new Map([
  ["model", "models"],
  ["sessions", "sessions"],
  ["resume", "sessions"],
  ["session:resume", "sessions"],
  ["sessions:resume", "sessions"],
  ["session:attach", "sessions"],
  ["sessions:attach", "sessions"],
  ["theme", "themes"],
  ["keys", "help"],
  ["hotkeys", "help"],
  ["transcript", "transcript"],
  ["sidebar", "sidebar"],
  ["approve", "approvals"],
  ["rewind", "rewind"],
] as const);

function chooseTheme(name: string, { themes, setTheme, print }: CarrierOptions): void {
  if (themes.some((theme) => theme.name === name)) {
    setTheme(name);
    return;
  }
  const names = themes.map((theme) => theme.name).join(", ");
  print({ kind: "notice", level: "error", text: `There is no theme '${name}'. There are ${names}.` });
}

async function clear({ client, state, restart, print }: CarrierOptions): Promise<void> {
  const { session, model } = state();
  const reply = await client.send("CreateSession", { after: session });
  if (!reply.ok || reply.session === undefined) {
    if (!reply.ok) print({ kind: "notice", level: "error", text: reply.failure.message });
    return;
  }
  restart(reply.session, model);
  print({ kind: "notice", level: "info", text: "New, empty conversation. Your settings stay." });
}
