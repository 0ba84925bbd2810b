/** Opens the pickers and views of the client with data from the engine. */
import type { SessionId } from "../../../protocol/ids.js";
import type { SessionInfo } from "../../../protocol/queries.js";
import { helpDialog } from "../dialogs/help.js";
import { type PickerItem, pickerDialog } from "../dialogs/list-picker.js";
import { type ChosenModel, modelDialog, modelItems, noteOn } from "../dialogs/model-picker.js";
import { transcriptDialog } from "../dialogs/transcript.js";
import type { DialogName } from "../state.js";
import { ageOf } from "../views/age.js";
import type { Carrier, CarrierOptions } from "./carrier.js";
import { resume, resumeLast } from "./resume.js";
import { ContentSearch, SessionPreviews } from "./session-previews.js";

export interface DialogPlace extends CarrierOptions {
  readonly carrier: Carrier;
}

export async function openNamed(name: DialogName, place: DialogPlace): Promise<void> {
  switch (name) {
    case "help":
      place.open(helpDialog(place.keys), () => {});
      return;
    case "models":
      return openModels(place);
    case "sessions":
      return openSessions(place);
    case "themes":
      return openThemes(place);
    case "transcript":
      return openTranscript(place);
    case "sidebar": {
      const { openSidebar } = await import("./open-sidebar.js");
      return openSidebar(place);
    }
    case "last session":
      return resumeLast(place);
    case "rewind": {
      const { openRewind } = await import("./rewind.js");
      return openRewind(place);
    }
    case "approvals": {
      const { reviewContent } = await import("./review-content.js");
      return reviewContent(place);
    }
    case "settings": {
      const { openSettings } = await import("./open-settings.js");
      return openSettings(place);
    }
    case "work": {
      const { openWork } = await import("./open-work.js");
      return openWork(place);
    }
    case "review":
      return;
  }
}

async function openTranscript({ client, state, carrier, update, open }: DialogPlace): Promise<void> {
  const { History } = await import("../transcript/history.js");
  const { session, hidesCost } = state();
  const { blocks, before = await lastEvent() } = carrier.remembered;
  const onChange = () => update((now) => now);
  const history = new History({ client, session, blocks, before, hidesCost, onChange });
  // A client that joined late has few blocks, which may not fill the screen.
  if (blocks.length < FEW_BLOCKS) history.loadEarlier();
  open(transcriptDialog(history), () => {});

  async function lastEvent(): Promise<number> {
    const status = await client.query("GetStatus", {}, session);
    return status.ok ? status.answer.last_event : 0;
  }
}

const FEW_BLOCKS = 50;

/** Whether the text contains every word of the filter. */
export function matches(filter: string, text: string): boolean {
  const hay = text.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => hay.includes(word));
}

async function openModels(place: DialogPlace): Promise<void> {
  const { client, open, hint, state } = place;
  hint("Looking for models …");
  const reply = await client.query("ListModels", {}, state().session);
  if (!reply.ok) {
    hint(reply.failure.message);
    return;
  }
  const { models, problems } = reply.answer;
  const { model: current, place: { effort } = {} } = state();
  const items = modelItems(models, current);
  const empty = problems[0] ?? "No model matches.";
  const note = noteOn(models);
  const scopes = [{ name: "all", items }];
  hint("");
  open(
    modelDialog({ name: "models", title: "Model", scopes, empty, matches, effort, ...(note && { note }) }),
    (chosen) => {
      if (chosen !== undefined) void setModel(place, chosen);
    },
  );
}

async function setModel(place: DialogPlace, { model, effort }: ChosenModel): Promise<void> {
  const { client, state, print, carrier, saveSettings } = place;
  const before = state().place?.effort ?? "auto";
  const reply = await client.send("SetModel", { model }, state().session);
  const level = reply.ok && effort !== before ? await carrier.slash("effort", effort) : undefined;
  const failed = [reply, level].find((each) => each?.ok === false);
  const thinking = level === undefined ? "" : ` with effort ${effort}`;
  if (failed?.ok === false) print({ kind: "notice", level: "error", text: failed.failure.message });
  else {
    const saved = await saveSettings?.({ model, ...(level && { effort: effort === "auto" ? null : effort }) });
    const text = [`Model: ${model}${thinking}, from the next turn on.`, saved]
      .filter((each) => each !== undefined)
      .join(" ");
    print({ kind: "notice", level: "info", text });
  }
  await carrier.refresh();
}

