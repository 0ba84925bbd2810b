/**
 * Tells subscribers that a resource has changed. `notifications/resources/updated` carries the event itself in `contents`, so that a
 * subscriber of a session's events need not read after each one.
 */
import type { EngineClient } from "../../../protocol/client.js";
import type { Envelope } from "../../../protocol/envelope.js";
import { isJsonObject } from "../../../protocol/json.js";
import type { McpOffer, Publish } from "./offer.js";
import { placeOf, sessionOfUri } from "./resources.js";

/** Events after which the list of sessions is another one. */
const CHANGES_LIST: ReadonlySet<Envelope["kind"]> = new Set(["TurnStarted", "TurnEnded", "SessionEnded"]);

export function publishEvents(client: EngineClient, publish: Publish): () => void {
  return client.subscribe((event) => {
    const uri = `oxbow://session/${event.session}`;
    publish(`${uri}/events`, event);
    if (!CHANGES_LIST.has(event.kind)) return;
    publish(uri);
    publish("oxbow://sessions");
  });
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
