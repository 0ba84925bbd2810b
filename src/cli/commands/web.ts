/** `oxbow web`: the web client without a terminal client. */
import { resolve } from "node:path";
import { safeLine } from "../../base/terminal-text.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { ParsedFlags } from "../../feature/flags.js";
import { ONCE } from "../../runtime/commands/engine.js";
import { WEB_SHELL } from "../../runtime/commands/program.js";
import { nodeClock } from "../../system/node-clock.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { refuseAgents } from "../agent-limits.js";
import { EXIT } from "../exit-codes.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";
import { untilStopped } from "../until-stopped.js";

export const shell: ShellCommand = {
  name: "web",
  specs: [WEB_SHELL],
  about: `Shows Oxbow in the browser: every session of this home, to watch, answer and steer. It starts the engine if none runs, prints the
address, and keeps the engine there until Ctrl-C. Only this machine reaches it, unless you say --lan. Enter prints an address for another page. See docs/browser.md.`,
  printsItself: true,
  open: async (flags, variables) => ({
    commands: [],
    terminalCommands: [{ ...WEB_SHELL, take: () => web(flags, variables) }],
  }),
};

export const run = shellRunner(shell);

/** The engine counts as used for longer than this after a question. */
const ASK_MS = 5000;

async function web(flags: ParsedFlags, variables: Variables): Promise<number> {
  refuseAgents(variables, "'oxbow web'");
  const { askForPage, openPage } = await import("../web/open-page.js");
  const port = readPort(flags.text("port"));
  const lan = flags.has("lan") ? { lan: { folders: foldersOf(flags) } } : {};
  const first = await askForPage(variables, { ...lan, ...(port !== undefined && { port }) });
  const print = flags.has("lan") ? await codePrinter() : (url: string) => void process.stdout.write(`${url}\n`);
  print(first.url);
  process.stderr.write(`${ONCE} Enter prints another one, Ctrl-C ends.\n`);
  if (lan.lan !== undefined) process.stderr.write(lanWords(first.fingerprint ?? "", lan.lan.folders));
  else if (!flags.has("no-browser")) {
    const missing = openPage(first.url, variables);
    if (missing !== undefined) process.stderr.write(`No browser opens: ${missing}.\n`);
  }
  const same = { ...lan, port: Number(new URL(first.address).port) };
  let stopAsking = () => {};
  // An engine that was killed is started again, at the same address: open pages go on.
  const askAgain = () => {
    stopAsking = nodeClock.after(
      ASK_MS,
      () =>
        void askForPage(variables, same)
          .catch(() => {})
          .finally(askAgain),
    );
  };
  askAgain();
  process.stdin.on("data", () => {
    askForPage(variables, same).then(
      ({ url }) => print(url),
      (error: Error) => void process.stderr.write(`${error.message}\n`),
    );
  });
  await untilStopped(new Promise<never>(() => {}));
  stopAsking();
  process.stdin.destroy();
  return EXIT.answered;
}

/** Prints an address for a phone: as a code that its camera reads, and as text. */
async function codePrinter(): Promise<(url: string) => void> {
  const { renderUnicodeCompact } = await import("uqr");
  return (url) => void process.stdout.write(`${renderUnicodeCompact(url)}\n${url}\n`);
}

function lanWords(fingerprint: string, folders: readonly string[]): string {
  const shown = folders.map(safeLine).join(", ");
  return `The browser warns, because no authority vouches for the certificate. Compare its SHA-256 fingerprint, then continue:
  ${fingerprint}
The device sees the sessions in ${shown}, and answers what stays in their sandbox. '/clients' in a conversation shows it, '/clients:revoke CLIENT' sends it away.
`;
}

function foldersOf(flags: ParsedFlags): readonly string[] {
  const given = flags.list("folder").map((path) => realpathOrSelf(resolve(path)));
  return given.length > 0 ? given : [realpathOrSelf(process.cwd())];
}

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`--port takes a number up to 65535, not "${text}".`);
}
