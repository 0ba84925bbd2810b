/** `/profiles:NAME` and `/profiles use NAME`: continues with another profile, in a new session or in this one. */

import { isInput, lastTurns, requestsIn, summaryText } from "../../context/compaction/summary-message.js";
import type { Run } from "../../control/run.js";
import type { SessionEvents } from "../../extensions/hooks/part.js";
import {
  type Command,
  type CommandArguments,
  type CommandContext,
  type CommandResult,
  refuse,
} from "../../feature/command.js";
import type { Message } from "../../protocol/content.js";
import type { CallId } from "../../protocol/ids.js";
import { type Opening, runOf } from "../opening.js";
import type { LoadedNames } from "../part.js";
import type { RunCompaction } from "../parts/compaction.js";
import type { ProfilePlace } from "../settings/profile-list.js";
import { profileNames } from "../settings/project-profiles.js";
import type { LoadedSettings } from "../settings/settings.js";
import { modelName } from "./conversation.js";
import { loadOther, PROFILES_LIST, PROFILES_SHOW, PROFILES_USE, profileCommands } from "./profiles.js";

/** The limit for the user's own text in the summary. */
const REQUEST_CHARS = 8_000;
/** The turns that go along unless the user says otherwise. */
const USUAL_TURNS = 5;
const UNCHANGED = "The session continues unchanged.";

interface UsePort extends ProfilePlace {
  readonly run: Run;
  readonly compaction: RunCompaction;
  /** The user chose another model than that of the settings. */
  readonly hasOwnModel: boolean;
  readonly isStored: () => Promise<boolean>;
  readonly events: SessionEvents;
  readonly person: Opening["person"];
  readonly newCall: () => CallId;
}

type AskPort = UsePort & Pick<CommandContext, "signal">;

export function sessionProfileCommands(opening: Opening): readonly Command[] {
  const { engine, root, built } = opening;
  const { loaded, variables, sessions, model } = engine;
  const place = { loaded, variables, root };
  const run = runOf(opening);
  const port = (): UsePort => ({
    ...place,
    run,
    compaction: built.get("compaction"),
    hasOwnModel: run.model !== model,
    isStored: async () => (await sessions.choice()).kind !== "none",
    events: built.get("events"),
    person: opening.person,
    newCall: () => engine.ids.next("call"),
  });
  const { arguments: _name, ...short } = PROFILES_USE;
  const taken = [PROFILES_LIST, PROFILES_SHOW, PROFILES_USE].map(({ name }) => name);
  const names = namesHere(opening).filter((name) => !taken.includes(`profiles:${name}`));
  return [
    ...profileCommands(place, () => loadedBy(opening)),
    { ...PROFILES_USE, run: (args, context) => useProfile(args.text("NAME") ?? "", args, { ...port(), ...context }) },
    ...names.map((name): Command => {
      const summary = `continue with the profile ${name}`;
      return {
        ...short,
        name: `profiles:${name}`,
        summary,
        run: (args, context) => useProfile(name, args, { ...port(), ...context }),
      };
    }),
  ];
}

export function namesHere({ engine: { loaded, variables }, root }: Opening): readonly string[] {
  return profileNames({ root, variables, roots: loaded.roots });
}

async function loadedBy({ current, engine }: Opening): Promise<readonly LoadedNames[]> {
  const ofParts = await Promise.all((current.parts ?? []).map((part) => part.loaded?.() ?? []));
  const tools = current.run?.tools.list().map(({ name }) => name) ?? [];
  const plugins = engine.plugins?.map(({ name }) => name) ?? [];
  return [...ofParts.flat(), ["plugins", plugins], ["tools", tools]];
}

