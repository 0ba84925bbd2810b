/** `oxbow ollama …` (feature M5). */

import { safeText } from "../../base/terminal-text.js";
import type { Variables } from "../../base/variables.js";
import { helpLines, parseFlags } from "../../commands/flags.js";
import { OllamaControl } from "../../runtime/commands/ollama-control.js";
import { networkOf } from "../../runtime/network.js";
import { makeHome } from "../../runtime/settings/home-folder.js";
import { createHttpClient } from "../../system/http-client.js";
import { nodeClock } from "../../system/node-clock.js";
import { roots } from "../../system/xdg-paths.js";
import { EXIT, exitCodeOfFailure } from "../exit-codes.js";
import { StatusLine } from "../status-line.js";
import { processTerminal } from "../terminal-io.js";

const FLAGS = [
  { name: "json", help: "the result as JSON" },
  { name: "help", short: "h", help: "show this help" },
];

const USAGE = `Usage: oxbow ollama [ACTION]

  status        whether it answers, and which models are in memory (the default)
  list          the installed models
  start         start 'ollama serve' in the background and wait until it answers
  stop          stop it again, if Oxbow had started it
  use NAME      load a model into memory, and use it from now on where no other is chosen
  pull NAME     download a model; after Ctrl-C, the same again goes on with it

`;

export async function run(args: readonly string[], variables: Variables): Promise<number> {
  const flags = parseFlags(FLAGS, args, "ollama");
  if (flags.has("help")) {
    process.stdout.write(`${USAGE}${helpLines(FLAGS)}\n\nOLLAMA_HOST names another address than 127.0.0.1:11434.\n`);
    return EXIT.answered;
  }
  makeHome(variables);
  const http = createHttpClient({ clock: nodeClock, network: networkOf(variables) });
  const cancel = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => cancel.abort());
  const status = new StatusLine(processTerminal(variables));
  try {
    const workspace = process.cwd();
    const control = new OllamaControl({ variables, roots: roots(variables), http, clock: nodeClock, workspace });
    const progress = (message: string) => status.show(message);
    const result = await control.run(flags.words, { progress, signal: cancel.signal });
    status.clear();
    if ("failure" in result) {
      process.stderr.write(`oxbow: ${safeText(asCommand(result.failure.message))}\n`);
      return cancel.signal.aborted ? EXIT.cancelled : exitCodeOfFailure(result.failure);
    }
    const shown = flags.has("json") ? JSON.stringify(result.value ?? {}, null, 2) : safeText(asCommand(result.text));
    process.stdout.write(`${shown}\n`);
    return EXIT.answered;
  } finally {
    status.clear();
    http.close();
  }
}

/** The texts name the command as it is typed in a conversation. */
function asCommand(text: string): string {
  return text.replaceAll("/ollama ", "oxbow ollama ");
}
