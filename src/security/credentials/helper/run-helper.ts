/** The helper process from its orders to its end. Its entry point passes in everything that it uses. */
import type { Clock } from "../../../base/clock.js";
import type { HttpClient } from "../../../system/http-client.js";
import { CredentialError } from "../credential-error.js";
import { CredentialFile } from "../credential-file.js";
import { findCredentialKey } from "../credential-key.js";
import type { TokenSource } from "../entry.js";
import { HelperServer } from "./helper-server.js";
import type { HelperOrders, HelperReport } from "./start-helper.js";
import { connector, type UpstreamNetwork } from "./upstream.js";
import { Vault } from "./vault.js";

export interface RunHelperOptions {
  readonly orders: HelperOrders;
  readonly clock: Clock;
  readonly startTime: number;
  readonly sourceOf: (provider: string) => Promise<TokenSource | undefined>;
  readonly http: () => Promise<HttpClient>;
  readonly network?: UpstreamNetwork | undefined;
  readonly report: (report: HelperReport) => void;
  readonly onEnd: () => void;
}

/** Undefined when it did not start; the reason is reported. */
export async function runHelper(options: RunHelperOptions): Promise<HelperServer | undefined> {
  const { orders, clock, report, onEnd } = options;
  try {
    const key = await findCredentialKey(orders.key);
    const file = new CredentialFile({ path: orders.key.path, key: async () => key, clock });
    const vault = new Vault({ file, clock, sourceOf: options.sourceOf, http: options.http });
    await vault.open();
    const { folder, version, idleMs } = orders;
    const { startTime, network } = options;
    const connect = connector(network);
    const isUnlocked = orders.key.passphrase !== undefined;
    const server = new HelperServer({ folder, version, idleMs, isUnlocked, startTime, vault, clock, connect, onEnd });
    await server.start();
    report({ ready: true });
    return server;
  } catch (error) {
    const code = error instanceof CredentialError ? error.code : "unavailable";
    report({ ready: false, code, message: error instanceof Error ? error.message : String(error) });
    onEnd();
    return undefined;
  }
}
