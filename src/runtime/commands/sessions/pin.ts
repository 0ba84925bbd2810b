import type { CommandArguments, CommandResult } from "../../../feature/command.js";
import { named, type OpenPort, type SessionAction } from "./port.js";

export const pin: SessionAction = (args, port) => setPinned(args, port, { pinned: true });
export const unpin: SessionAction = (args, port) => setPinned(args, port, { pinned: false });

async function setPinned(
  args: CommandArguments,
  port: OpenPort,
  { pinned }: { readonly pinned: boolean },
): Promise<CommandResult> {
  const { id } = await named(args.text("ID"), port);
  await port.store.update(id, { pinned });
  const state = pinned ? "is pinned: its content stays" : "is no longer pinned: its content expires with time";
  return { text: `${id} ${state}.`, value: { id, pinned } };
}
