/** Lists event hooks for `oxbow hooks`, including those that wait for approval. Runs none of them. */
import type { ExtensionFile } from "../../base/extension-files.js";
import { readRegularText } from "../../system/regular-file.js";
import { type ConfiguredHook, readHooks } from "./configuration.js";
import { eventOf } from "./configured-hooks.js";
import { bearerOf } from "./front-matter-hooks.js";
import { shownHandler } from "./hook-handler.js";
import { needsSandbox } from "./run-hook.js";

export type HookEntry = Pick<ExtensionFile, "path" | "entry" | "scope" | "name" | "source" | "plugin">;

export interface ListedHook {
  readonly event: string;
  readonly matcher: string;
  readonly command: string;
  readonly timeout_ms: number;
  readonly sandbox: boolean;
  /** Absent if it always runs: `skill NAME`, `agent NAME` or `command /NAME`, whose use it is bound to. */
  readonly only_in?: string;
}

export interface ListedEntry<E extends HookEntry> {
  readonly item: E;
  readonly hooks: readonly ListedHook[];
  readonly problems: readonly string[];
}

interface ListedPlace {
  readonly root: string;
  readonly home: string;
  /** Splits a file into the entries that a person approves. */
  entriesOf(
    path: string,
    text: string,
  ): Promise<readonly { readonly name: string; readonly canonical: string }[] | undefined>;
}

export async function listEventHooks<E extends HookEntry>(
  items: readonly E[],
  place: ListedPlace,
): Promise<readonly ListedEntry<E>[]> {
  return Promise.all(
    items.map(async (item) => {
      const { path, entry = "", scope } = item;
      const written = await readRegularText(path).then(
        (text) => place.entriesOf(path, text),
        () => undefined,
      );
      const canonical = written?.find(({ name }) => name === entry)?.canonical;
      if (canonical === undefined) return { item, hooks: [], problems: [`${path}: ${entry} cannot be read.`] };
      const { hooks, problems } = readHooks([{ scope, path, event: eventOf(entry), value: JSON.parse(canonical) }]);
      return { item, hooks: hooks.map((hook) => listed(hook, item, place)), problems };
    }),
  );
}

function listed(hook: ConfiguredHook, item: HookEntry, place: ListedPlace): ListedHook {
  const { event, matcher = "*", handler, timeoutMs } = hook;
  const sandbox = handler.type === "command" && needsSandbox(hook, place);
  const only_in = bearerOf(item);
  return {
    ...{ event, matcher, command: shownHandler(handler), timeout_ms: timeoutMs, sandbox },
    ...(only_in !== undefined && { only_in }),
  };
}
