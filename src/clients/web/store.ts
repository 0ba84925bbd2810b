/**
 * Describes what the page knows, as signals, and what it does with the engine. All requests go through one connection of the SDK.
 *
 * A WebSocket carries everything: a browser opens at most six HTTP connections to a host, for all its tabs together, and each session that
 * is followed over HTTP needs one. The token goes with it as a header, too.
 */
import { batch, computed, type Signal, signal } from "@preact/signals";
import type { CommandKind, CommandPayloads } from "../../protocol/commands.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { SessionId } from "../../protocol/ids.js";
import type { JsonValue } from "../../protocol/json.js";
import type { ClientInfo, Queries, QueryKind, SessionInfo, StatusInfo } from "../../protocol/queries.js";
import { ConnectionError } from "../sdk/connection-error.js";
import { fetchExchange } from "../sdk/exchange.js";
import { HttpClient } from "../sdk/http-client.js";
import type { ConnectionState } from "../sdk/options.js";
import { WebSocketClient } from "../sdk/web-socket-client.js";
import type { WireClient } from "../sdk/wire-client.js";
import { HOW, signOut } from "./sign-in.js";
import { type Conversation, emptyConversation, reduce } from "./state/conversation.js";

export const problem = signal<{ readonly text: string; readonly isFinal?: true } | undefined>(undefined);
export const connection = signal<ConnectionState | "connecting">("connecting");
export const sessions = signal<readonly SessionInfo[] | undefined>(undefined);
/** One line that goes away after a while: what an action has done, or why it did not. */
export const toast = signal<{ readonly text: string; readonly isError?: boolean } | undefined>(undefined);
/** Ticks once a second. */
export const clock = signal(Date.now());
/** The time of a past that is shown. */
export const pastTime = signal<number | undefined>(undefined);
/** The time that what runs is measured against. */
export const now = computed(() => pastTime.value ?? clock.value);

/** The same for ages: rows that show minutes are not drawn each second. */
export const thisMinute = computed(() => Math.floor(clock.value / 60_000) * 60_000);

let client: WireClient | undefined;

export function engine(): WireClient {
  if (client === undefined) throw new Error("the page is not connected");
  return client;
}

export const ownId = computed(() => (connection.value === "connected" ? client?.id : undefined));

