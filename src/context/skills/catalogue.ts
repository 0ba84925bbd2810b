/**
 * The list of skills in the system prompt: names and descriptions.
 *
 * It is made once for a session, so that the prompt does not change; the model gets later skills with an input. If the list would be
 * too long, it has shorter descriptions, then only names, and then only the most local ones.
 */
import type { Skill } from "./registry.js";
import type { Delimit } from "./skill-text.js";

const SCOPES = ["project", "user", "built-in"] as const;
/** About 2,000 tokens. */
const CATALOGUE_CHARACTERS = 8_000;
const SHORTEST_DESCRIPTION = 40;
const HEAD = "Skills: when a task fits one, load it with the skill tool first.";

type Listed = Pick<Skill, "id" | "description" | "scope" | "forModel">;

/** Undefined without a skill that the model may load. */
export function skillCatalogue(
  skills: readonly Listed[],
  delimit: Delimit,
  most = CATALOGUE_CHARACTERS,
): string | undefined {
  const offered = skills.filter(({ forModel }) => forModel);
  if (offered.length === 0) return undefined;
  return `${HEAD}\n${skillList(offered, delimit, most)}`;
}

/** Oxbow's own skills first. The names and descriptions of the others are text of files. */
export function skillList(offered: readonly Listed[], delimit: Delimit, most: number): string {
  const ofFiles = offered.filter(({ scope }) => scope !== "built-in");
  const own = offered.filter(({ scope }) => scope === "built-in");
  const lines = listOf(own, most);
  if (ofFiles.length === 0) return lines.join("\n");
  const left = most - lines.join("\n").length;
  return [...lines, delimit({ source: "skills", kind: "skill-list", text: listOf(ofFiles, left).join("\n") })].join(
    "\n",
  );
}

/** The lines of the list alone. */
function listOf(offered: readonly Listed[], most: number): readonly string[] {
  const lines = (limit: number) => offered.map((skill) => lineOf(skill, limit));
  const size = (list: readonly string[]) => list.reduce((sum, line) => sum + line.length + 1, 0);
  if (size(lines(Number.POSITIVE_INFINITY)) <= most) return lines(Number.POSITIVE_INFINITY);
  const names = offered.reduce((sum, { id }) => sum + id.length + 6, 0);
  const limit = Math.floor((most - names) / offered.length);
  if (limit >= SHORTEST_DESCRIPTION) return lines(limit);
  if (size(lines(0)) <= most) return lines(0);
  return mostLocal(offered, most);
}

function mostLocal(offered: readonly Listed[], most: number): readonly string[] {
  const sorted = SCOPES.flatMap((scope) => offered.filter((skill) => skill.scope === scope));
  const kept: string[] = [];
  let left = most - 100;
  for (const skill of sorted) {
    const line = lineOf(skill, 0);
    left -= line.length + 1;
    if (left < 0) break;
    kept.push(line);
  }
  return [...kept, `- and ${sorted.length - kept.length} more: the skill tool without a name lists them all`];
}

function lineOf({ id, description }: Listed, limit: number): string {
  if (limit === 0) return `- ${id}`;
  const text = printable(description);
  return `- ${id}: ${text.length <= limit ? text : `${text.slice(0, Math.max(0, limit - 1)).trimEnd()}…`}`;
}

/** A description is one line, whatever its file contains. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029\s]+/gu, " ").trim();
}
