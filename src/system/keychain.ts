/**
 * A key in the operating system's keychain: libsecret's `secret-tool` on Linux, `security` on macOS, the credential store of Windows
 * through its PowerShell.
 * The key goes through pipes, never through an argument list, which every process of the machine can read.
 */
import { spawn } from "node:child_process";
import { findProgram } from "./find-program.js";
import { KeyError } from "./key-error.js";

export interface KeychainOptions {
  /** PATH. */
  readonly path: string | undefined;
  /** A folder whose programs are not trusted. */
  readonly avoid: string;
  readonly platform: NodeJS.Platform;
  /** Names the key by its purpose and its folder. */
  readonly name: string;
  readonly account: string;
  /** The setting that chooses between keychain and file. */
  readonly setting: string;
  /** Says how long its program may take; default: a minute, because it may ask the user in its own window. */
  readonly patienceMs?: number;
}

export interface Keychain {
  /** Undefined if there is no entry. */
  read(): Promise<string | undefined>;
  write(key: string): Promise<void>;
}

const PATIENCE_MS = 60_000;

interface Commands {
  readonly program: string;
  readonly install: string;
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** The standard input of the write command. */
  readonly writeInput: (key: string) => string;
}

export async function openKeychain(options: KeychainOptions): Promise<Keychain> {
  const commands = commandsFor(options);
  const { patienceMs = PATIENCE_MS } = options;
  if (commands === undefined) {
    throw new KeyError(
      "unavailable",
      `Oxbow knows no keychain on ${options.platform}: set ${options.setting} = "file".`,
    );
  }
  const program = findProgram(commands.program, options.path, { outside: options.avoid });
  if (program === undefined) {
    throw new KeyError(
      "unavailable",
      `The keychain needs '${commands.program}': ${commands.install}, or set ${options.setting} = "file".`,
    );
  }
  return {
    async read() {
      const { code, output, problem } = await run(program, commands.read, { input: "", patienceMs });
      if (code === 0 && output.trim() !== "") return output.trim();
      // All of them fail without an entry; they write to stderr only if the lookup itself failed.
      if (problem.trim() === "" || /could not be found/.test(problem)) return undefined;
      throw new KeyError("unavailable", `Oxbow cannot read the keychain: ${problem.trim()}`);
    },
    async write(key) {
      const { code, problem } = await run(program, commands.write, { input: commands.writeInput(key), patienceMs });
      if (code !== 0)
        throw new KeyError("unavailable", `The keychain did not store the key: ${problem.trim() || `exit ${code}`}`);
    },
  };
}

function commandsFor({ platform, name, account }: KeychainOptions): Commands | undefined {
  const service = `oxbow-${name}`;
  const attributes = ["service", service, "account", account];
  if (platform === "linux") {
    return {
      program: "secret-tool",
      install: "install libsecret-tools",
      read: ["lookup", ...attributes],
      write: ["store", `--label=Oxbow ${name}`, ...attributes],
      writeInput: (key) => key,
    };
  }
  if (platform === "darwin") {
    return {
      program: "security",
      install: "it is part of macOS",
      read: ["find-generic-password", "-s", service, "-a", account, "-w"],
      write: ["-i"],
      writeInput: (key) =>
        `add-generic-password -U -s ${service} -a "${account.replaceAll(/["\\]/g, "\\$&")}" -w ${key}\n`,
    };
  }
  if (platform === "win32") {
    return {
      program: "powershell.exe",
      install: "it is part of Windows",
      read: vaultScript(
        `try { $c = $v.Retrieve(${quoted(service)}, ${quoted(account)}) } ` +
          `catch { if ($_.Exception.GetBaseException().HResult -eq ${NOT_FOUND}) { exit 1 }; throw }; ` +
          "$c.RetrievePassword(); [Console]::Out.Write($c.Password)",
      ),
      write: vaultScript(
        "$k = [Console]::In.ReadLine(); $v.Add((New-Object Windows.Security.Credentials.PasswordCredential" +
          `(${quoted(service)}, ${quoted(account)}, $k)))`,
      ),
      writeInput: (key) => `${key}\n`,
    };
  }
  return undefined;
}

/** ERROR_NOT_FOUND as Windows reports it: 0x80070490. */
const NOT_FOUND = -2147023728;

function vaultScript(action: string): readonly string[] {
  const load =
    "$ErrorActionPreference = 'Stop'; " +
    "[void][Windows.Security.Credentials.PasswordVault, Windows.Security.Credentials, ContentType = WindowsRuntime]; " +
    "$v = New-Object Windows.Security.Credentials.PasswordVault; ";
  return ["-NoProfile", "-NonInteractive", "-Command", load + action];
}

/** Quotes a text for PowerShell, which also takes curly quotes for quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll(/['\u2018-\u201b]/g, "$&$&")}'`;
}

function run(
  program: string,
  args: readonly string[],
  { input, patienceMs }: { readonly input: string; readonly patienceMs: number },
): Promise<{ readonly code: number | null; readonly output: string; readonly problem: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "pipe", timeout: patienceMs });
    let output = "";
    let problem = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      problem += chunk;
    });
    // It may end without reading.
    child.stdin.on("error", () => {});
    child.on("error", (error) =>
      reject(new KeyError("unavailable", `Oxbow cannot start the keychain program: ${error.message}`)),
    );
    child.on("close", (code) => resolve({ code, output, problem }));
    child.stdin.end(input);
  });
}
