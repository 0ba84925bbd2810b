/**
 * Finds files that name a tool of another feature: a list of names elsewhere is forgotten when a tool comes or goes. What others need to
 * know about a tool is in its definition (`kind`, `set`, `habits`, flags), and they find it by that.
 *
 * 1. A tool is declared where an object has its `name`, a `set` and an `inputSchema`, in this order; or by a constant such as `AGENT_TOOL`.
 * 2. A name that is also an ordinary word counts only where a tool is meant: after `tool:`, in a comparison with a `tool` or a `name`, as
 *    the argument of a function that finds tools, or in a list of several.
 */
import { layerOf } from "./rules.mjs";

/** Names that mean something else as well. */
const WORDS = new Set("read write edit ask agent skill memory recall retrieve background bash glob ls kb".split(" "));
const FINDERS = new Set("find open prepare offers has callTool".split(" "));
const COMPARISONS = new Set(["=", "!"]);
const CONSTANT = /^[A-Z]+(?:_[A-Z]+)*_TOOL$/;

/** Files that may name tools of others, with the reason. */
export const MAY_NAME = {
  "extensions/hooks/tool-views.ts":
    "hooks are written for the tools of Claude Code: their calls have its names and arguments",
  "extensions/subagents/agent-types.ts": "a built-in type is a choice of tools, as that of a file is",
  "providers/abilities/": "which edit format a model can write is what its tests measure",
  "providers/offline/": "the offline model calls tools, as any model does",
  "providers/wire/": "the search of a provider has the name that the provider gives it",
  "runtime/hooks.ts": "a hook that an agent judges is a choice of tools",
  "runtime/settings/network-settings.ts": "the setting web_search has the name of the tool",
  "runtime/settings/setting-words.ts": "the setting web_search has the name of the tool",
  "security/permissions/lasting-rule.ts": "`bash: git push *` is how people write a rule for commands",
  "security/shell/": "programs of the shell",
  "security/trust/": "`ask` is a list of rules, skills and agents are kinds of files",
  "system/git/harmless-settings.ts": "`grep` is a section of git's configuration",
  "testkit/": "samples for tests",
};

/** The tools that a file declares. */
export function declaredTools(tokens) {
  const found = [];
  let name;
  let isInSet = false;
  for (const [at, { kind, text }] of tokens.entries()) {
    if (kind !== "name") continue;
    const [before, sign, value] = [tokens[at - 1], tokens[at + 1], tokens[at + 2]];
    const isText = value?.kind === "string" && /^[a-z_]+$/.test(value.text);
    if (CONSTANT.test(text) && sign?.text === "=" && isText) found.push(value.text);
    if (text === "name" && sign?.text === ":" && isText && ["{", ","].includes(before?.text)) {
      name = value.text;
      isInSet = false;
    }
    if (text === "set" && sign?.text === ":") isInSet = true;
    if (text !== "inputSchema") continue;
    if (name !== undefined && isInSet) found.push(name);
    name = undefined;
  }
  return found;
}

/** `owners`: the feature of each tool. */
export function toolNameViolations(file, tokens, owners) {
  if (/\.testkit\.ts$|\/test-support\//.test(file)) return [];
  if (Object.keys(MAY_NAME).some((place) => (place.endsWith("/") ? file.startsWith(place) : file === place))) return [];
  const isForeign = (token) =>
    (token?.kind === "string" || token?.kind === "name") &&
    owners.has(token.text) &&
    owners.get(token.text) !== layerOf(file);
  return tokens.flatMap((token, at) => {
    if (!isForeign(token) || !means(tokens, at, isForeign)) return [];
    const advice = `${token.text} is a tool of ${owners.get(token.text)}: find it by its definition, or say in tools/check-layers/tool-names.mjs why it is named`;
    return [{ file, line: token.line, rule: "tool-name", advice }];
  });
}

function means(tokens, at, isForeign) {
  const token = tokens[at];
  const around = (distance) => tokens[at + distance] ?? { kind: "none", text: "" };
  const isKey = around(1).text === ":" && (around(-1).text === "{" || around(-1).text === ",");
  if (token.kind === "name") return isKey && !WORDS.has(token.text);
  if (!WORDS.has(token.text)) return true;
  if (around(-1).text === "(" && FINDERS.has(around(-2).text)) return true;
  if (around(-1).text === ":" && around(-2).text === "tool") return true;
  const isCompared = around(-1).text === "=" && around(-2).text === "=" && COMPARISONS.has(around(-3).text);
  if (isCompared && ["tool", "name"].includes(around(-4).text)) return true;
  const listed = [-4, -2, 2, 4].filter((distance) => {
    const between = around(distance / Math.abs(distance));
    return between.text === "," && isForeign(around(distance)) && around(distance).kind === "string";
  });
  return listed.length > 1;
}
