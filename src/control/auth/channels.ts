/** The surfaces that show a code to a person, in the order in which they are tried. */

import { open } from "node:fs/promises";
import { safeText } from "../../base/terminal-text.js";
import { currentFolder, findOwnProgram } from "../../system/find-program.js";
import { ownVariables } from "../../system/trusted-path.js";
import type { ChannelName, ConfirmationChannel, PeopleMessage } from "./confirmation.js";

export interface ChannelOptions {
  /** Shows a message in the clients of people; returns how many there are. */
  readonly notifyPeople: (message: string, about?: PeopleMessage) => number;
  /** The terminal of the engine; `/dev/tty` unless a test names another file. */
  readonly terminal?: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
}

export type AuthChannel = "auto" | ChannelName;

export const AUTH_CHANNELS: readonly AuthChannel[] = ["auto", "client", "tty", "notify"];

/** `auto`: a client of a person, then the engine's terminal, then the desktop. */
export function confirmationChannels(wanted: AuthChannel, options: ChannelOptions): readonly ConfirmationChannel[] {
  const all = [clientChannel(options), terminalChannel(options), desktopChannel(options)];
  return wanted === "auto" ? all : all.filter(({ name }) => name === wanted);
}

function clientChannel({ notifyPeople }: ChannelOptions): ConfirmationChannel {
  return {
    name: "client",
    where: "in the terminal or web client that is attached",
    show: (message, about) => notifyPeople(message, about) > 0,
    close: (message, token) => void notifyPeople(message, { token }),
  };
}

function terminalChannel({ terminal = "/dev/tty" }: ChannelOptions): ConfirmationChannel {
  return {
    name: "tty",
    where: "in the terminal of the engine",
    // Standard output may be a file that others read; this is the terminal itself, if there is one.
    show: async (message) => {
      const handle = await open(terminal, "w").catch(() => undefined);
      if (handle === undefined) return false;
      try {
        await handle.writeFile(`\r\noxbow: ${safeText(message)}\r\n`);
        return true;
      } catch {
        return false;
      } finally {
        await handle.close();
      }
    },
  };
}

/** osascript gets its text on standard input. notify-send has no such way: its arguments are visible to processes of this user for a moment. */
function desktopChannel({ variables, platform = process.platform }: ChannelOptions): ConfirmationChannel {
  return {
    name: "notify",
    where: "in a desktop notification",
    show: async (message) => {
      const isMac = platform === "darwin";
      const hasDesktop =
        isMac || Boolean(variables.DISPLAY || variables.WAYLAND_DISPLAY || variables.DBUS_SESSION_BUS_ADDRESS);
      const program = hasDesktop ? findOwnProgram(isMac ? "osascript" : "notify-send", variables.PATH) : undefined;
      if (program === undefined) return false;
      const env = ownVariables(variables, currentFolder());
      const script = `display notification ${JSON.stringify(message)} with title "Oxbow"`;
      return isMac
        ? runs(program, { args: ["-"], input: script, env })
        : runs(program, { args: ["--urgency=critical", "--expire-time=60000", "Oxbow", message], input: "", env });
    },
  };
}

interface Call {
  readonly args: readonly string[];
  readonly input: string;
  readonly env: ChannelOptions["variables"];
}

async function runs(program: string, { args, input, env }: Call): Promise<boolean> {
  const { execFile } = await import("node:child_process");
  return new Promise((resolve) => {
    const child = execFile(program, args, { timeout: 5000, env }, (error) => resolve(error === null));
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}
