/** `/kb inject` and `/kb accept`: what needs a session. */
import { KB_ACCEPT, KB_INJECT } from "../../commands/catalogue/knowledge-base.js";
import { asValue, type Command, type CommandResult, refuse } from "../../commands/command.js";
import type { LiveKnowledge } from "../parts/live-knowledge.js";
import { found, fullText, knowledgeCommands, lineOf, record } from "./knowledge-base.js";

const MOST_INJECTED = 20;

export function sessionKnowledgeCommands(live: LiveKnowledge): readonly Command[] {
  return [
    ...knowledgeCommands(() => live.port()),
    { ...KB_INJECT, run: (args) => inject(live, args.text("TEXT"), { all: args.hasFlag("all") }) },
    { ...KB_ACCEPT, run: (args) => accept(live, args.list("NUMBER")) },
  ];
}

async function inject(
  live: LiveKnowledge,
  text: string | undefined,
  scope: { readonly all: boolean },
): Promise<CommandResult> {
  const port = await live.port();
  const current = port.base.current(port.root);
  const observations =
    text !== undefined
      ? found(port, text, scope)
      : current === undefined
        ? []
        : [...port.base.recent(current.id, MOST_INJECTED)].reverse();
  if (observations.length === 0)
    return refuse(text === undefined ? "This folder has no observations yet." : "No observation matches.");
  await live.give(`/kb inject${text === undefined ? "" : ` ${text}`}`, observations.map(fullText).join("\n\n"));
  const lines = observations.map(lineOf);
  return { text: `${lines.join("\n")}\n\nThe model gets this with your next input.`, value: asValue({ observations }) };
}

async function accept(live: LiveKnowledge, numbers: readonly string[]): Promise<CommandResult> {
  const { offers } = live;
  if (offers.length === 0) return refuse("There is nothing to accept: Oxbow has offered nothing since.");
  const wanted = numbers.length === 0 ? offers.map((_, i) => i + 1) : numbers.map(Number);
  const wrong = wanted.find((number) => offers[number - 1] === undefined);
  if (wrong !== undefined) return refuse(`There is no offer ${wrong}: give numbers from 1 to ${offers.length}.`);
  const answer = record(
    await live.port(),
    wanted.flatMap((number) => offers[number - 1] ?? []),
  );
  live.forgetOffers();
  return answer;
}
