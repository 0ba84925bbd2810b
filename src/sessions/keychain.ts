/**
 * The key of the session database in the operating system's keychain: libsecret's `secret-tool` on Linux, `security` on macOS.
 * The key goes through pipes, never through an argument list, which every process of the machine can read.
 */
import { spawn } from "node:child_process";
import { findProgram } from "../system/find-program.js";
import { StoreError } from "./store.js";

export interface KeychainOptions {
  /** PATH. */
  readonly path: string | undefined;
  /** A folder whose programs are not trusted. */
  readonly avoid?: string;
  readonly platform: NodeJS.Platform;
  /** Which key: the folder that it belongs to. */
  readonly account: string;
}

export interface Keychain {
  /** undefined when it holds none. */
  read(): Promise<string | undefined>;
  write(key: string): Promise<void>;
}

const SERVICE = "oxbow-sessions";
/** A keychain that is locked may ask the person in a window of its own. */
const PATIENCE_MS = 60_000;

interface Commands {
  readonly program: string;
  readonly install: string;
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** What the writing command reads. */
  readonly writeInput: (key: string) => string;
}

export async function openKeychain(options: KeychainOptions): Promise<Keychain> {
  const commands = commandsFor(options);
  if (commands === undefined) {
    throw new StoreError(
      "unavailable",
      `There is no keychain that Oxbow knows on ${options.platform}: set session_key = "file".`,
    );
  }
  const program = findProgram(
    commands.program,
    options.path,
    options.avoid === undefined ? {} : { outside: options.avoid },
  );
  if (program === undefined) {
    throw new StoreError(
      "unavailable",
      `The keychain needs '${commands.program}': ${commands.install}, or set session_key = "file".`,
    );
  }
  return {
    async read() {
      const { code, output, problem } = await run(program, commands.read, "");
      if (code === 0 && output.trim() !== "") return output.trim();
      // Both programs end with a failure when there is no such entry; they only complain when they could not look.
      if (problem.trim() === "" || /could not be found/.test(problem)) return undefined;
      throw new StoreError("unavailable", `The keychain cannot be read: ${problem.trim()}`);
    },
    async write(key) {
      const { code, problem } = await run(program, commands.write, commands.writeInput(key));
      if (code !== 0)
        throw new StoreError("unavailable", `The keychain did not take the key: ${problem.trim() || `exit ${code}`}`);
    },
  };
}

function commandsFor({ platform, account }: KeychainOptions): Commands | undefined {
  const attributes = ["service", SERVICE, "account", account];
  if (platform === "linux") {
    return {
      program: "secret-tool",
      install: "install libsecret-tools",
      read: ["lookup", ...attributes],
      write: ["store", "--label=Oxbow session database", ...attributes],
      writeInput: (key) => key,
    };
  }
  if (platform === "darwin") {
    return {
      program: "security",
      install: "it is part of macOS",
      read: ["find-generic-password", "-s", SERVICE, "-a", account, "-w"],
      write: ["-i"],
      writeInput: (key) =>
        `add-generic-password -U -s ${SERVICE} -a "${account.replaceAll(/["\\]/g, "\\$&")}" -w ${key}\n`,
    };
  }
  return undefined;
}

function run(
  program: string,
  args: readonly string[],
  input: string,
): Promise<{ readonly code: number | null; readonly output: string; readonly problem: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "pipe", timeout: PATIENCE_MS });
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
      reject(new StoreError("unavailable", `The keychain cannot be asked: ${error.message}`)),
    );
    child.on("close", (code) => resolve({ code, output, problem }));
    child.stdin.end(input);
  });
}