async function useProfile(name: string, args: CommandArguments, port: AskPort): Promise<CommandResult> {
  const { run } = port;
  // An invalid profile is reported here, before anything changes.
  const loaded = await loadOther(name, port);
  const model = keepsModel(loaded, port) ? { model: modelName(run) } : {};
  const { session } = run;
  if (args.hasFlag("in-place")) {
    if (!(await port.isStored()) || run.conversation.length === 0) {
      return refuse(`Only a stored session with a conversation can change in place. Use /profiles:${name}.`);
    }
    const refused = await refusedChange(loaded, port);
    if (refused !== undefined) return refuse(refused);
    const text = inPlaceText(loaded);
    return { text, value: { profile: name, session }, follow: { resume: session, profile: name, ...model } };
  }
  const turns = await turnsToCarry(loaded.chosen.name, args, port);
  if (typeof turns !== "number") return turns;
  const carry = turns === 0 ? undefined : await summaryOf(lastTurns(run.conversation, turns), port);
  if (carry !== undefined && typeof carry !== "string") return carry;
  const back = (await port.isStored())
    ? ` The old session is paused; 'oxbow resume ${session}' returns to it.`
    : " The old session was not stored.";
  const knows =
    carry === undefined
      ? "It knows nothing about this conversation."
      : `It knows a summary of ${turnsText(turns, run)}.`;
  return {
    text: `New session with the profile ${loaded.chosen.name}. ${knows}${run.conversation.length === 0 ? "" : back}`,
    value: { profile: name, paused: session, carried: carry !== undefined },
    follow: { after: session, profile: name, ...model, ...(carry !== undefined && { carry }) },
  };
}

/** Why hooks keep the session as it is. */
async function refusedChange({ layers, chosen }: LoadedSettings, { events }: UsePort): Promise<string | undefined> {
  const { scope, path } = layers.at(-1) ?? {};
  const source = scope === "project" ? "project_settings" : "user_settings";
  const input = { source, ...(path !== undefined && { file_path: path }) };
  const { refuses, reason } = await events.fire("ConfigChange", { subject: source, input });
  return refuses ? `A hook refused the profile ${chosen.name}: ${reason}` : undefined;
}

/** How many of the last turns the new session knows: by the flags, else the user says it. */
async function turnsToCarry(
  profile: string,
  args: CommandArguments,
  { run, person, newCall, signal }: AskPort,
): Promise<number | CommandResult> {
  const all = turnsIn(run);
  if (args.hasFlag("empty") || all === 0) return 0;
  const asked = args.flag("turns");
  if (asked === "all") return all;
  if (asked !== undefined) {
    return /^[0-9]+$/.test(asked) ? Number(asked) : refuse(`--turns takes a number or 'all', not "${asked}".`);
  }
  const turns = Math.min(USUAL_TURNS, all);
  if (!person.present()) return turns;
  const { decision, unanswered } = await person.ask(
    {
      call: newCall(),
      tool: "a summary",
      args: { profile, turns },
      summary: `take a summary of ${turnsText(turns, run)} into the new session`,
      reason:
        "Otherwise it knows nothing about this one. With --turns N it takes the last N turns, with --turns all every one.",
      once_only: true,
      contained: true,
    },
    signal,
  );
  if (unanswered !== undefined || signal.aborted) return refuse(`There was no answer. ${UNCHANGED}`);
  return decision === "deny" ? 0 : turns;
}

function turnsIn({ conversation }: Run): number {
  return conversation.filter(isInput).length;
}

function turnsText(turns: number, run: Run): string {
  if (turns >= turnsIn(run)) return "this conversation";
  return turns === 1 ? "the last turn" : `the last ${turns} turns`;
}

/** Undefined if there is nothing to summarise. */
async function summaryOf(
  messages: readonly Message[],
  { run, compaction }: UsePort,
): Promise<string | undefined | CommandResult> {
  const result = await compaction.summarizeNow(run, { messages });
  if ("nothing" in result) return undefined;
  if ("text" in result) return summaryText({ summary: result.text, ...requestsIn(messages, REQUEST_CHARS) });
  const reason = "failure" in result ? result.failure.message : "Cancelled.";
  return refuse(`${reason} ${UNCHANGED} With --empty the new one starts without a summary.`);
}

/** A model that the user chose in the session stays, unless the profile names another one. */
function keepsModel({ settings }: LoadedSettings, { loaded, hasOwnModel }: UsePort): boolean {
  const isSame = (key: "model" | "provider") => settings[key].value === loaded.settings[key].value;
  return hasOwnModel && isSame("model") && isSame("provider");
}

function inPlaceText({ chosen }: LoadedSettings): string {
  return `This session now has the profile ${chosen.name}: its model, prompt, tools, permissions and limits.
Warning: the model may be confused, because its earlier answers come from other instructions and tools.
These do not change: the earlier messages, where sessions are stored, and the log. What you allowed for the session no longer counts.`;
}
