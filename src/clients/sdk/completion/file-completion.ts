/** `@` completes files of the workspace. The path stays in the text, for the model to read; nothing is attached. */
import type { CompletionSource, Place, Suggestion, Suggestions } from "./completion.js";

export interface FoundPath {
  /** Relative to the workspace; a folder ends in a slash. */
  readonly path: string;
}

export interface FileSource {
  find(query: string): Promise<readonly FoundPath[]>;
  /** Names that `@NAME` can mean at the very beginning of a prompt, in addition to files. */
  routes?(): readonly { readonly name: string; readonly about: string }[];
}

/** A word that begins with `@`; in quotation marks it may contain spaces. */
const MENTION = /(?:^|[\s([{<,;:'"])@(?:"([^"]*)|([^\s"]*))$/;

export function fileCompletion(source: FileSource): CompletionSource {
  return {
    suggest({ line, column, isFirstLine }: Place) {
      const before = line.slice(0, column);
      const found = MENTION.exec(before);
      if (found === null) return undefined;
      const query = found[1] ?? found[2] ?? "";
      const start = before.length - query.length - (found[1] === undefined ? 1 : 2);
      const routes = isFirstLine && start === 0 ? routesFor(query, source) : [];
      return source.find(query).then((paths) => suggestions(start, [...routes, ...paths.map(pathItem)]));
    },
  };
}

function suggestions(start: number, items: readonly Suggestion[]): Suggestions | undefined {
  return items.length === 0 ? undefined : { start, items };
}

function routesFor(query: string, source: FileSource): readonly Suggestion[] {
  const all = source.routes?.() ?? [];
  return all
    .filter(({ name }) => name.startsWith(query))
    .map(({ name, about }) => ({ value: `@${name}`, label: `@${name}`, description: about, next: "stay" as const }));
}

function pathItem({ path }: FoundPath): Suggestion {
  const isFolder = path.endsWith("/");
  const value = /\s/.test(path) ? `@"${path}${isFolder ? "" : '"'}` : `@${path}`;
  return { value, label: path, next: isFolder ? "more" : "stay" };
}