async function openSessions(place: DialogPlace): Promise<void> {
  const { client, open, hint, state, clock, update } = place;
  const reply = await client.query("ListSessions", { subagents: true });
  if (!reply.ok) {
    hint(reply.failure.message);
    return;
  }
  const now = clock.wall();
  const repaint = () => update((current) => current);
  const previews = new SessionPreviews(client, repaint);
  const contents = new ContentSearch(place.carrier, repaint);
  const foundIn = (filter: string, { id }: SessionInfo) => contents.placeIn(filter, id);
  const arrow = "└ ";
  const item = ({ session, depth }: InTree): PickerItem<SessionInfo> => ({
    value: session,
    label: `${depth === 0 ? "" : "  ".repeat(depth - 1) + arrow}${session.title ?? "(no title)"}`,
    columns: [ageOf(Date.parse(session.active_at), now), stateOf(session), session.model, session.cwd],
    preview: () => [...previews.of(session), `${session.provider}:${session.model}, ${session.cwd}, ${session.id}`],
    current: session.id === state().session,
  });
  const all = reply.answer.sessions;
  const here = all.filter(({ cwd }) => cwd === state().place?.cwd);
  const scopes = [
    { name: "this folder", items: asTree(here).map(item) },
    { name: "all folders", items: asTree(all).map(item) },
  ];
  const empty = "No title and no content has these words.";
  open(pickerDialog({ name: "sessions", title: "Resume", scopes, empty, matches, foundIn }), (chosen) => {
    if (chosen !== undefined) place.carrier.switching(resume(place, chosen));
  });
}

interface InTree {
  readonly session: SessionInfo;
  readonly depth: number;
}

const DEEPEST = 6;

/** Puts branches below the session that they left; the newest branch of it first. */
function asTree(sessions: readonly SessionInfo[]): readonly InTree[] {
  const known = new Set(sessions.map(({ id }) => id));
  const branches = new Map<SessionId | undefined, SessionInfo[]>();
  for (const session of sessions) {
    const { branch_of: of } = session;
    const key = of !== undefined && known.has(of) ? of : undefined;
    branches.set(key, [...(branches.get(key) ?? []), session]);
  }
  const below = (of: SessionId | undefined, depth: number): readonly InTree[] =>
    (branches.get(of) ?? []).flatMap((session) => [
      { session, depth },
      ...below(session.id, Math.min(depth + 1, DEEPEST)),
    ]);
  return below(undefined, 0);
}

function stateOf({ live, ended, unfinished }: SessionInfo): string {
  if (live) return unfinished ? "running" : "idle";
  if (unfinished || ended === "error") return "interrupted";
  return ended === "paused" ? "paused" : "done";
}

function openThemes(place: DialogPlace): void {
  const { open, themes, theme } = place;
  const current = theme().name;
  const items = themes.map(({ name, description }) => {
    return { value: name, label: name, columns: [description], current: name === current };
  });
  const scopes = [{ name: "all", items }];
  open(pickerDialog({ name: "themes", title: "Theme", scopes, empty: "No themes.", matches }), (chosen) => {
    if (chosen !== undefined) void keepTheme(chosen, place);
  });
}

/** Uses a theme, and keeps it for new sessions. */
export async function keepTheme(name: string, { setTheme, saveSettings, print }: CarrierOptions): Promise<void> {
  setTheme(name);
  const saved = await saveSettings?.({ theme: name });
  if (saved !== undefined) print({ kind: "notice", level: "info", text: `Theme ${name}. ${saved}` });
}
