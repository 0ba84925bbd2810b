/** A conversation in the terminal client. */
import type { Variables } from "../../base/variables.js";
import type { Block } from "../../clients/tui/content/block.js";
import { readBindings } from "../../clients/tui/keys/bindings.js";
import type { ParsedFlags } from "../../feature/flags.js";
import type { SessionId } from "../../protocol/ids.js";
import { EXIT } from "../exit-codes.js";
import { ownShell } from "../own-shell.js";
import { stopOnSignals } from "../stop-signals.js";
import { converseInTerminal } from "../tui/converse.js";
import { type SharedConversation, savingIn } from "./converse.js";
import type { Conversation } from "./prepare.js";

const OFFLINE = "offline";
const CONNECT_HERE = "Or here: /login signs in or stores a key, then /model chooses a model.";

export interface ScreenOptions extends SharedConversation {
  readonly session: SessionId;
  readonly flags: ParsedFlags;
  readonly variables: Variables;
  readonly choosesSession: boolean;
}

export async function converseOnScreen(
  { client, chosen, resume, loaded, onMessages, recentTurns }: Conversation,
  options: ScreenOptions,
): Promise<number> {
  const { session, flags, variables, choosesSession, keepsTurn, onDrawn, onSession } = options;
  const leaving = new AbortController();
  options.leave?.addEventListener("abort", () => leaving.abort());
  const stop = stopOnSignals(() => leaving.abort(), { interrupts: "elsewhere" });
  const { model, note } = chosen;
  const name = `${model.provider}:${model.model}`;
  const greeting: Block[] = [{ kind: "notice", level: "info", text: `oxbow · ${name} · /model changes it` }];
  if (note !== undefined) greeting.push({ kind: "notice", level: "info", text: note });
  if (model.provider === OFFLINE) greeting.push({ kind: "notice", level: "info", text: CONNECT_HERE });
  const { settings } = loaded;
  const { bindings: keys, problems } = readBindings(settings.keys.value);
  for (const text of problems) greeting.push({ kind: "notice", level: "warning", text });
  await converseInTerminal({
    client,
    session,
    variables,
    model: name,
    ...(resume?.title !== undefined && { title: resume.title }),
    recent: await recentTurns(),
    greeting,
    keys,
    resumed: resume !== undefined,
    ...(choosesSession && { opens: "sessions" as const }),
    showCost: !flags.has("quiet-cost"),
    spinner: settings.spinner.value,
    theme: settings.theme.value,
    screenReader: settings.screen_reader.value,
    vim: settings.vim.value,
    wrap: settings.wrap.value,
    alerts: settings.alerts.value,
    statusLine: settings.status_line.value,
    leaving: leaving.signal,
    lost: options.leave,
    ...(keepsTurn && { keepsTurn }),
    ...(onDrawn && { onDrawn }),
    ...(options.isElsewhere !== true && { shell: ownShell(variables, settings.run_timeout) }),
    ...(onSession && { onSession }),
    onMessages,
    saveSettings: savingIn(loaded),
    doctor: async () => (await import("../commands/doctor.js")).findingsText(variables),
  });
  return stop.asked ? EXIT.cancelled : EXIT.answered;
}
