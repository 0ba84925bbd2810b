/**
 * The names of MCP tools as the model sees them: `mcp__SERVER__TOOL`.
 *
 * 1. Two tools never have the same name, whatever their servers call them and in whatever order they connect. A name that would not
 *    tell server and tool apart, or that no provider takes, gets a part of its hash.
 */
import { createHash } from "node:crypto";

const PREFIX = "mcp__";
const MOST = 64;
const HASH = 12;
/** No double underscore, and none at an end: the first one then ends the name of the server. */
const PLAIN_SERVER = /^[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*$/;
const PLAIN_TOOL = /^[A-Za-z0-9_-]+$/;
/** A tool that is called as if it had a hash gets a real one, so that it cannot take the name of another tool. */
const LIKE_HASH = /_[0-9a-f]{12}$/;

export function toolName(server: string, tool: string): string {
  const plain = `${PREFIX}${server}__${tool}`;
  const isPlain = PLAIN_SERVER.test(server) && PLAIN_TOOL.test(tool) && !LIKE_HASH.test(tool);
  if (isPlain && plain.length <= MOST) return plain;
  const readable = `${PREFIX}${safe(server).slice(0, 24)}__${safe(tool)}`;
  return `${readable.slice(0, MOST - HASH - 1)}_${hashOf(`${server}\0${tool}`)}`;
}

/** The name of a server in commands and rules. */
export function shortName(server: string): string {
  return PLAIN_SERVER.test(server) ? server : `${safe(server).slice(0, 40)}_${hashOf(server)}`;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, HASH);
}

function safe(name: string): string {
  return name.replace(/[^A-Za-z0-9-]+/g, "_").replace(/^_+|_+$/g, "") || "x";
}
