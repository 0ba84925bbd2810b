/** A conversation with a session of the engine, until the person leaves or has to answer something before it can continue. */
import { safeLine } from "../../base/terminal-text.js";
import type { WireClient } from "../../clients/sdk/wire-client.js";
import type { EngineClient } from "../../protocol/client.js";
import type { MediaBlock } from "../../protocol/content.js";
import type { SessionEndReason } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import type { ClientInfo, SessionInfo } from "../../protocol/queries.js";
import { exitCodeOfFailure } from "../exit-codes.js";
import { printMessage } from "../print-message.js";
import { converse } from "../run/converse.js";
import { askOnce } from "../terminal-io.js";
import { type AttachPlace, openAttached, sessionsOf, talkOf } from "./attached-talk.js";

export type Choice =
  | { readonly kind: "new" }
  | { readonly kind: "attach"; readonly session: Pick<SessionInfo, "id" | "title"> }
  /** In the list of the terminal client. */
  | { readonly kind: "pick" };

/** `session`: it has to be opened again. */
export type ConversationEnd = { readonly exit: number } | { readonly session: SessionId };

export interface ConversationPlace extends AttachPlace {
  /** Ends the conversation: the engine has ended, and the session waits for an answer. */
  readonly lost: AbortSignal;
}

export async function converseAttached(
  place: ConversationPlace,
  choice: Choice,
  { media }: { readonly media: readonly MediaBlock[] },
): Promise<ConversationEnd> {
  const { client, flags, variables, lost } = place;
  const chosen = choice.kind === "attach" ? choice.session : undefined;
  const opened = await openAttached(place, chosen);
  if ("failure" in opened) {
    printMessage(opened.failure.message);
    return { exit: exitCodeOfFailure(opened.failure) };
  }
  let { session } = opened;
  let say: (message: string) => void = printMessage;
  let ended: SessionEndReason = "user";
  client.subscribe((event) => {
    if (event.session === session && event.kind === "SessionEnded") ended = event.payload.reason;
  });
  client.onDetached((other, reason) => {
    if (other !== session || lost.aborted) return;
    if (reason !== undefined) say(reason.message);
    else if (ended === "binary-shutdown") say("The engine has ended. Your next prompt starts it again.");
    else say("This session has ended. Your next prompt opens it again.");
  });
  const talk = await talkOf(place, { session, chosen, note: await othersNote(client, session) });
  const exit = await converse(
    {
      ...talk,
      onMessages: (show) => {
        say = show;
        for (const message of opened.messages) show(message);
      },
    },
    {
      ...{ session, media, flags, variables, choosesSession: choice.kind === "pick" },
      leave: lost,
      keepsTurn: () => true,
      isElsewhere: place.isElsewhere === true,
      onSession: (other) => {
        session = other;
      },
    },
  );
  return lost.aborted ? { session } : { exit };
}

/** Names the other clients in the session. */
async function othersNote(client: WireClient, session: SessionId): Promise<string | undefined> {
  const names = (await othersOf(client, session)).map((other) => safeLine(clientWords(other)));
  return names.length === 0 ? undefined : `Also here: ${names.join(", ")}.`;
}

const MOST_LISTED = 20;

/** For a terminal that cannot show a list to choose from. */
export async function pickByNumber(client: WireClient): Promise<Choice> {
  const sessions = (await sessionsOf(client)).slice(0, MOST_LISTED);
  const lines = sessions.map(({ title, cwd, live, id }, index) => {
    const state = live ? "  open" : "";
    return `  ${String(index + 1).padStart(2)}  ${safeLine(title ?? id)}  ${safeLine(cwd)}${state}`;
  });
  process.stderr.write(`${lines.join("\n")}\n`);
  for (;;) {
    const typed = (await askOnce("Number [Enter: a new session]: "))?.trim();
    if (typed === undefined || typed === "") return { kind: "new" };
    const session = sessions[Number(typed) - 1];
    if (session !== undefined) return { kind: "attach", session };
    process.stderr.write(`Please answer a number from 1 to ${sessions.length}.\n`);
  }
}

/** The other clients of a session, or of the engine. */
async function othersOf(client: EngineClient, session?: SessionId): Promise<readonly ClientInfo[]> {
  const reply = await client.query("ListClients", {}, session);
  return reply.ok ? reply.answer.clients.filter(({ id }) => id !== client.id) : [];
}

function clientWords({ name, id, identity }: Pick<ClientInfo, "name" | "id" | "identity">): string {
  return `${name ?? id}${identity === "agent" ? " (agent)" : ""}`;
}
