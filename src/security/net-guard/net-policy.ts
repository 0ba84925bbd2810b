/**
 * The hosts outside the public internet that a user has allowed by name, such as a documentation server in the office.
 * Entries: `docs.corp`, `localhost:8080` (this port alone), `*.lan` (everything below), `192.168.1.7`, `[::1]:3000`.
 */

export interface NetPolicy {
  /** Tells whether this host may be in a private network or on this machine. */
  allowsPrivate(host: string, port: number): boolean;
}

export const PUBLIC_ONLY: NetPolicy = { allowsPrivate: () => false };

/** @throws Error that names the entry which cannot be read. */
export function netPolicy(allowedHosts: readonly string[]): NetPolicy {
  const rules = allowedHosts.map(parseRule);
  return {
    allowsPrivate: (host, port) =>
      rules.some((rule) => (rule.port === undefined || rule.port === port) && rule.matches(host)),
  };
}

interface HostRule {
  readonly port: number | undefined;
  matches(host: string): boolean;
}

const ENTRY = /^(\*\.)?(\[[0-9a-f:.]+\]|[^[\]:/@?#\\\s*]+)(?::(\d{1,5}))?$/i;

function parseRule(entry: string): HostRule {
  const [, below, written = "", port] = ENTRY.exec(entry.trim()) ?? [];
  const url = `http://${written}/`;
  if (written === "" || !URL.canParse(url)) {
    throw new Error(`"${entry}" is not a host: write a name or an address, such as docs.corp, *.lan or localhost:8080`);
  }
  const host = bareHost(new URL(url));
  return {
    port: port === undefined ? undefined : Number(port),
    matches: (candidate) => (below === undefined ? candidate === host : candidate.endsWith(`.${host}`)),
  };
}

/** The host in the form for lookup and comparison: without brackets and without the dot of the root. */
export function bareHost(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}
