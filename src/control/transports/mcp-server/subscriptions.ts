/**
 * Tells subscribers that a resource has changed. `notifications/resources/updated` carries the event itself in `contents`, so that a
 * subscriber of a session's events need not read after each one.
 */
import type { Clock } from "../../../base/clock.js";
import type { EngineClient } from "../../../protocol/client.js";
import type { Envelope } from "../../../protocol/envelope.js";
import { isJsonObject } from "../../../protocol/json.js";
import { storedRange } from "../stored-range.js";
import type { McpOffer, Publish } from "./offer.js";
import { placeOf, readResource, sessionOfUri } from "./resources.js";

/** Events after which the description of a session is another one. */
const CHANGES_SESSION: ReadonlySet<Envelope["kind"]> = new Set(["TurnStarted", "TurnEnded", "SessionEnded"]);

export function publishEvents(client: EngineClient, publish: Publish): () => void {
  return client.subscribe((event) => {
    const uri = `oxbow://session/${event.session}`;
    publish(`${uri}/events`, event);
    publish(`${uri}/log`);
    if (!CHANGES_SESSION.has(event.kind)) return;
    publish(uri);
  });
}

const LOOK_MS = 2000;

/**
 * Publishes that a resource changed which has no events of its own (the lists, a profile, a skill …), while someone has
 * subscribed to it. It looks every two seconds: other processes of this home write sessions too, and files change without an event.
 */
export class ResourceWatch {
  readonly #client: EngineClient;
  readonly #clock: Clock;
  readonly #watchers = new Set<Watcher>();
  /** Holds what each resource was at the last look. */
  readonly #seen = new Map<string, string>();
  #stopTimer: (() => void) | undefined;

  constructor(client: EngineClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  add(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.#stop();
    };
  }

  /** Someone subscribes to a resource. */
  async begin(uri: string): Promise<void> {
    if (this.#seen.has(uri)) return;
    this.#seen.set(uri, await this.#read(uri));
    this.#stopTimer ??= this.#later();
  }

  #later(): () => void {
    return this.#clock.after(LOOK_MS, () => void this.#look(), "unheld");
  }

  async #look(): Promise<void> {
    for (const [uri, before] of this.#seen) {
      const wanting = [...this.#watchers].filter(({ wants }) => wants(uri));
      if (wanting.length === 0) {
        this.#seen.delete(uri);
        continue;
      }
      const now = await this.#read(uri);
      if (now === before) continue;
      this.#seen.set(uri, now);
      for (const { publish } of wanting) publish(uri);
    }
    if (this.#watchers.size === 0 || this.#seen.size === 0) this.#stop();
    else this.#stopTimer = this.#later();
  }

  #stop(): void {
    this.#seen.clear();
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  /** Empty for one that is gone. */
  async #read(uri: string): Promise<string> {
    const found = await readResource(this.#client, uri).catch(() => undefined);
    return JSON.stringify(found ?? "");
  }
}

interface Watcher {
  readonly publish: Publish;
  readonly wants: (uri: string) => boolean;
}

/** A client that names more is faulty or hostile. */
const MOST_RESOURCES = 1000;

/** The resources that one client subscribed to, in the form in which it named them. */
export class Subscriptions {
  readonly #uris = new Set<string>();

  /** False if there is no such resource. */
  async follow(offer: Pick<McpOffer, "follow">, uri: string): Promise<boolean> {
    if (this.#uris.size >= MOST_RESOURCES || !(await offer.follow(uri))) return false;
    this.#uris.add(uri);
    return true;
  }

  /** Tells whether it subscribed to a resource. */
  readonly wants = (uri: string): boolean => this.named(uri).length > 0;

  remove(uri: string): void {
    this.#uris.delete(uri);
  }

  /** The names of a resource: `since` may be part of one. */
  named(uri: string): readonly string[] {
    return [...this.#uris].filter((each) => each === uri || each.startsWith(`${uri}?`));
  }
}

/** The resources that a `subscriptions/listen` request of the 2026 revision names. */
export function listenedResources(message: unknown): readonly string[] {
  if (!isJsonObject(message) || message.method !== "subscriptions/listen" || !isJsonObject(message.params)) return [];
  const { notifications } = message.params;
  const uris = isJsonObject(notifications) ? notifications.resourceSubscriptions : undefined;
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === "string") : [];
}

/** Stored events after the `since` of the resource, for a subscriber that was away. */
export async function replayMissed(
  { client, clock }: { readonly client: EngineClient; readonly clock: Clock },
  uri: string,
  show: (event: Envelope) => Promise<void> | void,
): Promise<void> {
  const session = sessionOfUri(uri);
  const since = placeOf(uri)?.since;
  if (session === undefined || since === undefined) return;
  const status = await client.query("GetStatus", {}, session);
  if (!status.ok) return;
  const { last_event: last, originator } = status.answer;
  if (since > last) {
    // The engine was killed before it saved what the subscriber has seen.
    const payload = { from: last + 1, to: since, reason: "lost" as const };
    const ts = new Date(clock.wall()).toISOString();
    await show({ id: last, kind: "StreamGap", session, originator: originator.id, ts, payload });
  }
  for (let first = since + 1; first <= last; first += PAGE) {
    const before = Math.min(first + PAGE, last + 1);
    for await (const event of storedRange(client, session, { first, before })) await show(event);
  }
}

const PAGE = 1000;
