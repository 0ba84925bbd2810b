/**
 * Chooses the provider and model when the user names none.
 *
 * 1. A key decides at once: Oxbow then asks nothing, starts nothing and waits for nothing.
 * 2. Without a key: a provider program that is ready, then servers on this machine. If there are several models, the user chooses.
 *    Without a user, Oxbow takes the one used last, else the first, and says so.
 * 3. If nothing is found, the offline model answers; a model that the user named is then missing.
 */
import type { ListedModel } from "../model-list.js";
import { isSameHost, type NamedProvider } from "../named.js";
import type { FoundServer } from "./local-servers.js";
import { type ModelParts, OFFLINE } from "./model-parts.js";
import { hasUsualTag, unknownPrefix } from "./model-spec.js";
import type { ProviderEntry } from "./provider-directory.js";

/** A user at a terminal. */
export interface Person {
  /** Undefined if the user does not answer. */
  ask(question: string): Promise<string | undefined>;
  notify(message: string): void;
}

export interface Selection {
  readonly provider: string;
  readonly model?: string;
  /** A message for the user about the choice. */
  readonly note?: string;
}

const CONNECT = "run 'oxbow auth set anthropic' (or openai, gemini …), or start Ollama ('oxbow models' shows all ways)";
const ATTEMPTS = 3;

export async function selectModel(parts: ModelParts, person: Person | undefined): Promise<Selection> {
  const keyed = withKeys(parts)[0];
  if (keyed !== undefined) return { provider: keyed.name };
  const { findServers } = await import("./local-servers.js");
  const [servers, programs] = await Promise.all([findServers(parts), readyPrograms(parts)]);
  if (programs[0] !== undefined) return { provider: programs[0].name };
  if (servers.length > 0) return pick(parts, servers, person);
  const started = await offerOllama(parts, person);
  if (Array.isArray(started)) return pick(parts, started, person);
  return {
    provider: OFFLINE,
    note: `no model is connected, so the built-in offline model answers (rules, no language model). To connect one: ${started ?? CONNECT}.`,
  };
}

/** The provider that has a model of this name; undefined when none is connected. */
export async function providerOf(
  parts: ModelParts,
  model: string,
  preferred: string | undefined,
): Promise<string | undefined> {
  if (unknownPrefix(model) !== undefined) return providerOfTagged(parts, model, preferred);
  const keyed = withKeys(parts);
  const claims = (provider: NamedProvider) => provider.modelNames?.test(model) === true;
  const entry = preferred === undefined ? undefined : parts.directory.find(preferred);
  if (entry?.kind === "http" && claims(entry.provider)) return preferred;
  const claiming = keyed.find(claims);
  if (claiming !== undefined) return claiming.name;
  if (preferred !== undefined && preferred !== OFFLINE) return preferred;
  if (keyed[0] !== undefined) return keyed[0].name;
  const servers = await (await import("./local-servers.js")).findServers(parts);
  const having = servers.find((server) => server.models.some(({ id }) => id === model || id === `${model}:latest`));
  return (having ?? servers[0])?.provider.name ?? (await readyPrograms(parts))[0]?.name;
}

/**
 * Names such as `qwen3:8b` belong to local servers. A mistyped provider looks the same, so a paid service is not asked
 * for them; an address that the user sets for one may lead to such a server.
 */
async function providerOfTagged(
  parts: ModelParts,
  model: string,
  preferred: string | undefined,
): Promise<string | undefined> {
  const { directory } = parts;
  const entry = preferred === undefined ? undefined : directory.find(preferred);
  if (entry?.kind === "executable" || (entry?.kind === "http" && directory.endpoint(entry.provider).local)) {
    return preferred;
  }
  const servers = await (await import("./local-servers.js")).findServers(parts);
  const having = servers.find((server) => server.models.some(({ id }) => id === model));
  const ollama = servers.find((server) => server.provider.wire === "ollama");
  const found = (having ?? ollama)?.provider.name;
  if (found !== undefined || !hasUsualTag(model)) return found;
  const isMoved = (provider: NamedProvider) => !isSameHost(directory.endpoint(provider).baseUrl, provider.baseUrl);
  return withKeys(parts).find(isMoved)?.name ?? (await readyPrograms(parts))[0]?.name;
}

/** In their order of preference. This only checks the variables. */
function withKeys({ directory }: ModelParts): readonly NamedProvider[] {
  return directory.reachable().filter((provider) => {
    if (provider.keyName === undefined && !provider.signIn) return false;
    if (provider.local || !directory.isReady(provider)) return false;
    return provider.keyOptional !== true || directory.hasKey(provider);
  });
}

