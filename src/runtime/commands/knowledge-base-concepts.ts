/** `/kb concept` and `/kb link`: concepts, and what observations and projects are linked to. */
import {
  asValue,
  type CommandAnswer,
  type CommandArguments,
  type CommandContext,
  type CommandResult,
  refuse,
  spell,
} from "../../commands/command.js";
import { oneLine } from "../../context/knowledge-base/dump.js";
import { redact } from "../../security/redact/redact.js";
import type { KnowledgePort } from "./knowledge-base.js";

export function listConcepts({ base }: KnowledgePort): CommandAnswer {
  const concepts = base.concepts();
  const lines = concepts.map(
    ({ name, description, uses }) => `${name} (${uses})${description === "" ? "" : `: ${description}`}`,
  );
  return { text: lines.length === 0 ? "No concepts." : lines.join("\n"), value: asValue({ concepts }) };
}

export function addConcept({ base }: KnowledgePort, args: CommandArguments): CommandResult {
  const name = oneLine(args.text("NAME") ?? "");
  if (name === "") return refuse("Give the concept a name.");
  base.addConcept(name, redact(args.text("DESCRIPTION") ?? ""));
  return { text: `The knowledge base has the concept ${name}.`, value: { name } };
}

export function numberOf(word: string): number | undefined {
  const digits = /^#?(\d{1,15})$/.exec(word)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export function link({ base }: KnowledgePort, args: CommandArguments, context: CommandContext): CommandResult {
  const [from = "", to = ""] = [args.text("FROM"), args.text("TO")];
  const observation = base.observation(numberOf(from) ?? 0);
  if (observation === undefined) {
    const project = numberOf(from) === undefined ? base.project(from) : undefined;
    if (project === undefined)
      return refuse(
        `There is no observation and no project ${from}. ${spell("kb:search", context)} finds observations.`,
      );
    base.linkProject(project.id, to);
    return {
      text: `The project ${project.name} is linked to ${oneLine(to)}.`,
      value: { project: project.name, concept: to },
    };
  }
  const number = numberOf(to);
  if (number === undefined) {
    base.linkConcept(observation.id, to);
    return {
      text: `#${observation.id} is linked to ${oneLine(to)}.`,
      value: { observation: observation.id, concept: to },
    };
  }
  if (base.observation(number) === undefined || number === observation.id)
    return refuse(`There is no other observation #${number}.`);
  const relation = oneLine(args.text("RELATION") ?? "") || "related";
  base.linkObservations(observation.id, number, relation);
  return {
    text: `#${observation.id} → #${number}: ${relation}.`,
    value: { from: observation.id, to: number, relation },
  };
}
