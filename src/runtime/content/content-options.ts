/** Describes what to look for in a place, and how to ask about it. */
import { dirname } from "node:path";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { packFolders } from "../../context/skills/settings.js";
import type { ParsedFlags } from "../../feature/flags.js";
import type { Conversation } from "../../security/trust/ask-pending.js";
import { ASKED_KINDS, type ContentKind, EXTENSION_KINDS, LOADED_KINDS } from "../../security/trust/content.js";
import type { ProgramsOptions } from "../../security/trust/programs-of-project.js";
import { homeFolder } from "../../system/xdg-paths.js";
import { pluginFiles, pluginFolders } from "../settings/plugin-folders.js";
import type { LoadedSettings } from "../settings/settings.js";

export interface ProjectContentOptions extends ProgramsOptions {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  /** The folder to work in, free of symbolic links. */
  readonly root: string;
  /** Absent without a terminal. */
  readonly conversation?: Conversation | undefined;
  readonly color: boolean;
  readonly width: number;
  /** Continues without content that is not approved. */
  readonly skipUnapproved: boolean;
  /** Only these kinds; default: all that this build loads. */
  readonly kinds?: ReadonlySet<ContentKind>;
  /** The client shows what waits for approval, so no message does. */
  readonly asksLater?: boolean;
  /** Messages for the user, a line each. */
  readonly notify: (message: string) => void;
}

/** Tells what the command line says about programs of the project. */
export function programFlags(
  flags: ParsedFlags,
): Pick<ProjectContentOptions, "allowProjectHooks" | "leavesOutPrograms"> {
  const allowProjectHooks = flags.has("allow-project-hooks");
  const leavesOutPrograms = flags.has("no-project-hooks");
  if (allowProjectHooks && leavesOutPrograms)
    throw new UsageError("--allow-project-hooks and --no-project-hooks exclude each other.");
  return { allowProjectHooks, leavesOutPrograms };
}

export function discoverOptions({
  root,
  loaded,
  variables,
  conversation,
  kinds = conversation === undefined ? LOADED_KINDS : ASKED_KINDS,
}: Pick<ProjectContentOptions, "root" | "loaded" | "variables" | "conversation" | "kinds">) {
  return {
    folder: root,
    home: homeOf(loaded, variables),
    sources: loaded.settings.context_sources.value,
    profile: namedProfile(loaded),
    kinds,
  };
}

/** Finds where content of the user is. */
export function homeOf(
  { roots, settings, profilePath }: Pick<LoadedSettings, "roots" | "settings" | "profilePath">,
  variables: Variables,
) {
  const packs = packFolders(settings.skill_packs.value, roots.config);
  const plugins = pluginFolders(settings, { config: roots.config, home: homeFolder(variables) });
  const code = pluginFiles(settings, { config: dirname(profilePath), home: homeFolder(variables) });
  return {
    ...{ config: roots.config, user: homeFolder(variables) },
    ...(code.length > 0 && { code }),
    ...(packs.length > 0 && { packs }),
    ...(plugins.length > 0 && { plugins }),
  };
}

/** A profile that the user named by its path has no other file with its name. */
function namedProfile({ chosen }: LoadedSettings): string {
  return chosen.file === undefined || chosen.onlyProject ? chosen.name : "";
}

/** The same for a search between iterations: the instructions of the start stay. */
export function extensionOptions(options: ProjectContentOptions) {
  return { ...discoverOptions(options), kinds: options.kinds ?? EXTENSION_KINDS };
}

/** The same without MCP servers. */
export function withoutServers<Options extends ProjectContentOptions>(options: Options): Options {
  const { kinds } = discoverOptions(options);
  return { ...options, kinds: new Set([...kinds].filter((kind) => kind !== "mcp")) };
}
