/** The commands about stored sessions. Each loads its code when it runs. */

import type { Command, CommandSpec } from "../../../feature/command.js";
import { openPort, type SessionAction, type SessionsPort } from "./port.js";
import * as specs from "./specs.js";

type LoadAction = () => Promise<SessionAction>;

const ACTIONS: readonly (readonly [CommandSpec, LoadAction])[] = [
  [specs.SESSION_LIST, async () => (await import("./list.js")).list],
  [specs.SESSION_SHOW, async () => (await import("./show.js")).show],
  [specs.SESSION_SEARCH, async () => (await import("./search.js")).search],
  [specs.SESSION_DIFF, async () => (await import("./diff.js")).diff],
  [specs.SESSION_COMPARE, async () => (await import("./diff.js")).compareStored],
  [specs.SESSION_BRANCH, async () => (await import("./branch.js")).branch],
  [specs.UNDO, async () => (await import("./undo.js")).undo],
  [specs.SESSION_EXPORT, async () => (await import("./export.js")).exportSession],
  [specs.SESSION_IMPORT, async () => (await import("./import.js")).importFiles],
  [specs.SESSION_PIN, async () => (await import("./pin.js")).pin],
  [specs.SESSION_UNPIN, async () => (await import("./pin.js")).unpin],
  [specs.SESSION_RENAME, async () => (await import("./rename.js")).rename],
  [specs.SESSION_VERIFY, async () => (await import("./verify.js")).verify],
  [specs.SESSION_GC, async () => (await import("./gc.js")).gc],
  [specs.SESSION_DISMISS, async () => (await import("./gc.js")).dismiss],
  [specs.SESSION_DELETE, async () => (await import("./delete.js")).deleteSession],
];

/** Only in a conversation. */
const HERE: readonly (readonly [CommandSpec, LoadAction])[] = [
  [named(specs.RESUME_HERE, specs.SESSION_RESUME), async () => (await import("./resume.js")).resume],
  [named(specs.RERUN_HERE, specs.SESSION_RERUN), async () => (await import("../../sessions/rerun.js")).rerunHere],
  [specs.RENAME_HERE, async () => (await import("./rename.js")).rename],
];

export function storedSessionCommands(port: SessionsPort): readonly Command[] {
  return commandsOf(ACTIONS, port);
}

export function conversationSessionCommands(port: SessionsPort): readonly Command[] {
  return commandsOf([...ACTIONS, ...HERE], port);
}

/** A conversation has it instead of the one that needs its own terminal, under the names of both. */
function named(spec: CommandSpec, other: CommandSpec): CommandSpec {
  return { ...spec, aliases: [...(spec.aliases ?? []), other.name, ...(other.aliases ?? [])] };
}

function commandsOf(actions: typeof ACTIONS, port: SessionsPort): readonly Command[] {
  return actions.map(([spec, load]) => ({
    ...spec,
    run: async (args, context) => (await load())(args, await openPort(port), context),
  }));
}
