/**
 * Describes what a server offers: its tools and prompts, and the words about itself. Tools and words that changed since a person approved them
 * are withheld. Before it has connected, these are the tools and words of the last time.
 */
import { createHash } from "node:crypto";
import { safeText } from "../../base/terminal-text.js";
import type { Connection, ServerPrompt } from "./connection.js";
import { type KnownTools, keyOf } from "./known-tools.js";
import { INSTRUCTIONS, isWanted, type OfferedTool, offeredTools } from "./offered-tools.js";
import type { ServerConfig } from "./server-config.js";
import { few } from "./sound-lists.js";

export interface OfferOptions {
  readonly config: ServerConfig;
  readonly known: KnownTools;
  /** Ends the sentence "The MCP server 'NAME' …". */
  readonly onProblem: (problem: string) => void;
}

const MOST_INSTRUCTIONS = 2000;

export class ServerOffer {
  readonly #options: OfferOptions;
  #tools: readonly OfferedTool[] = [];
  #withheld: readonly OfferedTool[] = [];
  #prompts: readonly ServerPrompt[] = [];

  constructor(options: OfferOptions) {
    this.#options = options;
    const { known, config } = options;
    this.#tools = known.offered(this.#key).filter((tool) => !isTool(tool) || isWanted(tool.name, config));
  }

  get tools(): readonly OfferedTool[] {
    return this.#tools.filter(isTool);
  }

  get withheld(): readonly OfferedTool[] {
    return this.#withheld;
  }

  get prompts(): readonly ServerPrompt[] {
    return this.#prompts;
  }

  /** Tells what the server says about itself. */
  get instructions(): string | undefined {
    return this.#tools.find((tool) => !isTool(tool))?.description;
  }

  /** Tells whether all tools are offered at once. */
  get isEager(): boolean {
    return [...this.#tools, ...this.#withheld].filter(isTool).length <= this.#options.config.eagerTools;
  }

  async read(connection: Connection, signal: AbortSignal): Promise<void> {
    const { config, known, onProblem } = this.#options;
    const [listed, prompts] = await Promise.all([
      connection.tools(signal),
      connection.prompts(signal).catch((error: Error) => {
        onProblem(`cannot list its prompts: ${error.message}`);
        return [];
      }),
    ]);
    const { tools, problems } = offeredTools(listed, config);
    for (const problem of few(problems)) onProblem(problem);
    const { approved, withheld } = await known.compare(this.#key, [...tools, ...wordsOf(connection.instructions)]);
    this.#tools = approved;
    this.#withheld = withheld;
    this.#prompts = prompts;
  }

  /** A person approves what it offers now. */
  async approve(): Promise<number> {
    const count = this.#withheld.length;
    // The first list is taken as it is; an empty approval would come before it.
    if (count === 0) return 0;
    await this.#options.known.approve(this.#key, this.#withheld);
    this.#tools = [...this.#tools, ...this.#withheld].sort((one, other) => (one.name < other.name ? -1 : 1));
    this.#withheld = [];
    return count;
  }

  describeWithheld(): string {
    return safeText(this.#options.known.describe(this.#key, this.#withheld));
  }

  get #key(): string {
    return keyOf(this.#options.config);
  }
}

function isTool({ name }: OfferedTool): boolean {
  return name !== INSTRUCTIONS;
}

/** Compared like a tool: the model reads them. */
function wordsOf(instructions: string | undefined): readonly OfferedTool[] {
  const words = typeof instructions === "string" ? safeText(instructions).trim() : "";
  if (words === "") return [];
  return [
    {
      name: INSTRUCTIONS,
      description: words.length > MOST_INSTRUCTIONS ? `${words.slice(0, MOST_INSTRUCTIONS)}…` : words,
      inputSchema: { type: "object" },
      readOnlyHint: false,
      needsTask: false,
      fingerprint: createHash("sha256").update(words).digest("hex"),
    },
  ];
}
