/** Lists what works beside the conversation, subagents and background commands: look into one while it works, or stop it. */
import { formatDuration } from "../../../base/duration.js";
import { counted, groupDigits } from "../../../base/group-digits.js";
import { readSlashAnswer } from "../../../protocol/slash-command.js";
import { type PickerItem, pickerDialog } from "../dialogs/list-picker.js";
import { transcriptDialog } from "../dialogs/transcript.js";
import type { AgentWork } from "../state.js";
import { History } from "../transcript/history.js";
import { type DialogPlace, matches } from "./open-named.js";

interface CommandWork {
  readonly id: string;
  readonly command: string;
  readonly running: boolean;
  readonly state: string;
}

type Work = { readonly agent: AgentWork } | { readonly command: CommandWork };

export async function openWork(place: DialogPlace): Promise<void> {
  let commands = await backgroundCommands(place);
  // They change while the list is open. The newest come first, and what runs before what has ended.
  const items = () => {
    const agents = place.state().agents.map((agent) => agentItem(agent, place.clock.now()));
    const all = [...agents, ...commands.map((command) => commandItem(command))].toReversed();
    return all.sort((one, other) => Number(isRunning(other.value)) - Number(isRunning(one.value)));
  };
  const dialog = pickerDialog<Work>({
    ...{ name: "work", title: "Working", matches },
    scopes: [{ name: "all", items }],
    empty: "No subagent and no background command has begun here.",
    actions: {
      "ctrl+x": {
        words: "ctrl-x stops",
        carryOut: async (work) => {
          await stop(work, place);
          commands = await backgroundCommands(place);
          place.update((state) => state);
        },
      },
    },
  });
  place.open(dialog, (chosen) => {
    if (chosen === undefined) return;
    place.carrier.watch("agent" in chosen ? openAgent(chosen.agent, place) : openOutput(chosen.command, place));
  });
}

function isRunning(work: Work): boolean {
  return "agent" in work ? work.agent.endedAt === undefined : work.command.running;
}

function agentItem(agent: AgentWork, now: number): PickerItem<Work> {
  const { type, description, calls, tokens, startedAt, endedAt, outcome, last } = agent;
  const time = formatDuration((endedAt ?? now) - startedAt);
  return {
    value: { agent },
    label: `${type}: ${description}`,
    columns: [outcome ?? "working", counted(calls, "call") ?? "", `${groupDigits(tokens)} tokens`, time],
    ...(last !== undefined && { preview: [last] }),
  };
}

function commandItem(command: CommandWork): PickerItem<Work> {
  return { value: { command }, label: `${command.id}: ${command.command}`, columns: [command.state] };
}

async function backgroundCommands({ carrier }: DialogPlace): Promise<readonly CommandWork[]> {
  const reply = await carrier.slash("background", "");
  const listed = reply.ok ? readSlashAnswer(reply.value).value : undefined;
  return Array.isArray(listed) ? (listed as unknown as readonly CommandWork[]) : [];
}

/** Shows the conversation of a subagent; it grows while the subagent works. */
async function openAgent({ session }: AgentWork, { client, state, update, open }: DialogPlace): Promise<void> {
  const onChange = () => update((now) => now);
  const { hidesCost } = state();
  const history = new History({ ...{ client, session, blocks: [], before: 0, hidesCost, onChange } });
  await history.readNewest();
  const stop = client.subscribe(({ kind, payload }) => {
    const isOfIt = kind === "SubagentProgress" || kind === "SubagentEnded";
    if (isOfIt && (payload as { readonly session?: unknown }).session === session) void history.readNewest();
  });
  open(transcriptDialog(history), stop);
}

async function openOutput({ id, command }: CommandWork, { carrier, open, print }: DialogPlace): Promise<void> {
  const reply = await carrier.slash("background", `output ${id}`);
  if (!reply.ok) {
    print({ kind: "notice", level: "error", text: reply.failure.message });
    return;
  }
  const { text } = readSlashAnswer(reply.value);
  open(
    transcriptDialog({
      pages: [[{ kind: "shell", command: `${id}: ${command}`, output: text }]],
      state: "complete",
      loadEarlier() {},
    }),
    () => {},
  );
}

async function stop(work: Work, { client, carrier, hint }: DialogPlace): Promise<void> {
  if (!isRunning(work)) {
    hint("It has ended already.");
    return;
  }
  const reply =
    "agent" in work
      ? await client.send("CancelTurn", {}, work.agent.session)
      : await carrier.slash("background", `stop ${work.command.id}`);
  hint(reply.ok ? "Stopped." : reply.failure.message);
}
