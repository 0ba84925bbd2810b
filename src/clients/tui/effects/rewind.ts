/**
 * Goes back to before an earlier prompt: the conversation continues in a copy of the session that ends there, and the prompt is in the
 * draft again. Rules of the session and its mode are those from before the prompt. The session itself and the files stay as they are.
 */
import { typedText } from "../../../base/own-shell.js";
import type { EngineClient } from "../../../protocol/client.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { SessionId } from "../../../protocol/ids.js";
import { isJsonObject } from "../../../protocol/json.js";
import { pickerDialog } from "../dialogs/list-picker.js";
import { addCosts, NO_COSTS } from "../reduce/costs.js";
import { ageOf } from "../views/age.js";
import { type DialogPlace, matches } from "./open-named.js";

const PAGE_EVENTS = 5000;
/** A session with more is too long for a list. */
const MOST_PAGES = 40;

interface EarlierPrompt {
  /** From 1. */
  readonly turn: number;
  readonly text: string;
  readonly at: number;
  /** The id of its TurnStarted. */
  readonly event: number;
  /** The tokens of the conversation before it. */
  readonly contextUsed: number;
}

export async function openRewind(place: DialogPlace): Promise<void> {
  const { client, state, hint, open, clock } = place;
  const { turn, shell } = state();
  // The command that is typed for it runs now, too.
  if (turn !== undefined || shell !== undefined) {
    hint("Wait until the turn has ended, or interrupt it with Esc.");
    return;
  }
  const prompts = await promptsOf(client, state().session);
  if (prompts.length === 0) {
    hint("There is no earlier prompt.");
    return;
  }
  const now = clock.wall();
  const items = prompts.toReversed().map((prompt) => ({
    value: prompt,
    label: prompt.text.trim().replaceAll(/\s+/g, " "),
    columns: [ageOf(prompt.at, now)],
  }));
  const scopes = [{ name: "all", items }];
  open(
    pickerDialog({ name: "rewind", title: "Go back before", scopes, empty: "No such prompt.", matches }),
    (chosen) => {
      if (chosen !== undefined) place.carrier.switching(rewind(place, chosen));
    },
  );
}

async function rewind(place: DialogPlace, { turn, text, event, contextUsed }: EarlierPrompt): Promise<void> {
  const { client, state, restart, print, carrier, apply, update } = place;
  const { session, model } = state();
  const copy = turn === 1 ? undefined : await copyOf(place, turn - 1);
  if (turn > 1 && copy === undefined) return;
  // The rules of the session and the mode are those from before the prompt, too.
  const settings = { after: session, until: event };
  const reply = await client.send("CreateSession", copy === undefined ? settings : { ...settings, resume: copy });
  if (!reply.ok || reply.session === undefined) {
    if (!reply.ok) print({ kind: "notice", level: "error", text: reply.failure.message });
    return;
  }
  restart(reply.session, model);
  update((now) => ({ ...now, costs: { ...now.costs, contextUsed } }));
  const files = `/undo ${session} --from ${turn} reverts the files`;
  print({
    kind: "notice",
    level: "info",
    text: `You are back before this prompt. ${files}; /resume ${session} returns to the whole conversation.`,
  });
  apply({ state: state(), effects: [{ do: "restore", text }] });
  await carrier.refresh();
}

/** A copy of the session up to the end of a turn; undefined after a message. */
async function copyOf({ carrier, print }: DialogPlace, turn: number): Promise<SessionId | undefined> {
  const reply = await carrier.slash("session:branch", `this at ${turn}`);
  if (!reply.ok) {
    print({ kind: "notice", level: "error", text: reply.failure.message });
    return undefined;
  }
  const value = isJsonObject(reply.value) ? reply.value.value : undefined;
  const id = isJsonObject(value) ? value.id : undefined;
  return typeof id === "string" ? (id as SessionId) : undefined;
}

/** In their order. */
async function promptsOf(client: EngineClient, session: SessionId): Promise<readonly EarlierPrompt[]> {
  const status = await client.query("GetStatus", {}, session);
  let before = status.ok ? status.answer.last_event + 1 : 0;
  const found: Envelope[] = [];
  for (let page = 0; page < MOST_PAGES && before > 1; page++) {
    const reply = await client.query("ListEvents", { before, limit: PAGE_EVENTS }, session);
    const events = reply.ok ? reply.answer.events : [];
    found.unshift(...events.filter(({ kind }) => kind === "TurnStarted" || kind === "CostIncremented"));
    before = events[0]?.id ?? 0;
  }
  // Without the first turns, the numbers of the others are not known.
  if (before > 1) return [];
  const prompts: EarlierPrompt[] = [];
  let costs = NO_COSTS;
  for (const event of found) {
    if (event.kind === "CostIncremented") costs = addCosts(costs, event.payload);
    if (event.kind !== "TurnStarted") continue;
    const text = typedText(event.payload.input);
    const { contextUsed } = costs;
    prompts.push({ turn: prompts.length + 1, text, at: Date.parse(event.ts), event: event.id, contextUsed });
  }
  return prompts;
}