async function readyPrograms(parts: ModelParts): Promise<readonly Extract<ProviderEntry, { kind: "executable" }>[]> {
  const executable = parts.directory.list().filter((entry) => entry.kind === "executable");
  const programs = executable.filter(({ ofProject }) => !ofProject);
  if (programs.length === 0) return [];
  const { meetProgram } = await import("./provider-programs.js");
  const met = await Promise.all(programs.map((program) => meetProgram(parts, program)));
  return programs.filter((_, index) => met[index]?.ready);
}

async function pick(
  parts: ModelParts,
  servers: readonly FoundServer[],
  person: Person | undefined,
): Promise<Selection> {
  const found = choicesOf(servers);
  if (found.length <= 1) return found[0] ?? { provider: OFFLINE };
  const { lastModel, rememberModel } = await import("./last-model.js");
  const last = lastModel(parts.state);
  const again = found.find((choice) => specOf(choice) === last);
  if (again !== undefined) return again;
  const { withAbilities } = await import("./local-servers.js");
  const described = choicesOf(await withAbilities(parts, servers));
  // Models without tool calls come last: they can do little here.
  const choices = [
    ...described.filter(({ listed }) => listed.tools !== false),
    ...described.filter(({ listed }) => listed.tools === false),
  ];
  const first = choices[0] ?? { provider: OFFLINE, model: OFFLINE };
  const chosen = person && (await askWhich(choices, person));
  if (chosen === undefined) {
    const note = `${choices.length} models are ready; using ${specOf(first)}. Choose another with --model or OXBOW_MODEL ('oxbow models' lists them).`;
    return { provider: first.provider, model: first.model, note };
  }
  rememberModel(parts.state, specOf(chosen));
  return { provider: chosen.provider, model: chosen.model };
}

interface Choice {
  readonly provider: string;
  readonly model: string;
  readonly listed: ListedModel;
}

function choicesOf(servers: readonly FoundServer[]): readonly Choice[] {
  return servers.flatMap(({ provider, models }) =>
    models.map((listed) => ({ provider: provider.name, model: listed.id, listed })),
  );
}

function specOf({ provider, model }: Selection): string {
  return `${provider}:${model}`;
}

/** Undefined without a valid answer. */
async function askWhich(choices: readonly Choice[], person: Person): Promise<Choice | undefined> {
  const { abilityText } = await import("./model-table.js");
  const digits = String(choices.length).length;
  const width = Math.max(...choices.map((choice) => specOf(choice).length));
  const line = (choice: Choice, index: number) =>
    `  ${String(index + 1).padStart(digits)}  ${specOf(choice).padEnd(width)}  ${abilityText(choice.listed)}`.trimEnd();
  const menu = choices.map((choice, index) => `${line(choice, index)}\n`).join("");
  let question = `Several models are ready:\n${menu}Which one? [1] `;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const answer = (await person.ask(question))?.trim();
    if (answer === undefined) return undefined;
    const byName = choices.find((choice) => answer === choice.model || answer === specOf(choice));
    const chosen = answer === "" ? choices[0] : (byName ?? choices[Number(answer) - 1]);
    if (chosen !== undefined) return chosen;
    question = `A number from 1 to ${choices.length}: `;
  }
  return undefined;
}

/** The servers found after Ollama was started; a sentence if it was not started but could be. */
async function offerOllama(
  parts: ModelParts,
  person: Person | undefined,
): Promise<readonly FoundServer[] | string | undefined> {
  const { startableOllama, startOllama } = await import("./start-ollama.js");
  const program = startableOllama(parts);
  if (program === undefined) return undefined;
  const byHand = "start Ollama, which is installed ('oxbow ollama start'), or store a key ('oxbow auth set anthropic')";
  const answer = await person?.ask("Ollama is installed but not running. Start it now? [Y/n] ");
  if (answer === undefined || !/^(y(es)?)?$/i.test(answer.trim())) return byHand;
  person?.notify("starting Ollama …");
  const problem = await startOllama(parts, program);
  if (problem !== undefined) return `${problem}, or store a key ('oxbow auth set anthropic')`;
  const servers = await (await import("./local-servers.js")).findServers(parts);
  return servers.length > 0 ? servers : "Ollama runs but has no model: 'oxbow ollama pull qwen3' gets one";
}
