/** `@SERVER:URI` in an input: the model gets the resource along with it. */
import { safeLine } from "../../base/terminal-text.js";
import type { McpServer } from "./server.js";
import type { ToolPlace } from "./session-tools.js";
import { shortName } from "./tool-names.js";
import { type ResourceContents, resourceContent } from "./tool-result.js";

const MENTION = /(?<![\p{L}\p{N}])@([A-Za-z0-9_.-]+):([^\s"'<>]+)/gu;
const MOST_MENTIONS = 5;
const MOST_CHARACTERS = 100_000;
const READ_MS = 30_000;

export interface MentionPlace extends ToolPlace {
  readonly servers: readonly McpServer[];
}

export async function readMentions(words: string, place: MentionPlace): Promise<string | undefined> {
  const found = [...words.matchAll(MENTION)].flatMap(([, name = "", uri = ""]) => {
    const server = place.servers.find(({ config }) => config.name === name || shortName(config.name) === name);
    return server === undefined ? [] : [{ server, uri: uri.replace(/[.,;:!?)]+$/, "") }];
  });
  if (found.length === 0) return undefined;
  const texts = await Promise.all(found.slice(0, MOST_MENTIONS).map((each) => readOne(each, place)));
  return texts.join("\n\n");
}

async function readOne(
  { server, uri }: { readonly server: McpServer; readonly uri: string },
  { wrap, user }: MentionPlace,
): Promise<string> {
  const { name } = server.config;
  const signal = AbortSignal.timeout(READ_MS);
  try {
    const connection = await server.ready(signal);
    const contents = await server.with(user, () => connection.readResource(uri, signal));
    const text = contents.map((each) => contentText(each as ResourceContents)).join("\n\n");
    const cut = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}\n(The rest is left out.)` : text;
    return `The resource that the user means with @${name}:${safeLine(uri)}:\n${wrap(cut, { source: `MCP server ${name}, ${uri}`, kind: "resource" })}`;
  } catch (error) {
    const why = wrap((error as Error).message, { source: `MCP server ${name}`, kind: "error" });
    return `The resource @${name}:${safeLine(uri)} could not be read:\n${why}`;
  }
}

function contentText(contents: ResourceContents): string {
  const made = resourceContent(contents);
  return made.type === "text" ? made.text : `Resource ${contents.uri} is a picture, which is left out.`;
}
