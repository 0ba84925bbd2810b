/**
 * `GET /v1/sessions/{id}/events`: the events of a session as server-sent events, `id: ID`, `event: KIND`, `data: ENVELOPE`.
 *
 * 1. After `Last-Event-ID` (or `?after=`) come the stored events after that one, then the live ones, each once and in order. Without it,
 *    only live ones, after the questions that are open. `?after_ts=` is the time of that event (AttachSession).
 *    With `?ids=timed` the id of a frame is `ID@TIME`, so that a reader which only sends its last id back tells the time too.
 * 2. Events that are not in the log (StreamGap, TokenExpiring) have the id of the last event before them, so a reader can resume after any event.
 * 3. A reader that falls behind is disconnected. It resumes after the last event that it has.
 * 4. The stream ends with the session. (Stored sessions have earlier SessionEnded events in their log; those end nothing.)
 */
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Envelope } from "../../../protocol/envelope.js";
import { failure } from "../../../protocol/errors.js";
import type { SessionId } from "../../../protocol/ids.js";
import { TokenWatch } from "../../auth/token-watch.js";
import type { HostClient } from "../../connected-client.js";
import { streamFrame, streamFrameAs } from "../../wire-text.js";
import { EventStream } from "../event-stream.js";
import { type Call, Refused, refuse } from "./call.js";

export async function streamEvents(call: Call): Promise<Response> {
  const { session, reader, request } = call;
  const { after, ts } = lastOf(call);
  if (request.method === "HEAD") {
    const { sessions } = await call.query("ListSessions", { empty: true }, session);
    if (sessions.length === 0) throw new Refused(failure("SessionNotFound", { session }));
    return new Response(null, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } });
  }
  const stream = new SessionStream(call, { session, client: reader, after });
  const followed = await reader.follow(session, {
    after,
    afterTs: ts,
    deliver: (event) => stream.deliver(event),
    ready: () => stream.ready(),
  });
  if (!followed.ok) {
    if (!stream.isOpen) throw new Refused(followed.failure);
    stream.end();
    return RESPONSE_ALREADY_SENT;
  }
  stream.begin(followed.stop);
  return RESPONSE_ALREADY_SENT;
}

/** The last event that the reader has. */
function lastOf(call: Call): { readonly after: number | undefined; readonly ts: string | undefined } {
  const header = call.context.req.header("last-event-id");
  const ts = call.context.req.query("after_ts") || undefined;
  if (header === undefined || header === "") return { after: call.number("after"), ts };
  const [, id, time] = /^(\d{1,15})(?:@(\d{4}-\d\d-\d\dT[\d:.]{8,20}Z))?$/.exec(header) ?? [];
  // A time in the address is that of the first connection.
  if (id !== undefined) return { after: Number(id), ts: time ?? ts };
  throw refuse("InvalidInput", "Last-Event-ID must be the id of an event: a whole number.");
}

/** Their time may not be that of the event in the log whose id they have. */
const OF_OTHER_TIME: ReadonlySet<Envelope["kind"]> = new Set(["Notice", "StreamGap", "TokenExpiring", "SessionEnded"]);

interface StreamPlace {
  readonly session: SessionId;
  readonly client: HostClient;
  /** The last event that the reader has. */
  readonly after: number | undefined;
}

/** One open stream. The response begins with the first event, or when the session was found: before, an error can still be sent. */
class SessionStream {
  readonly #call: Call;
  readonly #place: StreamPlace;
  readonly #release: () => void;
  #stream: EventStream | undefined;
  #watch: TokenWatch | undefined;
  #stop: (() => void) | undefined;
  #isClosed = false;
  #isBusy = false;
  #lastId: number | undefined;
  /** The last `ID@TIME`; undefined for a reader of plain ids. */
  #timedId: string | undefined;

  constructor(call: Call, place: StreamPlace) {
    this.#call = call;
    this.#place = place;
    this.#lastId = place.after;
    if (call.context.req.query("ids") === "timed") this.#timedId = "";
    this.#release = call.claims === undefined ? () => {} : call.service.clients.hold(call.caller, place.client);
    call.response.once("close", () => this.#close());
  }

  get isOpen(): boolean {
    return this.#stream !== undefined;
  }

  deliver(event: Envelope): void {
    if (this.#isClosed) return;
    this.#lastId = event.id;
    this.#opened().sendFrame(this.#frameOf(event));
    if (event.kind === "TurnStarted") this.#isBusy = true;
    if (event.kind === "TurnEnded") this.#isBusy = false;
    if (event.kind === "TurnEnded") this.#watch?.check();
    // Nothing more comes from this run. A reader that connects again opens the session.
    if (event.kind === "SessionEnded" && this.#stop !== undefined) this.end();
  }

  #frameOf(event: Envelope): string {
    if (this.#timedId === undefined) return streamFrame(event);
    const { id, kind, ts } = event;
    if (!OF_OTHER_TIME.has(kind)) this.#timedId = `${id}@${ts}`;
    else if (!this.#timedId.startsWith(`${id}@`)) this.#timedId = String(id);
    return streamFrameAs(this.#timedId, event);
  }

  /** Stored events wait for the reader. */
  async ready(): Promise<boolean> {
    return !this.#isClosed && (await this.#stream?.ready()) !== false;
  }

  begin(stop: () => void): void {
    this.#stop = stop;
    const { claims, service } = this.#call;
    if (this.#isClosed) stop();
    if (this.#isClosed || claims === undefined) return;
    this.#opened();
    this.#watch = new TokenWatch({
      ...{ claims, tokens: service.tokens, clock: service.clock },
      warn: (payload) => this.#send("TokenExpiring", payload),
      end: () => this.end(),
      isBusy: () => this.#isBusy,
    });
  }

  end(): void {
    this.#stream?.end();
    this.#close();
  }

  #opened(): EventStream {
    const { service, response } = this.#call;
    if (this.#stream === undefined) {
      this.#stream = new EventStream(response, { clock: service.clock, onClose: () => this.#close() });
      service.open.add(this);
    }
    return this.#stream;
  }

  /** An event of this connection alone. */
  #send(kind: "TokenExpiring", payload: { readonly jti: string; readonly expires_at: string }): void {
    const { session, client } = this.#place;
    const ts = new Date(this.#call.service.clock.wall()).toISOString();
    const id = this.#lastId;
    const event = { id: id ?? 0, kind, session, originator: client.id, ts, payload };
    // Without a last event there is no id to resume after.
    const shown = this.#timedId || id;
    this.#opened().send(JSON.stringify(event), `${shown === undefined ? "" : `id: ${shown}\n`}event: ${kind}\n`);
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#watch?.stop();
    this.#stop?.();
    this.#release();
    this.#call.service.open.delete(this);
  }
}
