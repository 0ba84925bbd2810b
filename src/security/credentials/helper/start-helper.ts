/**
 * Starts the helper process.
 *
 * 1. What opens the credential file goes through a pipe: it is in no argument list and in no environment of the helper.
 * 2. The helper has its own session and outlives the process that started it. It leaves no core dumps.
 */
import { spawn } from "node:child_process";
import type { Clock } from "../../../base/clock.js";
import type { NetworkPlan } from "../../../system/network/network.js";
import { CredentialError, type CredentialErrorCode } from "../credential-error.js";
import type { KeyPlaces } from "../credential-key.js";

/** Describes what the helper reads from its standard input, as JSON. */
export interface HelperOrders {
  readonly folder: string;
  readonly version: string;
  readonly idleMs: number;
  readonly key: KeyPlaces;
  /** Proxies with their logins, which are as secret as the key. */
  readonly network?: NetworkPlan | undefined;
}

/** Its message on standard output, as one line of JSON. */
export type HelperReport =
  | { readonly ready: true }
  | { readonly ready: false; readonly code: CredentialErrorCode; readonly message: string };

export interface StartOptions {
  readonly script: string;
  readonly orders: HelperOrders;
  /** The environment of the helper. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
}

/** A passphrase takes a second, a keychain may ask the person. */
const PATIENCE_MS = 60_000;
const REPORT_BYTES = 16 * 1024;

/** Resolves when a helper runs, this one or another that was faster. */
export async function startHelper({ script, orders, env, clock }: StartOptions): Promise<void> {
  const node = [process.execPath, "--no-warnings", script];
  const [program = "", ...args] =
    process.platform === "win32" ? node : ["/bin/sh", "-c", 'ulimit -c 0; exec "$0" "$@"', ...node];
  const child = spawn(program, args, { cwd: "/", env, detached: true, stdio: ["pipe", "pipe", "ignore"] });
  const report = await new Promise<string>((resolve, reject) => {
    let text = "";
    const finish = () => {
      cancel();
      resolve(text);
    };
    const cancel = clock.after(PATIENCE_MS, () => {
      child.kill("SIGKILL");
      reject(failed("it does not become ready"));
    });
    child.on("error", (error) => {
      cancel();
      reject(failed(error.message));
    });
    child.on("exit", finish);
    child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
      if (text.includes("\n") || text.length > REPORT_BYTES) finish();
    });
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(orders));
  });
  child.stdout.destroy();
  child.unref();
  const parsed = parseReport(report);
  if (parsed === undefined) throw failed("it exited without a message");
  if (!parsed.ready) throw new CredentialError(parsed.code, parsed.message);
}

function failed(detail: string): CredentialError {
  return new CredentialError("unavailable", `Oxbow could not start the credential helper: ${detail}.`);
}

function parseReport(text: string): HelperReport | undefined {
  try {
    return JSON.parse(text.split("\n")[0] ?? "") as HelperReport;
  } catch {
    return undefined;
  }
}
