/**
 * Tells subscribers that a resource has changed. `notifications/resources/updated` carries the event itself in `contents`, so that a
 * subscriber of a session's events need not read after each one.
 */
import type { Clock } from "../../../base/clock.js";
import type { EngineClient } from "../../../protocol/client.js";
import type { Envelope } from "../../../protocol/envelope.js";
import { isJsonObject } from "../../../protocol/json.js";
import type { McpOffer, Publish } from "./offer.js";
import { placeOf, sessionOfUri } from "./resources.js";

/** Events after which the description of a session is another one. */
const CHANGES_SESSION: ReadonlySet<Envelope["kind"]> = new Set(["TurnStarted", "TurnEnded", "SessionEnded"]);

export function publishEvents(client: EngineClient, publish: Publish): () => void {
  return client.subscribe((event) => {
    const uri = `oxbow://session/${event.session}`;
    publish(`${uri}/events`, event);
    if (!CHANGES_SESSION.has(event.kind)) return;
    publish(uri);
  });
}

const SESSIONS = "oxbow://sessions";
/** The newest ones show every change of the list but that of an old session. */
const WATCHED_SESSIONS = 50;
const LOOK_MS = 2000;

/**
 * Publishes that the list of sessions changed, while someone has subscribed to it. It looks every two seconds: other processes
 * of this home write sessions too, and the client gets no events of those that it is not attached to.
 */
export class SessionListWatch {
  readonly #client: EngineClient;
  readonly #clock: Clock;
  readonly #watchers = new Set<Watcher>();
  #isLooking = false;
  #stopTimer = () => {};

  constructor(client: EngineClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  add(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size > 0) return;
      this.#isLooking = false;
      this.#stopTimer();
    };
  }

  /** Someone has subscribed to a resource. */
  async begin(uri: string): Promise<void> {
    if (uri !== SESSIONS || this.#isLooking) return;
    this.#isLooking = true;
    this.#again(await this.#list());
  }

  #again(before: string): void {
    if (this.#isLooking) this.#stopTimer = this.#clock.after(LOOK_MS, () => void this.#look(before), "unheld");
  }

  async #look(before: string): Promise<void> {
    const wanting = [...this.#watchers].filter(({ wants }) => wants(SESSIONS));
    if (wanting.length === 0) {
      this.#isLooking = false;
      return;
    }
    const now = await this.#list();
    if (now !== before) for (const { publish } of wanting) publish(SESSIONS);
    this.#again(now);
  }

  async #list(): Promise<string> {
    const reply = await this.#client.query("ListSessions", { limit: WATCHED_SESSIONS, empty: true });
    return reply.ok ? JSON.stringify(reply.answer) : "";
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

  /** Whether it subscribed to a resource. */
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
  client: EngineClient,
  uri: string,
  show: (event: Envelope) => Promise<void> | void,
): Promise<void> {
  const session = sessionOfUri(uri);
  const since = placeOf(uri)?.since;
  if (session === undefined || since === undefined) return;
  const status = await client.query("GetStatus", {}, session);
  const last = status.ok ? status.answer.last_event : 0;
  for (let first = since + 1; first <= last; first += PAGE) {
    const before = Math.min(first + PAGE, last + 1);
    const reply = await client.query("ListEvents", { before, limit: before - first }, session);
    if (!reply.ok) return;
    for (const event of reply.answer.events) await show(event);
  }
}

const PAGE = 1000;
