/**
 * Stored keys for the engine: their names, and a client that uses one. On a machine without any,
 * this only checks for a file.
 *
 * 1. Nothing here decrypts the credential file. Only the helper process gets the key for it.
 * 2. `load` reads the file again when it has changed, so that a sign-in during a conversation counts at once.
 */
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Clock } from "../../base/clock.js";
import type { Variables } from "../../base/variables.js";
import type { SessionKey } from "../../protocol/commands.js";
import type { Authorise } from "../../providers/authorisation.js";
import type { Catalogue, CatalogueEntry } from "../../security/credentials/catalogue.js";
import type { HelperLink } from "../../security/credentials/helper/helper-link.js";
import { credentialFile, helperEnvironment, helperFolder, keyPlaces } from "../../security/credentials/places.js";
import { createHttpClient, type HttpClient } from "../../system/http-client.js";
import { nodeClock } from "../../system/node-clock.js";
import { roots } from "../../system/xdg-paths.js";
import { helperVersion, networkPlan, readNetworkPlan } from "../network.js";

const NO_FILE = "none";

export class StoredCredentials {
  readonly #variables: Variables;
  readonly #lent: readonly CatalogueEntry[];
  readonly #clients = new Map<CatalogueEntry, HttpClient>();
  #catalogue: Catalogue | undefined;
  /** The state of the file that was read last. */
  #stamp = NO_FILE;
  #link: Promise<HelperLink> | undefined;
  /** The reason why the stored keys cannot be read. */
  #problem: string | undefined;

  /** `keys`: those that a client gave to the helper for its session; they come before the stored ones. */
  constructor(variables: Variables, keys: readonly SessionKey[] = []) {
    this.#variables = variables;
    this.#lent = keys.map(({ provider, account, base_url: baseUrl }) => ({
      ...{ provider, account, baseUrl },
      kind: "api_key",
      addedAt: 0,
    }));
  }

  /** Await it before any other call. */
  async load(): Promise<void> {
    if (this.#lent.length > 0) void this.#keepLent().catch(() => {});
    const path = credentialFile(this.#variables);
    const stamp = stampOf(path);
    if (stamp === this.#stamp) return;
    const { readCatalogue } = await import("../../security/credentials/catalogue.js");
    this.#stamp = stamp;
    this.#problem = undefined;
    // Models in use keep their clients.
    this.#clients.clear();
    try {
      this.#catalogue = readCatalogue(path);
    } catch (error) {
      this.#catalogue = undefined;
      this.#problem = (error as Error).message;
    }
  }

  /** The helper keeps the keys of a terminal while the engine watches it. A problem shows at the first request. */
  async #keepLent(): Promise<void> {
    this.#link ??= openHelperLink(this.#variables);
    const link = await this.#link;
    link.use((await link.reach()).endpoint);
  }

  get entries(): readonly CatalogueEntry[] {
    return [...this.#lent, ...(this.#catalogue?.entries ?? [])];
  }

  /**
   * The authorisation with the key that is stored for one of these names; undefined if there is none for this address. The
   * first name is the provider's own. A sign-in has its own address, which the provider gave at the sign-in.
   */
  authorise(names: readonly string[], baseUrl: string): Authorise | undefined {
    const own = names.flatMap((name) => this.entries.filter((entry) => entry.provider === name));
    const entry = own.find(({ kind, baseUrl: own }) => kind === "oauth" || originOf(own) === originOf(baseUrl));
    if (entry === undefined) return undefined;
    const http = this.#clientOf(entry);
    const advice = `('oxbow auth set ${entry.provider}')`;
    if (this.#lent.includes(entry)) {
      const keyName = `the key of ${entry.provider} in the environment of your terminal`;
      return async () => ({ http, keyName });
    }
    const given =
      entry.kind === "oauth"
        ? { http, keyName: `the sign-in ${advice}`, baseUrl: entry.baseUrl }
        : { http, keyName: `the stored key ${advice}` };
    return async () => given;
  }

  /** Tells why a provider without a key has none, as the beginning of a sentence; empty if nothing is stored for it. */
  reason(names: readonly string[]): string {
    if (this.#problem !== undefined) return `${this.#problem} Or `;
    const entry = this.entries.find((candidate) => names.includes(candidate.provider));
    return entry === undefined ? "" : `the stored key is for ${entry.baseUrl} only; `;
  }

  #clientOf(entry: CatalogueEntry): HttpClient {
    const known = this.#clients.get(entry);
    if (known !== undefined) return known;
    let opened: Promise<HttpClient> | undefined;
    const client: HttpClient = {
      request: async (request) => {
        opened ??= this.#openClient(entry);
        return (await opened).request(request);
      },
      close: () => void opened?.then((inner) => inner.close()),
    };
    this.#clients.set(entry, client);
    return client;
  }

  async #openClient({ provider, account, kind }: CatalogueEntry): Promise<HttpClient> {
    const { createHelperClient } = await import("../../security/credentials/helper/helper-client.js");
    this.#link ??= openHelperLink(this.#variables);
    const http = createHttpClient({ clock: nodeClock });
    return createHelperClient({ link: await this.#link, credential: { provider, account }, http, kind });
  }
}

function stampOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? NO_FILE : `${found.ino} ${found.mtimeNs} ${found.size}`;
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

export interface HelperStart {
  /** The passphrase that the user typed. */
  readonly passphrase?: string;
}

/** Waiting for the next heartbeat must not keep the program alive. */
const quietClock: Clock = {
  ...nodeClock,
  after(ms, action) {
    const timer = setTimeout(action, ms).unref();
    return () => clearTimeout(timer);
  },
};

export async function openHelperLink(variables: Variables): Promise<HelperLink> {
  const { HelperLink } = await import("../../security/credentials/helper/helper-client.js");
  return new HelperLink({
    folder: helperFolder(roots(variables)),
    version: await helperVersion(await readNetworkPlan(variables)),
    clock: quietClock,
    start: () => startCredentialHelper(variables),
  });
}

/** Reads settings here, because few runs start a helper. */
export async function startCredentialHelper(variables: Variables, { passphrase }: HelperStart = {}): Promise<void> {
  const [{ startHelper }, { loadSettings }, { parseFlags }] = await Promise.all([
    import("../../security/credentials/helper/start-helper.js"),
    import("../settings/settings.js"),
    import("../../feature/flags.js"),
  ]);
  const { settings, roots: where } = await loadSettings(parseFlags([], [], ""), variables);
  const network = networkPlan(variables, settings);
  await startHelper({
    script: fileURLToPath(new URL("./credential-helper.js", import.meta.url)),
    orders: {
      folder: helperFolder(where),
      version: await helperVersion(network),
      idleMs: settings.credential_idle.value,
      key: keyPlaces({ variables, choice: settings.credential_key.value, passphrase }),
      network,
    },
    env: helperEnvironment(variables),
    clock: nodeClock,
  });
}