/** Connects, and stays connected for as long as the page is open. */
export async function connectPage(token: string): Promise<void> {
  const url = new URL("/", location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  for (;;) {
    try {
      client = await connectOver(url, token);
      break;
    } catch (error) {
      const isFinal = error instanceof ConnectionError && error.failure.reason !== "NetworkFailed";
      if (isFinal || (await probe(token)) === "refuses") return signedOut();
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
  client.subscribe(take);
  client.onDetached((session) => {
    const view = views.get(session);
    if (view !== undefined) view.follows = false;
  });
  connection.value = "connected";
  void refreshSessions();
  setInterval(() => void refreshSessions(), 2000);
  setInterval(() => {
    clock.value = Date.now();
  }, 1000);
  document.addEventListener("visibilitychange", () => void refreshSessions());
}

/** Some browsers open no WebSocket to a certificate that a person has accepted; they follow sessions over plain requests. */
async function connectOver(url: URL, token: string): Promise<WireClient> {
  const options = { token, name: "web", onState: (state: ConnectionState) => onState(state, token) };
  try {
    return await WebSocketClient.connect({ ...options, url });
  } catch (error) {
    if ((await probe(token)) !== "works") throw error;
    const { origin } = location;
    return HttpClient.connect({ ...options, exchange: fetchExchange(origin), place: origin });
  }
}

/** A browser does not say why it has no WebSocket. */
async function probe(token: string): Promise<"works" | "refuses" | "is away"> {
  const answer = await fetch("/v1/health", { headers: { "x-oxbow-token": token } }).catch(() => undefined);
  if (answer?.status === 401 || answer?.status === 403) return "refuses";
  return answer?.ok === true ? "works" : "is away";
}

function signedOut(): void {
  signOut();
  problem.value = { text: `The sign-in of this page has ended. ${HOW}`, isFinal: true };
  void client?.close();
}

async function onState(state: ConnectionState, token: string): Promise<void> {
  connection.value = state;
  if (state === "connected") void refreshSessions();
  if (state === "closed" || (state === "reconnecting" && (await probe(token)) === "refuses")) signedOut();
}

/** A query. Undefined when it is refused; the toast says why, unless it is asked in the background. */
export async function ask<K extends QueryKind>(
  kind: K,
  request: Queries[K]["request"],
  options: { readonly session?: SessionId | undefined; readonly isQuiet?: boolean } = {},
): Promise<Queries[K]["answer"] | undefined> {
  const reply = await engine().query(kind, request, options.session);
  if (reply.ok) return reply.answer;
  if (!options.isQuiet) showToast(reply.failure.message, true);
  return undefined;
}

export type Told = { readonly session?: SessionId; readonly value?: JsonValue };

/** A command. Undefined when it is refused; the toast says why. */
export async function tell<K extends CommandKind>(
  kind: K,
  payload: CommandPayloads[K],
  session?: SessionId,
): Promise<Told | undefined> {
  const reply = await engine().send(kind, payload, session);
  if (reply.ok) return reply;
  showToast(reply.failure.message, true);
  return undefined;
}

const TOAST_MS = 6000;
let toastTimer: ReturnType<typeof setTimeout> | undefined;

export function showToast(text: string, isError = false): void {
  clearTimeout(toastTimer);
  toast.value = { text, isError };
  toastTimer = setTimeout(() => {
    toast.value = undefined;
  }, TOAST_MS);
}

let listed = "";

export async function refreshSessions(): Promise<void> {
  if (client === undefined || document.hidden || connection.value !== "connected") return;
  const answer = await ask("ListSessions", { empty: true, limit: 200 }, { isQuiet: true });
  // An equal list is no news.
  const text = JSON.stringify(answer?.sessions);
  if (answer === undefined || text === listed) return;
  listed = text;
  sessions.value = answer.sessions;
}

/** Something that only this page knows: the answer of a slash command. */
export interface Note {
  readonly id: number;
  /** The number of turns before it. */
  readonly after: number;
  readonly line: string;
  readonly text: string;
  readonly isError?: boolean;
}

/** One session that the page shows, or has shown. */
export interface SessionView {
  readonly session: SessionId;
  readonly conversation: Signal<Conversation>;
  readonly status: Signal<StatusInfo | undefined>;
  readonly notes: Signal<readonly Note[]>;
  /** The other clients that follow it. */
  readonly others: Signal<readonly ClientInfo[]>;
  /** Older events are stored. */
  readonly hasOlder: Signal<boolean>;
  readonly isLoaded: Signal<boolean>;
  /** Counts what the person has said here: each time the page goes to the end. */
  readonly said: Signal<number>;
  /** In order: for folding them again, and for pages about single events. */
  events: Envelope[];
  /** Events come live. */
  follows: boolean;
}

const views = new Map<SessionId, SessionView>();
/** The view whose subagent works in this session, if the page has seen it. */
export function parentOf(session: SessionId): SessionView | undefined {
  return [...views.values()].find(({ conversation }) =>
    conversation.value.agents.some((agent) => agent.session === session),
  );
}

const FIRST_EVENTS = 600;
const MORE_EVENTS = 2000;
const MOST_MORE = 5;

function hasQuestion({ events }: SessionView): boolean {
  return events.some(({ kind }) => kind === "TurnStarted");
}

export function viewOf(session: SessionId): SessionView {
  const known = views.get(session);
  if (known !== undefined) return known;
  const view: SessionView = {
    session,
    conversation: signal(emptyConversation(session)),
    status: signal(undefined),
    notes: signal([]),
    others: signal([]),
    hasOlder: signal(false),
    isLoaded: signal(false),
    said: signal(0),
    events: [],
    follows: false,
  };
  views.set(session, view);
  void load(view);
  return view;
}

async function load(view: SessionView): Promise<void> {
  const { session } = view;
  const before = Number.MAX_SAFE_INTEGER;
  const history = await ask("ListEvents", { before, limit: FIRST_EVENTS }, { session, isQuiet: true });
  takeOlder(view, history?.events ?? []);
  // An answer of many events would stand there without its question.
  for (let more = 0; more < MOST_MORE && view.hasOlder.value && !hasQuestion(view); more++) await loadOlder(view);
  view.isLoaded.value = true;
  const info = await ask("ListSessions", { empty: true }, { session, isQuiet: true });
  if (info?.sessions.some(({ id, live }) => id === session && live)) await follow(view);
  await refreshStatus(view);
}

/** Live events come after those that are known. Opens a session that is only stored. */
async function follow(view: SessionView): Promise<boolean> {
  if (view.follows) return true;
  const { last, lastTs } = view.conversation.value;
  view.follows = true;
  const payload = { after: last, ...(lastTs !== undefined && { after_ts: lastTs }) };
  const told = await tell("AttachSession", payload, view.session);
  if (told === undefined) view.follows = false;
  return told !== undefined;
}

export async function loadOlder(view: SessionView): Promise<void> {
  const before = view.events[0]?.id;
  if (before === undefined || !view.hasOlder.value) return;
  view.hasOlder.value = false;
  const answer = await ask("ListEvents", { before, limit: MORE_EVENTS }, { session: view.session });
  takeOlder(view, answer?.events ?? []);
}

/** Loads the whole log, and folds it once. */
export async function loadAll(view: SessionView, isOver: () => boolean): Promise<void> {
  const pages: (readonly Envelope[])[] = [];
  let before = view.events[0]?.id ?? 1;
  while (before > 1 && !isOver()) {
    const answer = await ask("ListEvents", { before, limit: MORE_EVENTS }, { session: view.session });
    const first = answer?.events[0]?.id;
    if (answer === undefined || first === undefined || first >= before) break;
    pages.unshift(answer.events);
    before = first;
  }
  if (pages.length > 0 && !isOver()) takeOlder(view, pages.flat());
}

function takeOlder(view: SessionView, older: readonly Envelope[]): void {
  const first = view.events[0]?.id ?? Number.POSITIVE_INFINITY;
  view.events = [...older.filter(({ id }) => id < first), ...view.events];
  batch(() => {
    view.hasOlder.value = (view.events[0]?.id ?? 1) > 1;
    view.conversation.value = view.events.reduce(reduce, emptyConversation(view.session));
  });
}

export async function refreshStatus(view: SessionView): Promise<void> {
  const status = await ask("GetStatus", {}, { session: view.session, isQuiet: true });
  if (status !== undefined) view.status.value = status;
  const here = await ask("ListClients", {}, { session: view.session, isQuiet: true });
  view.others.value = (here?.clients ?? []).filter(({ id }) => id !== engine().id);
}

/** After these the status line may show something else. */
const CHANGES_STATUS: ReadonlySet<Envelope["kind"]> = new Set([
  ...(["TurnStarted", "TurnEnded", "ModeChanged", "ModelRouted", "FailedOver", "SessionEnded"] as const),
]);
/** After these the list of sessions shows something else. */
const CHANGES_LIST: ReadonlySet<Envelope["kind"]> = new Set([
  ...(["TurnStarted", "TurnEnded", "PermissionRequested", "PermissionResolved", "SessionEnded"] as const),
]);

/** Faster than a person reads, and slow enough to leave most of the time to others. */
const FOLD_MS = 32;
const HIDDEN_MS = 250;
let arrived: Envelope[] = [];
let isPlanned = false;
let foldedAt = 0;

/** Events of a few frames are folded together: a page that is drawn for each delta would do nothing else. */
function take(event: Envelope): void {
  arrived.push(event);
  if (isPlanned) return;
  isPlanned = true;
  if (document.hidden) setTimeout(fold, HIDDEN_MS);
  else setTimeout(() => requestAnimationFrame(fold), Math.max(0, FOLD_MS - (performance.now() - foldedAt)));
}

function fold(): void {
  isPlanned = false;
  foldedAt = performance.now();
  const events = arrived;
  arrived = [];
  const changed = new Map<SessionView, Conversation>();
  for (const event of events) {
    const view = views.get(event.session);
    if (view === undefined) continue;
    if (isLoss(event)) changed.set(view, forgetFrom(view, event.payload.from));
    const before = changed.get(view) ?? view.conversation.value;
    if (event.id > before.last && event.kind !== "StreamGap") view.events.push(event);
    changed.set(view, reduce(before, event));
    if (CHANGES_STATUS.has(event.kind)) void refreshStatus(view);
  }
  batch(() => {
    for (const [view, conversation] of changed) view.conversation.value = conversation;
  });
  if (events.some(({ kind }) => CHANGES_LIST.has(kind))) void refreshSessions();
}

/** The engine was killed before it saved these events. */
function isLoss(event: Envelope): event is Extract<Envelope, { readonly kind: "StreamGap" }> {
  return event.kind === "StreamGap" && event.payload.reason === "lost";
}

function forgetFrom(view: SessionView, from: number): Conversation {
  view.events = view.events.filter(({ id }) => id < from);
  return view.events.reduce(reduce, emptyConversation(view.session));
}

/** Sends a command to a session that may only be stored: it is opened first, so that the page sees what comes of it. */
export async function tellSession<K extends CommandKind>(
  view: SessionView,
  kind: K,
  payload: CommandPayloads[K],
): Promise<Told | undefined> {
  if (!(await follow(view))) return undefined;
  return tell(kind, payload, view.session);
}

/** Opens a new session in a folder and returns it. */
export async function newSession(request: CommandPayloads["CreateSession"]): Promise<SessionId | undefined> {
  const told = await tell("CreateSession", request);
  if (told?.session === undefined) return undefined;
  const view = viewOf(told.session);
  // The connection follows what it has created.
  view.follows = true;
  void refreshSessions();
  return told.session;
}
