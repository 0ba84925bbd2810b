/** Opens the terminal client on a session. */

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { formatUsd } from "../../base/budget-text.js";
import type { SaveSettings } from "../../base/chosen-settings.js";
import type { OwnShell } from "../../base/own-shell.js";
import type { StatusLine } from "../../base/status-parts.js";
import { formatStats, type TurnStats } from "../../base/turn-stats.js";
import type { Variables } from "../../base/variables.js";
import { runTui } from "../../clients/tui/app.js";
import type { Block } from "../../clients/tui/content/block.js";
import type { Bindings } from "../../clients/tui/keys/bindings.js";
import type { Alerts, TuiEnd } from "../../clients/tui/options.js";
import { openTerminal } from "../../clients/tui/terminal/open-terminal.js";
import { processIo } from "../../clients/tui/terminal/process-io.js";
import type { EngineClient } from "../../protocol/client.js";
import type { SessionId } from "../../protocol/ids.js";
import { nodeClock } from "../../system/node-clock.js";
import { clientFiles } from "./client-files.js";
import { composerParts } from "./composer-parts.js";
import { terminalLogin } from "./login.js";
import { screenAction } from "./screen-actions.js";
import { clientThemes } from "./themes.js";

export interface ConverseOptions {
  readonly client: EngineClient;
  readonly session: SessionId;
  readonly variables: Variables;
  readonly model: string;
  readonly title?: string;
  readonly recent: readonly TurnStats[];
  readonly greeting: readonly Block[];
  readonly keys: Bindings;
  readonly resumed: boolean;
  /** The list that the client opens at the start. */
  readonly opens?: "sessions";
  readonly showCost: boolean;
  readonly spinner: "verses" | "plain";
  readonly screenReader: boolean;
  readonly vim: boolean;
  readonly wrap: "terminal" | "words";
  readonly alerts: Alerts;
  readonly theme: string | undefined;
  readonly statusLine?: StatusLine | undefined;
  readonly leaving: AbortSignal;
  readonly keepsTurn?: () => boolean | Promise<boolean>;
  /** The engine has ended: the conversation opens again. */
  readonly lost?: AbortSignal | undefined;
  readonly onDrawn?: () => void;
  readonly onSession?: (session: SessionId) => void;
  readonly shell?: OwnShell;
  readonly saveSettings?: SaveSettings;
  readonly doctor?: () => Promise<string>;
  /** Messages of the engine go to the screen while the client is open. */
  readonly onMessages: (show: (message: string) => void) => void;
}

export async function converseInTerminal(options: ConverseOptions): Promise<TuiEnd> {
  const { client, session, variables, spinner, screenReader } = options;
  const terminal = openTerminal(processIo({ process, variables, isLinear: screenReader }));
  const themes = clientThemes(variables, options.theme);
  let current = session;
  const folder = process.cwd();
  const composer = composerParts({ client, session: () => current, variables, terminal, clock: nodeClock, folder });
  const { theme: _theme, ...rest } = options;
  const end = await runTui({
    ...rest,
    terminal,
    clock: nodeClock,
    theme: themes.first,
    themes: themes.all,
    ...(options.theme === undefined && { light: () => terminal.backgroundIsLight() }),
    still: screenReader,
    linear: screenReader,
    verses: spinner === "verses" && !screenReader ? verses() : [],
    clientAction: screenAction,
    openPage: async (url) => (await import("../web/open-page.js")).openPage(url, variables),
    login: terminalLogin(terminal),
    wrapsWords: options.wrap === "words",
    alerts: options.alerts,
    composer: { ...composer, vim: options.vim },
    runStatusCommand: async (...command) => (await import("../own-shell.js")).firstOutput(variables, ...command),
    files: clientFiles(variables),
    onSession: (other) => {
      current = other;
      options.onSession?.(other);
    },
  });
  if (options.lost?.aborted) process.stdout.write("The engine has ended. Oxbow starts it again.\n");
  else process.stdout.write(farewell(end, { keeps: (await options.keepsTurn?.()) === true }));
  return end;
}

/** Tells how to resume the session, and what the last turn used. */
function farewell({ session, begun, state }: TuiEnd, { keeps }: { readonly keeps: boolean }): string {
  if (!begun) return "";
  const last = state.recent.at(-1);
  const cost = state.costs.session.usd > 0 ? ` · ${formatUsd(state.costs.session.usd)} in this session` : "";
  if (keeps && state.turn !== undefined) return `The turn goes on without this terminal. Come back: oxbow ${session}\n`;
  const usage = last === undefined ? "" : `Last turn: ${formatStats(last)}${cost}\n`;
  return `${usage}Resume: oxbow ${session}\n`;
}

function verses(): readonly string[] {
  for (const place of ["../assets/lear.txt", "../../../assets/lear.txt"]) {
    const file = fileURLToPath(new URL(place, import.meta.url));
    if (existsSync(file)) return readFileSync(file, "utf8").trim().split("\n");
  }
  return [];
}
