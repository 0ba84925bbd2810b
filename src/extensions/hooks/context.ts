/** Describes what hooks need from the session and from other features. */
import type { Tool } from "../../engine/ports.js";
import type { Turn } from "../../engine/turn.js";
import type { FeatureContext } from "../../feature/part.js";
import type { JsonObject } from "../../protocol/json.js";
import type { HookVariables } from "./hook-variables.js";
import type { SessionEvents } from "./part.js";
import type { HookPlace } from "./run-hook.js";
import type { HookServices } from "./run-service.js";
import type { HookSettings } from "./settings.js";

export interface HooksContext extends FeatureContext<HookSettings> {
  readonly parent: Parent | undefined;
  /** Gives the other parts their events. */
  offer(events: SessionEvents): void;
  /** Loads what hooks use: a session without hooks needs none of it. */
  open(): Promise<HookSurroundings>;
}

interface Parent {
  readonly name: { readonly type: string };
  /** The file that defines the type of this subagent. */
  readonly agentFile?: string | undefined;
  readonly isOfHook?: true;
}

/** Explains why the user prepares the project. */
export type SetupTrigger = "init" | "maintenance";

export type StartSource = "startup" | "resume" | "clear" | "compact";

export interface HookSurroundings {
  readonly source: StartSource;
  readonly setup: SetupTrigger | undefined;
  /** The files of the profiles in use. */
  readonly profiles: readonly string[];
  /** The environment of programs, without keys. */
  readonly environment: Readonly<Record<string, string>>;
  /** The variables that hooks add for commands. */
  readonly added: HookVariables;
  /** The value of a variable that a hook may add; undefined if it may not. */
  addedValue(name: string, value: string): string | undefined;
  readonly wrap: NonNullable<HookPlace["wrap"]>;
  /** The mode of the permissions in the words of hooks, and the model. */
  facts(): JsonObject;
  /** Makes a text of a hook safe for the model and the user. */
  safe(text: string): Promise<string>;
  /** The instruction files that the model has got. */
  instructions(): readonly LoadedInstructions[];
  /** The approved skills, with copies of their files until `removeSkills`. */
  skills(): Promise<readonly HookSkill[]>;
  removeSkills(): Promise<void>;
  /** The skills whose text is in the conversation. */
  skillsInUse(): readonly string[];
  services(turn: () => Turn | undefined): HookServices;
  /** Reads arguments as those of a model are read. */
  readArguments(tool: Tool, args: JsonObject): { readonly args: JsonObject; readonly refused?: string };
  /** Records what `act` changes in these files, so that undo reverts it with the call. */
  recorded<T>(
    files: readonly string[],
    act: () => Promise<T>,
    onChanged: (files: readonly string[]) => void,
  ): Promise<T>;
}

export interface LoadedInstructions {
  readonly path: string;
  readonly owner: string;
  readonly reason: string;
  readonly globs?: readonly string[];
  /** The file whose use brought it. */
  readonly trigger?: string;
  /** The file that includes it. */
  readonly parent?: string;
}

interface HookSkill {
  readonly id: string;
  readonly path?: string;
  /** The folder with copies of its files; undefined without files. */
  folder(): Promise<string | undefined>;
}
