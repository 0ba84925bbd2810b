/**
 * The clients behind HTTP requests. Requests come one by one, so a client stays until it was not used for an hour.
 *
 * 1. A client belongs to the token that it shook hands with, and to the socket of this machine if it came from there. Others cannot use it.
 * 2. A request may name its client (`X-Oxbow-Client`). Without a name it is the newest client of the token.
 * 3. A token has a bounded number of clients.
 */
import type { Clock } from "../../../base/clock.js";
import { failure } from "../../../protocol/errors.js";
import type { ClientHello, Handshake } from "../../../protocol/handshake.js";
import type { ClientId } from "../../../protocol/ids.js";
import { isOwner, type TokenClaims } from "../../auth/claims.js";
import { identityOf } from "../../auth/identity.js";
import type { ClientOptions, HostClient } from "../../connected-client.js";
import { type PlaceKind, Refused } from "./call.js";

export interface RestClientsOptions {
  readonly connect: (options: ClientOptions) => HostClient;
  readonly newClientId: () => ClientId;
  readonly clock: Clock;
}

/** A token, and the way that its request came. */
export interface Caller {
  readonly claims: TokenClaims;
  readonly place: PlaceKind;
}

interface Entry {
  /** The name by which a request calls it: as a rule its id. */
  readonly key: string;
  readonly client: HostClient;
  readonly isReader: boolean;
  usedAt: number;
  /** Its open streams: a client with one is not idle. */
  streams: number;
}

const IDLE_MS = 60 * 60 * 1000;
const MOST_CLIENTS = 1024;

export class RestClients {
  readonly #options: RestClientsOptions;
  /** By token and place, each with its clients by id, the newest last. */
  readonly #tokens = new Map<string, Map<string, Entry>>();

  constructor(options: RestClientsOptions) {
    this.#options = options;
  }

  /** Makes a client, or greets the named one again. */
  handshake(caller: Caller, hello: ClientHello, named?: string): Handshake {
    this.#dropIdle();
    const entry = named === undefined ? undefined : this.#tokens.get(keyOf(caller))?.get(named);
    const known = entry?.isReader ? undefined : entry;
    const client = known?.client ?? this.#connect(caller);
    const reply = client.handshake(hello);
    if (!reply.ok) {
      if (known === undefined) client.close();
      throw new Refused(reply.failure);
    }
    if (known === undefined) this.#add(caller, { ...this.#entry(client), isReader: false });
    return reply.handshake;
  }

  find(caller: Caller, named?: string): HostClient {
    const client = this.#find(caller, named);
    if (client === undefined) throw new Refused(failure("HandshakeRequired"));
    return client;
  }

  /** The client that `find` gives, or one that only reads. */
  reader(caller: Caller, named?: string): HostClient {
    const entry = named === undefined ? undefined : this.#tokens.get(keyOf(caller))?.get(named);
    if (entry !== undefined) return this.#used(entry);
    const newest = named === undefined ? this.#newest(caller, { readers: "included" }) : undefined;
    if (newest !== undefined) return newest;
    const client = this.#connect(caller);
    client.handshake({});
    // A client of an engine that has ended still sends its old name.
    this.#add(caller, { ...this.#entry(client), isReader: true, ...(named !== undefined && { key: named }) });
    return client;
  }

  /** The client says that it will not come again. */
  leave(caller: Caller, named: string): void {
    const clients = this.#tokens.get(keyOf(caller));
    const entry = clients?.get(named);
    if (clients !== undefined && entry !== undefined) this.#remove(clients, entry);
  }

  /** Keeps a client while it has a stream; the returned function ends that. */
  hold(caller: Caller, client: HostClient): () => void {
    const all = this.#tokens.get(keyOf(caller))?.values() ?? [];
    const entry = [...all].find((each) => each.client === client);
    if (entry === undefined) return () => {};
    entry.streams += 1;
    return () => {
      entry.streams -= 1;
      this.#used(entry);
    };
  }

  /** The token is no longer valid. */
  drop(jti: string): void {
    for (const place of ["socket", "port"]) {
      for (const { client } of this.#tokens.get(`${place} ${jti}`)?.values() ?? []) client.close();
      this.#tokens.delete(`${place} ${jti}`);
    }
  }

  close(): void {
    for (const clients of this.#tokens.values()) for (const { client } of clients.values()) client.close();
    this.#tokens.clear();
  }

  #find(caller: Caller, named: string | undefined): HostClient | undefined {
    if (named === undefined) return this.#newest(caller, { readers: "left out" });
    const entry = this.#tokens.get(keyOf(caller))?.get(named);
    return entry && !entry.isReader ? this.#used(entry) : undefined;
  }

  #newest(caller: Caller, { readers }: { readonly readers: "included" | "left out" }): HostClient | undefined {
    const all = [...(this.#tokens.get(keyOf(caller))?.values() ?? [])];
    const entry = all.reverse().find(({ isReader }) => readers === "included" || !isReader);
    return entry && this.#used(entry);
  }

  #used(entry: Entry): HostClient {
    entry.usedAt = this.#options.clock.now();
    return entry.client;
  }

  #connect({ claims, place }: Caller): HostClient {
    const { connect, newClientId } = this.#options;
    const { display_name: name } = claims;
    const client = connect({
      id: newClientId(),
      ...identityOf(claims),
      ...(!isOwner(claims) && { token: claims.jti }),
      transport: "http",
      isLocalOwner: place === "socket" && isOwner(claims),
      ...(name !== undefined && { name }),
      attachOnCreate: false,
      handshake: "required",
    });
    // Events reach it through streams alone, so none wait here.
    client.subscribe(() => {});
    return client;
  }

  #add(caller: Caller, entry: Entry): void {
    const clients = this.#tokens.get(keyOf(caller)) ?? new Map<string, Entry>();
    clients.set(entry.key, entry);
    this.#tokens.set(keyOf(caller), clients);
    if (clients.size <= MOST_CLIENTS) return;
    const [idle] = [...clients.values()]
      .filter(({ streams }) => streams === 0)
      .sort((left, right) => left.usedAt - right.usedAt);
    if (idle !== undefined) this.#remove(clients, idle);
  }

  #dropIdle(): void {
    const before = this.#options.clock.now() - IDLE_MS;
    for (const [key, clients] of this.#tokens) {
      for (const entry of [...clients.values()]) {
        if (entry.streams === 0 && entry.usedAt < before) this.#remove(clients, entry);
      }
      if (clients.size === 0) this.#tokens.delete(key);
    }
  }

  #entry(client: HostClient): Omit<Entry, "isReader"> {
    return { key: client.id, client, usedAt: this.#options.clock.now(), streams: 0 };
  }

  #remove(clients: Map<string, Entry>, { key, client }: Entry): void {
    clients.delete(key);
    client.close();
  }
}

function keyOf({ claims: { jti }, place }: Caller): string {
  return `${place === "socket" ? "socket" : "port"} ${jti}`;
}
