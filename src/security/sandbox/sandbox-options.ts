/** The options of a session's sandbox, and the command it returns. */
import type { Clock } from "../../base/clock.js";
import type { Launch, Withheld } from "../../system/process-launch.js";
import type { NetworkGateOptions, ResolveSafely } from "../allowed-hosts/network-gate.js";
import type { SecretFiles } from "../guard-list/secret-files.js";
import type { Wrapped } from "./bubblewrap.js";
import type { DetectOptions } from "./detect.js";
import type { OverlayView } from "./overlay-view.js";
import type { SandboxPolicy } from "./policy.js";
import type { SessionSpace } from "./session-space.js";

export interface SandboxOptions extends DetectOptions {
  readonly policy: SandboxPolicy;
  /** What path permissions forbid besides the policy; called for every command. */
  readonly restrictions?: () => Pick<SandboxPolicy, "hidden" | "readOnlyWithin">;
  /** The secret files of the workspace, where commands may not see them; all sandboxes of a session share it. */
  readonly secrets?: SecretFiles;
  /** Shared by all sandboxes of a session; without it each command has its own `/tmp` and localhost. */
  readonly space?: SessionSpace;
  /** Unique on this machine; letters, digits, `-` and `_`. */
  readonly id: string;
  /** Needed when the policy allows hosts. */
  readonly resolveSafely?: ResolveSafely;
  /** For allowed hosts, where this machine reaches the network through a proxy. */
  readonly network?: NetworkGateOptions["network"];
  /** Variables of a container program. */
  readonly engine?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** Runs the forwarder if there is no socat. */
  readonly nodeProgram?: string;
}

export interface SandboxedCommand extends Wrapped {
  /** The caller must keep these from reaching the command: a folder among them would be a way around all mounts. */
  readonly withheld: Withheld | undefined;
  /** False if this machine has no sandbox: the command is unchanged. */
  readonly sandboxed: boolean;
  /** Its first process wraps the command. Otherwise the first process becomes the command, or passes signals on to it. */
  readonly isWrapper: boolean;
  /** Whether all its processes have ended when its program ends. */
  readonly endsWithAll: boolean;
  /** What the model should know about a failure: hosts that were refused, and what else the sandbox denied. */
  explain(outcomeText: string): string | undefined;
  /** Starts it. Where the sandbox prints the mark of the command, that tells how many processes it left behind. */
  readonly launch: Launch;
  /** What it writes is held back there. Closed by `ended`. */
  readonly view?: OverlayView | undefined;
  ended(): Promise<void>;
}
