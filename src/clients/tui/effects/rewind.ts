/**
 * Goes back to before an earlier prompt, with the conversation, the files, or both. The conversation continues in a copy of the session
 * that ends there, and the prompt is in the draft again. Rules of the session and its mode are those from before the prompt. The session
 * itself stays as it is, and an undo of files can be redone.
 */
import { typedText } from "../../../base/own-shell.js";
import type { EngineClient } from "../../../protocol/client.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { SessionId } from "../../../protocol/ids.js";
import { isJsonObject, type JsonObject } from "../../../protocol/json.js";
import { readSlashAnswer } from "../../../protocol/slash-command.js";
import type { Choice } from "../../sdk/permission-choices.js";
import { addCosts, NO_COSTS } from "../../sdk/shown/costs.js";
import { chooseDialog } from "../dialogs/choose.js";
import { pickerDialog } from "../dialogs/list-picker.js";
import { type ReviewFile, reviewDialog } from "../dialogs/review.js";
import { ageOf } from "../views/age.js";
import { type DialogPlace, matches } from "./open-named.js";
import { reviewTools, withTexts } from "./review-files.js";
import { type ChosenFile, chosenFiles, endWords, undo, undoFiles } from "./review-undo.js";

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
  /** What the tools reported to have changed in its turn, by path. */
  readonly changes: ReadonlyMap<string, Counts>;
}

interface Counts {
  readonly added: number;
  readonly removed: number;
}

/** What goes back. */
type Part = "both" | "conversation" | "files" | "review";

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
    columns: [sumOf(prompt.changes), ageOf(prompt.at, now)],
    preview: [...prompt.changes].map(([path, counts]) => `${path} ${countWords(counts)}`),
  }));
  const scopes = [{ name: "all", items }];
  open(
    pickerDialog({ name: "rewind", title: "Go back before", scopes, empty: "No such prompt.", matches }),
    (chosen) => {
      if (chosen !== undefined) place.carrier.switching(choosePart(place, chosen));
    },
  );
}

const MOST_FILES = 8;

/** Asks what goes back, if files changed since. */
async function choosePart(place: DialogPlace, prompt: EarlierPrompt): Promise<void> {
  const { carrier, open, state } = place;
  const reply = await carrier.slash("undo", `--from ${prompt.turn} --dry-run`);
  const plan = reply.ok ? readSlashAnswer(reply.value).value : undefined;
  const files = isJsonObject(plan) ? await withTexts(undoFiles(plan), { ...place, folder: state().place?.cwd }) : [];
  const ready = files.filter(({ fixed }) => !fixed);
  if (!isJsonObject(plan) || ready.length === 0) {
    await rewind(place, prompt);
    return;
  }
  const named = ready.slice(0, MOST_FILES).map(({ path, what }) => `  ${path}: ${what}`);
  const more = ready.length > named.length ? [`  and ${ready.length - named.length} more`] : [];
  const question = ["What goes back to before this prompt? These files changed since:", ...named, ...more].join("\n");
  const back = { plan, chosen: `--from ${prompt.turn}` };
  const all = ready.map(({ path }) => ({ path }));
  const revert = (accepted: readonly ChosenFile[]) =>
    accepted.length === 0 ? Promise.resolve(false) : undo({ ...back, accepted }, carrier, place);
  open(chooseDialog<Part>(question, PARTS), (part) => {
    if (part === "conversation") carrier.switching(rewind(place, prompt));
    if (part === "files") carrier.watch(revert(all));
    if (part === "both") carrier.switching(revert(all).then((done) => (done ? rewind(place, prompt) : undefined)));
    if (part === "review") carrier.watch(review(files, plan, { place, revert }));
  });
}

const PARTS: readonly Choice<Part>[] = [
  { key: "b", label: "the conversation and the files", answer: "both" },
  { key: "c", label: "only the conversation", answer: "conversation" },
  { key: "f", label: "only the files", answer: "files" },
  { key: "v", label: "look at the changes first, and choose some of them", answer: "review" },
];

async function review(
  files: readonly ReviewFile[],
  plan: JsonObject,
  {
    place,
    revert,
  }: { readonly place: DialogPlace; readonly revert: (accepted: readonly ChosenFile[]) => Promise<boolean> },
): Promise<void> {
  const tools = await reviewTools(place);
  place.open(reviewDialog({ title: "Go back", files, unit: "hunk", end: endWords(plan), ...tools }), (result) => {
    const accepted = result?.kind === "decided" ? chosenFiles(result.accepted, files) : [];
    place.carrier.watch(revert(accepted));
  });
}

function countWords({ added, removed }: Counts): string {
  return `+${added} -${removed}`;
}

/** Empty if no file changed. */
function sumOf(changes: EarlierPrompt["changes"]): string {
  const all = [...changes.values()];
  if (all.length === 0) return "";
  const sum = (of: keyof Counts) => all.reduce((total, counts) => total + counts[of], 0);
  const files = all.length === 1 ? "1 file" : `${all.length} files`;
  return `${files} ${countWords({ added: sum("added"), removed: sum("removed") })}`;
}

/** The files that a result of a tool reports. */
function changesOf(details: JsonObject | undefined): readonly (readonly [string, Counts])[] {
  const files = Array.isArray(details?.files) ? details.files : [details];
  return files.flatMap((file) => {
    if (!isJsonObject(file)) return [];
    const { path, added, removed } = file;
    const isChange = typeof path === "string" && typeof added === "number" && typeof removed === "number";
    return isChange && added + removed > 0 ? [[path, { added, removed }] as const] : [];
  });
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
  const files = `/undo ${session} --from ${turn} reverts files that still have their changes`;
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

/** The output of a call is not needed, and may be long. */
function withoutContent(event: Envelope): Envelope {
  return event.kind === "ToolResult" ? { ...event, payload: { ...event.payload, content: [] } } : event;
}

function addChanges(changes: Map<string, Counts>, details: JsonObject | undefined): void {
  for (const [path, { added, removed }] of changesOf(details)) {
    const before = changes.get(path) ?? { added: 0, removed: 0 };
    changes.set(path, { added: before.added + added, removed: before.removed + removed });
  }
}

/** In their order. */
async function promptsOf(client: EngineClient, session: SessionId): Promise<readonly EarlierPrompt[]> {
  const status = await client.query("GetStatus", {}, session);
  let before = status.ok ? status.answer.last_event + 1 : 0;
  const found: Envelope[] = [];
  const wanted = new Set(["TurnStarted", "CostIncremented", "ToolResult"]);
  for (let page = 0; page < MOST_PAGES && before > 1; page++) {
    const reply = await client.query("ListEvents", { before, limit: PAGE_EVENTS }, session);
    const events = reply.ok ? reply.answer.events : [];
    found.unshift(...events.filter(({ kind }) => wanted.has(kind)).map(withoutContent));
    before = events[0]?.id ?? 0;
  }
  // Without the first turns, the numbers of the others are not known.
  if (before > 1) return [];
  const prompts: EarlierPrompt[] = [];
  let costs = NO_COSTS;
  let changes = new Map<string, Counts>();
  for (const event of found) {
    if (event.kind === "CostIncremented") costs = addCosts(costs, event.payload);
    if (event.kind === "ToolResult") addChanges(changes, event.payload.details);
    if (event.kind !== "TurnStarted") continue;
    changes = new Map();
    const text = typedText(event.payload.input);
    const { contextUsed } = costs;
    prompts.push({ turn: prompts.length + 1, text, at: Date.parse(event.ts), event: event.id, contextUsed, changes });
  }
  return prompts;
}
