/** Slash commands: one registry for every client. A command gets its words and answers with text. */
import type { Failure } from "../protocol/errors.js";

export interface SlashCommand {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  /** It widens what may be done, or runs with a person's own rights: no agent may call it (feature P4). */
  readonly forPeople?: true;
  run(args: string, context: SlashContext): Promise<SlashResult> | SlashResult;
}

export type SlashResult = { readonly text: string } | { readonly failure: Failure };

/** What a command may see and do; supplied by `main`. */
export interface SlashContext {
  /** Label and value pairs for `/status`. */
  status(): readonly (readonly [string, string])[];
  currentModel(): string;
  setModel(spec: string): Promise<SlashResult>;
  listModels(): Promise<string>;
  /** How much the model thinks; shows it when no level is given. */
  effort(level: string): SlashResult;
  /** Named routes; takes the words after the command's name. */
  route(words: readonly string[]): Promise<SlashResult>;
  bench(args: string): Promise<SlashResult>;
  /** The Markdown recording of this session. */
  readonly recording: {
    start(file: string | undefined): Promise<SlashResult>;
    stop(): Promise<SlashResult>;
    status(): string;
  };
  /** What was spent and what may be; `budget` takes the words after the command's name. */
  readonly costs: {
    report(): Promise<SlashResult>;
    budget(args: string): Promise<SlashResult>;
  };
  /** The conversation made shorter, or a summary of it; each takes what the user wants to be kept in mind. */
  readonly compaction: {
    compact(focus: string): Promise<SlashResult>;
    summarize(focus: string): Promise<SlashResult>;
  };
  /** What stands between the model and the machine; each takes the words after the command's name. */
  readonly security: {
    permissions(args: string): Promise<SlashResult>;
    safeMode(args: string): Promise<SlashResult>;
    audit(args: string): Promise<SlashResult>;
    why(args: string): Promise<SlashResult>;
    plan(args: string): Promise<SlashResult>;
    overview(): Promise<SlashResult>;
  };
  /** Shows or takes back what tools did to files; takes the words after the command's name. */
  undo(args: string): Promise<SlashResult>;
  /** The local Ollama service; takes the words after the command's name. */
  ollama(args: string): Promise<SlashResult>;
  /** Runs a command the person typed themselves; its output goes out as events. */
  shell(command: string): Promise<SlashResult>;
}

export class SlashRegistry {
  readonly #commands = new Map<string, SlashCommand>();

  constructor(commands: readonly SlashCommand[]) {
    for (const command of commands) this.#commands.set(command.name, command);
  }

  find(name: string): SlashCommand | undefined {
    return this.#commands.get(name);
  }

  list(): readonly SlashCommand[] {
    return [...this.#commands.values()];
  }
}
