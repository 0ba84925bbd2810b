/** `/clients`, `/health` and `/web`: the engine that hosts the session, and who uses it. */
import { formatBytes } from "../../base/byte-size.js";
import { counted } from "../../base/group-digits.js";
import { safeLine } from "../../base/terminal-text.js";
import type { Host } from "../../control/host.js";
import type { HttpServiceOptions } from "../../control/transports/http/server.js";
import { asValue, type Command, type CommandSpec, EVERYONE, IN_SESSION, refuse } from "../../feature/command.js";
import type { SessionId, TokenId } from "../../protocol/ids.js";
import type { ClientInfo, HealthInfo } from "../../protocol/queries.js";

/** The parts of what serves an engine that commands use. */
export interface EngineService {
  /** Shows the web client; absent where there is none. */
  readonly openWeb?: HttpServiceOptions["openWeb"];
  /** The connections of the token end. */
  readonly revokeToken?: (token: TokenId) => Promise<void>;
}

export function engineCommands(
  host: Pick<Host, "query">,
  session: SessionId,
  service: () => EngineService,
): readonly Command[] {
  return [
    {
      ...CLIENTS,
      run: async () => {
        const reply = await host.query({ kind: "ListClients", request: {} });
        if (!reply.ok) return { failure: reply.failure };
        const { clients } = reply.answer;
        return { text: clientLines(clients, session), value: asValue(clients) };
      },
    },
    {
      ...CLIENTS_REVOKE,
      run: async (args) => {
        const reply = await host.query({ kind: "ListClients", request: {} });
        if (!reply.ok) return { failure: reply.failure };
        const named = args.text("CLIENT") ?? "";
        const { token } = reply.answer.clients.find(({ id }) => id === named) ?? {};
        if (token === undefined)
          return refuse(`There is no client ${safeLine(named)} with a token of its own: /clients lists them.`);
        await service().revokeToken?.(token);
        return { text: `The token of ${safeLine(named)} is revoked, and all its connections end.`, value: { token } };
      },
    },
    {
      ...WEB,
      run: async () => {
        const { openWeb } = service();
        if (openWeb === undefined) {
          const reply = await host.query({ kind: "GetStatus", request: {}, session });
          const addresses = (reply.ok && reply.answer.place?.addresses) || [];
          return addresses.length === 0 ? refuse(NO_WEB) : { text: addresses.join("\n"), value: { addresses } };
        }
        const page = await openWeb({});
        return { text: `${page.url}\n${ONCE}`, value: asValue(page) };
      },
    },
    {
      ...HEALTH,
      run: async () => {
        const reply = await host.query({ kind: "GetHealth", request: {} });
        if (!reply.ok) return { failure: reply.failure };
        return { text: healthLines(reply.answer, { each: true }), value: asValue(reply.answer) };
      },
    },
  ];
}

/** Holds what a person should know of an address with a code. */
export const ONCE = "It signs in one page, within 60 seconds. Ask again for the next one.";

const NO_WEB =
  "This conversation runs in its own process, which has no web client. 'oxbow web' shows that of the engine.";

export function clientLines(clients: readonly ClientInfo[], session?: SessionId): string {
  if (clients.length === 0) return "No client is connected.";
  return clients
    .map(({ id, identity, name, transport, sessions }) => {
      const where = session !== undefined && sessions.includes(session) ? "in this session" : sessions.join(", ");
      const who = name === undefined ? id : `${safeLine(name)} (${id})`;
      return `${who}  ${identity}, ${transport}${where === "" ? "" : `, ${where}`}`;
    })
    .join("\n");
}

function cacheRows({ each }: NonNullable<HealthInfo["caches"]>) {
  return each.map((cache) => {
    const counts = `${cache.entries} entries, ${cache.hits} hits, ${cache.misses} misses, ${cache.evictions} evicted`;
    return [`  ${cache.name}`, `  ${formatBytes(cache.bytes)}, ${counts}`] as const;
  });
}

/** `2026-11-19 12:49 UTC` */
function minuteOf(iso: string): string {
  return `${iso.slice(0, 16).replace("T", " ")} UTC`;
}

/** `each`: with a row for each cache. */
export function healthLines(
  { version, protocol_version, pid, started_at, ...health }: HealthInfo,
  { each = false }: { readonly each?: boolean } = {},
): string {
  const { sessions, clients, parts = {}, caches } = health;
  const rows: readonly (readonly [string, string])[] = [
    ["engine", `✓ version ${version}, protocol ${protocol_version}, process ${pid}, since ${minuteOf(started_at)}`],
    ["open", `✓ ${counted(sessions, "session")}, ${counted(clients, "client")}`],
    ...(caches === undefined
      ? []
      : [["caches", `✓ ${formatBytes(caches.bytes)} of ${formatBytes(caches.limit_bytes)}`] as const]),
    ...(each && caches !== undefined ? cacheRows(caches) : []),
    ...Object.entries(parts).map(([name, { ok, detail }]) => [name, `${ok ? "✓" : "✗"} ${safeLine(detail)}`] as const),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `${name.padEnd(width)}  ${text}`).join("\n");
}

export const CLIENTS: CommandSpec = {
  name: "clients",
  summary: "show who is connected to the engine, and who is in this session",
  users: EVERYONE,
  places: IN_SESSION,
};

export const CLIENTS_REVOKE: CommandSpec = {
  name: "clients:revoke",
  summary: "send a client away: its token is no longer valid",
  arguments: [{ name: "CLIENT", kind: "text", missing: "Name the client by its id: /clients shows it." }],
  places: IN_SESSION,
};

export const WEB: CommandSpec = {
  name: "web",
  summary: "open the web client: the address signs in one page",
  places: IN_SESSION,
};

export const HEALTH: CommandSpec = {
  name: "health",
  summary: "show the state of the engine and of each of its parts",
  users: EVERYONE,
  places: IN_SESSION,
};
