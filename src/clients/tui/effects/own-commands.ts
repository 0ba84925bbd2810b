/** Commands that the client does itself: a picker instead of a list, a new conversation, the end. */

import type { ScreenAction } from "../../../base/client-action.js";
import { readStatusLine, STATUS_PARTS } from "../../../base/status-parts.js";
import { text as textBlock } from "../../../protocol/content.js";
import { isJsonObject } from "../../../protocol/json.js";
import { readSlashAnswer, slashRequest } from "../../../protocol/slash-command.js";
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
  const action = options.clientAction(verb);
  switch (action) {
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
    case "undo":
      return (await import("./review-undo.js")).reviewUndo(args, carrier, options);
    case "login":
      await (await import("./login.js")).login(args.trim(), carrier, options);
      return true;
    case "doctor":
      await examine(options);
      return true;
    case "copy":
      (await import("./copy-answer.js")).copyAnswer(args.trim(), carrier, options);
      return true;
    case "statusline":
      await chooseStatusLine(args.trim(), options);
      return true;
    case "web":
      return openWeb(options);
    case undefined:
      return false;
    default:
      return show(action, args.trim(), { carrier, options });
  }
}

/** With arguments, the engine runs it without a list to choose from, if it knows the command. */
async function show(
  action: ShownAction,
  args: string,
  { carrier, options }: { readonly carrier: Carrier; readonly options: CarrierOptions },
): Promise<boolean> {
  if (args === "") await carrier.openDialog(DIALOGS[action]);
  else if (action === "theme") await chooseTheme(args, options);
  else if (ENGINE_TAKES.has(action)) return false;
  else options.print({ kind: "notice", level: "error", text: `/${action} takes no arguments; it opens a view.` });
  return true;
}

type ShownAction = keyof typeof DIALOGS;

/** `/model NAME`, `/config set NAME VALUE` and the like. */
const ENGINE_TAKES: ReadonlySet<ShownAction> = new Set(["model", "sessions", "settings"] as const);

const DIALOGS = {
  approve: "approvals",
  keys: "help",
  model: "models",
  rewind: "rewind",
  sessions: "sessions",
  settings: "settings",
  sidebar: "sidebar",
  theme: "themes",
  transcript: "transcript",
} as const satisfies Partial<Record<ScreenAction, DialogName>>;

async function examine({ doctor, print }: CarrierOptions): Promise<void> {
  const text = await doctor?.();
  if (text === undefined) print({ kind: "notice", level: "error", text: "This client cannot check itself." });
  else print({ kind: "command", line: "/doctor", text });
}

/** The address has a code that opens one page: the browser gets it, or the person copies it. */
async function openWeb({ client, state, print, copy, hint, openPage }: CarrierOptions): Promise<boolean> {
  const reply = await client.send("CustomCommand", slashRequest("web", ""), state().session);
  const { value, text } = readSlashAnswer(reply.ok ? reply.value : undefined);
  const url = isJsonObject(value) && typeof value.url === "string" ? value.url : undefined;
  if (!reply.ok) {
    print({ kind: "notice", level: "error", text: reply.failure.message });
    return true;
  }
  print({ kind: "command", line: "/web", text });
  if (url === undefined) return true;
  const missing = await openPage?.(url);
  if (openPage !== undefined && missing === undefined) hint("Opening the browser.");
  else if (copy(url)) hint("Asked the terminal to copy the address.");
  return true;
}

async function chooseTheme(name: string, options: CarrierOptions): Promise<void> {
  const { themes, print } = options;
  if (themes.some((theme) => theme.name === name)) {
    const { keepTheme } = await import("./open-named.js");
    return keepTheme(name, options);
  }
  const names = themes.map((theme) => theme.name).join(", ");
  print({ kind: "notice", level: "error", text: `There is no theme '${name}'. There are ${names}.` });
}

async function chooseStatusLine(typed: string, { useSetting, saveSettings, print }: CarrierOptions): Promise<void> {
  const say = (level: "info" | "error", text: string) => print({ kind: "notice", level, text });
  const known = STATUS_PARTS.join(", ");
  const isAll = typed === "all";
  const line = isAll ? STATUS_PARTS : readStatusLine(typed);
  if ("unknown" in line) return say("error", `There is no part '${line.unknown}'. There are ${known}.`);
  if (typed === "") {
    const words = "Name the parts in their order, such as /statusline model cost title. /statusline all shows all.";
    const own = "/statusline !COMMAND shows the first line that your command prints; it gets the state as JSON.";
    return say("info", `The mode is always first; the parts are ${known}. ${words} ${own}`);
  }
  const text = "command" in line ? `!${line.command}` : line.join(" ");
  useSetting("status_line", text);
  const saved = await saveSettings?.({ status_line: isAll ? null : text });
  const what = "command" in line ? "Your command prints the line now." : "The line has these parts now.";
  say("info", [what, saved].filter(Boolean).join(" "));
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
