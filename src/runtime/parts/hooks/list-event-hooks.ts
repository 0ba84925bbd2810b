/** Lists event hooks for `oxbow hooks`, including those that wait for approval. Runs none of them. */
import { basename, dirname } from "node:path";
import type { ExtensionScope } from "../../../base/extension-files.js";
import { type ConfiguredHook, readHooks } from "../../../extensions/hooks/configuration.js";
import { shownHandler } from "../../../extensions/hooks/hook-handler.js";
import { needsSandbox } from "../../../extensions/hooks/run-hook.js";
import { entriesOf } from "../../../security/trust/entries.js";
import { readRegularText } from "../../../system/regular-file.js";
import { eventOf } from "./configured-hooks.js";
import { isFrontMatter, isOfSkill } from "./front-matter-file.js";

export interface HookEntry {
  readonly path: string;
  readonly entry?: string;
  readonly scope: ExtensionScope;
}

export interface ListedHook {
  readonly event: string;
  readonly matcher: string;
  readonly command: string;
  readonly timeout_ms: number;
  readonly sandbox: boolean;
  /** Absent if it always runs: `skill NAME` or `agent NAME`, whose use it is bound to. */
  readonly only_in?: string;
}

export interface ListedEntry<E extends HookEntry> {
  readonly item: E;
  readonly hooks: readonly ListedHook[];
  readonly problems: readonly string[];
}

export async function listEventHooks<E extends HookEntry>(
  items: readonly E[],
  place: { readonly root: string; readonly home: string },
): Promise<readonly ListedEntry<E>[]> {
  return Promise.all(
    items.map(async (item) => {
      const { path, entry = "", scope } = item;
      const written = await readRegularText(path).then(
        (text) => entriesOf(path, text),
        () => undefined,
      );
      const canonical = written?.find(({ name }) => name === entry)?.canonical;
      if (canonical === undefined) return { item, hooks: [], problems: [`${path}: ${entry} cannot be read.`] };
      const { hooks, problems } = readHooks([{ scope, path, event: eventOf(entry), value: JSON.parse(canonical) }]);
      return { item, hooks: hooks.map((hook) => listed(hook, place)), problems };
    }),
  );
}

function listed(hook: ConfiguredHook, place: { readonly root: string; readonly home: string }): ListedHook {
  const { event, matcher = "*", handler, timeoutMs } = hook;
  const sandbox = handler.type === "command" && needsSandbox(hook, place);
  const only_in = bearerOf(hook);
  return {
    ...{ event, matcher, command: shownHandler(handler), timeout_ms: timeoutMs, sandbox },
    ...(only_in !== undefined && { only_in }),
  };
}

function bearerOf(hook: ConfiguredHook): string | undefined {
  if (!isFrontMatter(hook)) return undefined;
  return isOfSkill(hook) ? `skill ${basename(dirname(hook.path))}` : `agent ${basename(hook.path, ".md")}`;
}
