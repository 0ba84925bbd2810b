/** `/models …` and `oxbow models …`: the usable models, what the others need, and what a model can really do. */
import { nearest } from "../../base/nearest.js";
import {
  asValue,
  COMMAND_EXIT,
  type Command,
  type CommandArguments,
  type CommandContext,
  type CommandOf,
  type CommandResult,
  EVERYONE,
  EVERYWHERE,
  READERS,
  refuse,
  type Subject,
  withPort,
} from "../../feature/command.js";
import type { Catalogue } from "../catalogue/catalogue.js";
import type { ProviderState } from "./describe.js";

export interface ModelsPort {
  readonly registry: {
    providers(only?: string): Promise<readonly ProviderState[]>;
    names(): Promise<readonly string[]>;
  };
  catalogue(): Promise<Catalogue>;
  /** Fetches the newest limits and prices. */
  refresh(): Promise<void>;
  /** Measures a model, with the formats of the tools. */
  test(args: CommandArguments, context: CommandContext): Promise<CommandResult>;
}

const COMMANDS: readonly CommandOf<ModelsPort>[] = [
  {
    name: "models:list",
    aliases: ["models"],
    summary: "list the models of every provider that is ready, or of one, and what the others need",
    arguments: [{ name: "PROVIDER", kind: "text", optional: true, complete: "provider" }],
    flags: [{ name: "refresh", reaches: "user", help: "fetch the newest limits and prices (from models.dev) first" }],
    users: EVERYONE,
    reaches: "session",
    places: EVERYWHERE,
    run: listModels,
  },
  {
    // It costs money and changes what the model gets.
    name: "models:test",
    summary: "measure what a model can really do",
    arguments: [{ name: "MODEL", kind: "text", complete: "model" }],
    flags: [
      { name: "only", value: "ABILITY[,…]", help: "measure only these abilities" },
      {
        name: "context",
        value: "TOKENS",
        help: "test the context up to this size (default 16000; larger sizes take long)",
      },
      { name: "show", help: "show the last result, without asking the model" },
      { name: "forget", help: "delete the result: the model gets the full prompt and all tools again" },
    ],
    users: READERS,
    places: ["between turns", "without a session"],
    run: (args, port, context) => port.test(args, context),
  },
];

export const subject: Subject = {
  name: "models",
  summary: "the models that can be used now, and what they can do",
  heading: "Models, keys and costs",
  specs: COMMANDS,
  shell: {
    about:
      "Lists the models of every provider that is ready, or of one ('oxbow models PROVIDER'), and what the others need.",
    more: `Use one:  oxbow --model PROVIDER:NAME "PROMPT"
Add one:  a .conf file or a program in the folder 'providers' of Oxbow's configuration, or [providers.NAME] in config.toml

'test' asks a model a dozen small questions and shows what it can do. Oxbow remembers the result and gives a weak model a
smaller prompt and fewer tools. It exits with 0 when the model was measured, and with 1 when the model does not answer.`,
  },
};

export function modelCommands(port: ModelsPort): readonly Command[] {
  return withPort(COMMANDS, () => port);
}

async function listModels(args: CommandArguments, port: ModelsPort): Promise<CommandResult> {
  const { registry } = port;
  const [{ withCatalogueFacts }, { modelTable }] = await Promise.all([
    import("./catalogue-facts.js"),
    import("./model-table.js"),
  ]);
  if (args.hasFlag("refresh")) await port.refresh();
  const only = args.text("PROVIDER");
  const listed = await registry.providers(only);
  if (listed.length === 0 && only !== undefined) return refuse(unknown(only, await registry.names()));
  const states = await withCatalogueFacts(listed, await port.catalogue());
  const isReady = only === undefined || states.every((state) => state.ready);
  const value = asValue(states.map(asJson));
  return { text: modelTable(states).text, value, exitCode: isReady ? 0 : COMMAND_EXIT.noModel };
}

function unknown(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  if (near === undefined && nearest(name, ["test"]) !== undefined) {
    return `There is no provider '${name}'. Did you mean 'oxbow models test'?`;
  }
  return `There is no provider '${name}'. ${near === undefined ? `There are ${known.join(", ")}.` : `Did you mean ${near}?`}`;
}

function asJson({ name, baseUrl, ready, detail, models }: ProviderState) {
  return {
    name,
    ready,
    detail,
    baseUrl,
    models: models.map(({ id, label, maxContextTokens, tools, bytes, price }) => ({
      id,
      model: `${name}:${id}`,
      label,
      context_tokens: maxContextTokens,
      tools,
      bytes,
      price,
    })),
  };
}
