/** Opens an address in the person's browser, where there is one that this machine can open. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { findProgram } from "../../system/find-program.js";
import { ownVariables } from "../../system/trusted-path.js";

export interface Desktop {
  readonly platform: NodeJS.Platform;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Not trusted to supply programs. */
  readonly workspace: string;
  /** For tests. */
  readonly exists?: (path: string) => boolean;
}

export type Opener =
  | { readonly program: string; readonly args: readonly string[] }
  /** The reason why there is none, as the end of a sentence. */
  | { readonly missing: string };

/** BROWSER may be a list; the first entry counts. Remote editors set it to open pages on the user's machine. */
export function findOpener({ platform, variables, workspace, exists = existsSync }: Desktop): Opener {
  const find = (name: string) => findProgram(name, variables.PATH, { outside: workspace });
  const own = (variables.BROWSER ?? "").split(":")[0]?.trim() ?? "";
  if (own !== "" && !own.includes("%s")) {
    const program = own.startsWith("/") ? (exists(own) ? own : undefined) : find(own);
    if (program !== undefined) return { program, args: [] };
  }
  if (variables.SSH_CONNECTION || variables.SSH_TTY) return { missing: "this is a remote machine (SSH)" };
  if (platform === "darwin") return { program: "/usr/bin/open", args: [] };
  if (platform === "win32") {
    // Not `start`, whose shell would read the address.
    const program = `${variables.SystemRoot ?? "C:\\Windows"}\\System32\\rundll32.exe`;
    return { program, args: ["url.dll,FileProtocolHandler"] };
  }
  if (variables.WSL_DISTRO_NAME) {
    const program = find("wslview") ?? find("explorer.exe");
    return program === undefined ? { missing: "no browser was found from here" } : { program, args: [] };
  }
  if (exists("/.dockerenv") || exists("/run/.containerenv")) return { missing: "this is a container" };
  if (!variables.DISPLAY && !variables.WAYLAND_DISPLAY) return { missing: "there is no desktop here" };
  const program = find("xdg-open");
  return program === undefined ? { missing: "xdg-open is not installed" } : { program, args: [] };
}

/** Does not wait: some openers end only with the browser. A browser that does not open is not an error: the address is shown. */
export function openBrowser(
  opener: Extract<Opener, { program: string }>,
  url: string,
  { variables, workspace }: Pick<Desktop, "variables" | "workspace">,
): void {
  const child = spawn(opener.program, [...opener.args, url], {
    ...{ stdio: "ignore", detached: true, windowsHide: true },
    // xdg-open is a script that starts other programs by their names.
    env: ownVariables(variables, workspace),
  });
  child.on("error", () => {});
  child.unref();
}
