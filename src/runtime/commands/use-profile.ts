/** `/profiles:NAME` and `/profiles use NAME`: continues with another profile, in a new session or in this one. */
import { PROFILES_LIST, PROFILES_SHOW, PROFILES_USE } from "../../commands/catalogue/profiles.js";
import { type Command, type CommandArguments, type CommandResult, refuse } from "../../commands/command.js";
import { requestsIn, summaryText } from "../../context/compaction/summary-message.js";
import type { Run } from "../../control/run.js";
import { type Opening, runOf } from "../opening.js";
import type { RunCompaction } from "../parts/compaction.js";
import type { SessionEvents } from "../parts/event-hooks.js";
import type { ProfilePlace } from "../settings/profile-list.js";
import { profileNames } from "../settings/project-profiles.js";
import type { LoadedSettings } from "../settings/settings.js";
import { modelName } from "./conversation.js";
import { loadOther, profileCommands } from "./profiles.js";

/** The limit for the user's own text in the summary. */
const REQUEST_CHARS = 8_000;

interface UsePort extends ProfilePlace {
  readonly run: Run;
  readonly compaction: RunCompaction;
  /** The user chose another model than that of the settings. */
  readonly hasOwnModel: boolean;
  readonly isStored: () => Promise<boolean>;
  readonly events: SessionEvents;
}

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
  });
  const { arguments: _name, ...short } = PROFILES_USE;
  const taken = [PROFILES_LIST, PROFILES_SHOW, PROFILES_USE].map(({ name }) => name);
  const names = profileNames({ ...place, roots: loaded.roots }).filter((name) => !taken.includes(`profiles:${name}`));
  return [
    ...profileCommands(place),
    { ...PROFILES_USE, run: (args) => useProfile(args.text("NAME") ?? "", args, port()) },
    ...names.map((name): Command => {
      const summary = `continue with the profile ${name}`;
      return { ...short, name: `profiles:${name}`, summary, run: (args) => useProfile(name, args, port()) };
    }),
  ];
}

async function useProfile(name: string, args: CommandArguments, port: UsePort): Promise<CommandResult> {
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
  const carry = args.hasFlag("empty") ? undefined : await summaryOf(port);
  if (carry !== undefined && typeof carry !== "string") return carry;
  const back = (await port.isStored())
    ? ` The old session is paused; 'oxbow resume ${session}' returns to it.`
    : " The old session was not stored.";
  const knows =
    carry === undefined ? "It knows nothing about this conversation." : "It knows a summary of this conversation.";
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

/** Undefined if there is nothing to summarise. */
async function summaryOf({ run, compaction }: UsePort): Promise<string | undefined | CommandResult> {
  const result = await compaction.summarizeNow(run);
  if ("nothing" in result) return undefined;
  if ("text" in result) {
    return summaryText({ summary: result.text, ...requestsIn(run.conversation, REQUEST_CHARS) });
  }
  const reason = "failure" in result ? result.failure.message : "Cancelled.";
  return refuse(`${reason} The session continues unchanged. With --empty the new one starts without a summary.`);
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
