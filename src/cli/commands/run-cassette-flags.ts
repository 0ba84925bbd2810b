/** `--record` and `--replay` of `oxbow run`. A run without them loads none of this. */

import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { ParsedFlags } from "../../feature/flags.js";
import { networkOf } from "../../runtime/network.js";
import type { RunCassette } from "../../runtime/parts/cassette.js";
import { nodeClock } from "../../system/node-clock.js";
import { EXIT } from "../exit-codes.js";
import { printMessage } from "../print-message.js";

export interface RunPlaces {
  readonly variables: Variables;
  readonly root: string;
  /** Oxbow's state folder, with the long outputs of commands. */
  readonly state: string;
}

export async function cassetteOf(flags: ParsedFlags, { variables, root, state }: RunPlaces) {
  const record = flags.text("record");
  const replay = flags.text("replay");
  const speed = replaySpeed(flags);
  if (record !== undefined && replay !== undefined) throw new UsageError("Use --record or --replay, not both.");
  const options = record !== undefined ? { record } : replay !== undefined ? { replay, speed } : undefined;
  if (options === undefined) return undefined;
  const [{ openCassette }, { CassetteError }] = await Promise.all([
    import("../../runtime/parts/cassette.js"),
    import("../../providers/cassette/tape.js"),
  ]);
  const places = [
    { name: "workspace", path: root },
    { name: "state", path: state },
  ];
  try {
    return openCassette(options, { variables, places, clock: nodeClock, network: networkOf(variables) });
  } catch (error) {
    if (error instanceof CassetteError) throw new UsageError(`--${record ? "record" : "replay"}: ${error.message}`);
    throw error;
  }
}

function replaySpeed(flags: ParsedFlags): number | undefined {
  const text = flags.text("replay-speed");
  if (text === undefined) return undefined;
  if (!flags.has("replay")) throw new UsageError("--replay-speed needs --replay.");
  const speed = Number(text);
  if (!Number.isFinite(speed) || speed <= 0) {
    throw new UsageError(`--replay-speed: expected a number above 0, got "${text}".`);
  }
  return speed;
}

/** A replay that differs from the recording has failed. */
export function concludeCassette(cassette: RunCassette | undefined, exit: number): number {
  const conclusion = cassette?.conclude();
  if (conclusion === undefined) return exit;
  if (conclusion.text !== "") printMessage(conclusion.text);
  return conclusion.failed && exit === EXIT.answered ? EXIT.failed : exit;
}
