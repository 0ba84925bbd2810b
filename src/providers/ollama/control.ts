/** Controls the local Ollama service and its models. */
import { join } from "node:path";
import { formatBytes } from "../../base/byte-size.js";
import type { Clock } from "../../base/clock.js";
import { nearest } from "../../base/nearest.js";
import { progressLine, SpeedMeter } from "../../base/progress-bar.js";
import { ago, renderTable } from "../../base/text-table.js";
import type { Variables } from "../../base/variables.js";
import { type CommandContext, type CommandResult, refuse, spell } from "../../feature/command.js";
import type { Failure } from "../../protocol/errors.js";
import { findProgram } from "../../system/find-program.js";
import type { HttpClient } from "../../system/http-client.js";
import type { Roots } from "../../system/xdg-paths.js";
import { endpointOf, findProvider } from "../named.js";
import { serviceEnvironment } from "../selection/ollama-environment.js";
import {
  type InstalledModel,
  installedModels,
  isSameModel,
  ollamaVersion,
  type RunningModel,
  runningModels,
} from "./api.js";
import { pullModel } from "./pull.js";
import { ownService, type Started, startOllama, stopOllama } from "./service.js";

export interface OllamaControlOptions {
  readonly variables: Variables;
  readonly roots: Roots;
  readonly http: HttpClient;
  readonly clock: Clock;
  /** A program in this folder is never used as Ollama. */
  readonly workspace: string;
  /** Switches to the model, if there is a session. */
  readonly use?: (spec: string) => Promise<CommandResult>;
}

/** No user can read faster updates. */
const PROGRESS_MS = 500;

export class OllamaControl {
  readonly #options: OllamaControlOptions;
  readonly #baseUrl: string;

  constructor(options: OllamaControlOptions) {
    this.#options = options;
    const provider = findProvider("ollama");
    if (provider === undefined) throw new Error("there is no provider ollama");
    this.#baseUrl = endpointOf(provider, options.variables).baseUrl;
  }

  /** Starts `ollama serve` and waits until it answers. */
  start(signal?: AbortSignal): Promise<Started> {
    const { variables, workspace } = this.#options;
    return startOllama({
      ...this.#service(),
      program: findProgram("ollama", variables.PATH, { outside: workspace }),
      environment: serviceEnvironment(variables),
      ...(signal !== undefined && { signal }),
    });
  }

  #service() {
    const { roots, http, clock } = this.#options;
    return { baseUrl: this.#baseUrl, folder: join(roots.state, "ollama"), http, clock };
  }

  async startAndSay(context: CommandContext): Promise<CommandResult> {
    context.progress("starting ollama serve");
    const started = await this.start(context.signal);
    if ("failure" in started) return started;
    const { version, already, log } = started;
    const text = already
      ? `Ollama ${version} is already running at ${this.#baseUrl}.`
      : `Started Ollama ${version} at ${this.#baseUrl} (log: ${log}). It keeps running after Oxbow ends: ${spell("ollama:stop", context)} stops it.`;
    return { text, value: { version, url: this.#baseUrl, already } };
  }

  async stop(): Promise<CommandResult> {
    const stopped = await stopOllama(this.#service());
    if (stopped === "not-ours") {
      return refuse(`Ollama at ${this.#baseUrl} was not started by Oxbow, so Oxbow does not stop it.`);
    }
    const text = stopped === "stopped" ? "Stopped Ollama." : "Ollama is not running.";
    return { text, value: { stopped: stopped === "stopped" } };
  }

  async status(context: CommandContext): Promise<CommandResult> {
    const { http, clock } = this.#options;
    const version = await ollamaVersion(this.#baseUrl, { http });
    const own = ownService(this.#service());
    if (!version.ok) {
      return { text: this.#silence(context), value: { running: false, url: this.#baseUrl } };
    }
    const running = await runningModels(this.#baseUrl, { http });
    const models = running.ok ? running.models : [];
    const head = `Ollama ${version.version} at ${this.#baseUrl}${own === undefined ? "" : ` (started by Oxbow, process ${own})`}`;
    const rows = models.map((model) => `  ${describeRunning(model, clock.wall())}`);
    return {
      text: [head, ...(rows.length === 0 ? ["No model is in memory."] : ["In memory:", ...rows])].join("\n"),
      value: {
        running: true,
        url: this.#baseUrl,
        version: version.version,
        ours: own !== undefined,
        models: models.map((model) => ({ ...model })),
      },
    };
  }

  async list(context: CommandContext): Promise<CommandResult> {
    const { http, clock } = this.#options;
    const installed = await installedModels(this.#baseUrl, { http });
    if (!installed.ok) return this.#unreachable(installed.failure, context);
    const { models } = installed;
    const value = { models: models.map((model) => ({ ...model })) };
    if (models.length === 0)
      return { text: `No models yet. Get one: ${spell("ollama:pull", context)} qwen3:8b`, value };
    return { text: modelTable(models, clock.wall()), value };
  }

  async use(name: string, context: CommandContext): Promise<CommandResult> {
    const { http, use } = this.#options;
    const installed = await installedModels(this.#baseUrl, { http });
    if (!installed.ok) return this.#unreachable(installed.failure, context);
    const model = installed.models.find((candidate) => isSameModel(candidate.name, name));
    if (model === undefined) {
      const names = installed.models.map((candidate) => candidate.name);
      const near = nearest(name, names);
      return refuse(
        `'${name}' is not installed.${near === undefined ? "" : ` Did you mean ${near}?`} To get it: ${spell("ollama:pull", context)} ${name}`,
      );
    }
    if (use !== undefined) return use(`ollama:${model.name}`);
    context.progress(`loading ${model.name} (${formatBytes(model.bytes)})`);
    const problem = await this.#load(model.name, context.signal);
    if (problem !== undefined) return problem;
    const { rememberModel } = await import("../selection/last-model.js");
    rememberModel(this.#options.roots.state, `ollama:${model.name}`);
    const text = `${model.name} is loaded and is now the default; a key, --model or the profile can still choose another.`;
    return { text, value: { model: model.name } };
  }

  #silence(context: CommandContext): string {
    return `Ollama does not answer at ${this.#baseUrl}. ${spell("ollama:start", context)} starts it; OLLAMA_HOST sets another address.`;
  }

  #unreachable(cause: Failure, context: CommandContext): CommandResult {
    if (cause.reason !== "NetworkFailed") return { failure: cause };
    return { failure: { ...cause, message: this.#silence(context) } };
  }

  /** A chat without messages only loads the model. */
  async #load(model: string, signal: AbortSignal): Promise<CommandResult | undefined> {
    const { getJson } = await import("../model-list.js");
    const answer = await getJson(`${this.#baseUrl}/api/chat`, {
      http: this.#options.http,
      signal,
      endpoint: { provider: "ollama" },
      headers: {},
      body: { model, stream: false, options: { num_ctx: USUAL_CONTEXT } },
      model,
      timeoutMs: LOAD_MS,
    });
    return answer.ok ? undefined : { failure: answer.failure };
  }

  async pull(name: string, context: CommandContext): Promise<CommandResult> {
    const { http, clock } = this.#options;
    const meter = new SpeedMeter(clock);
    let shownAt = Number.NEGATIVE_INFINITY;
    const problem = await pullModel(this.#baseUrl, name, {
      http,
      signal: context.signal,
      onProgress: ({ status, completed, total }) => {
        const bytesPerSecond = total > 0 ? meter.add(completed) : undefined;
        if (clock.now() - shownAt < PROGRESS_MS && completed < total) return;
        shownAt = clock.now();
        context.progress(
          total === 0 || completed === total ? status : progressLine({ completed, total, bytesPerSecond }),
        );
      },
    });
    if (problem !== undefined) return this.#unreachable(problem, context);
    return { text: `${name} is installed. Use it: ${spell("ollama:use", context)} ${name}`, value: { model: name } };
  }
}

/** The context of the first request of a run; with another size the model would be loaded again. */
const USUAL_CONTEXT = 8192;
/** Loading may take long, but a connection should not stay open forever. */
const LOAD_MS = 30 * 60_000;

function describeRunning({ name, bytes, gpuBytes, contextTokens, expiresAt }: RunningModel, now: number): string {
  const where = gpuBytes === 0 ? "CPU" : gpuBytes >= bytes ? "GPU" : `${Math.round((100 * gpuBytes) / bytes)}% GPU`;
  const context = contextTokens === undefined ? "" : `, context ${contextTokens}`;
  const until = Date.parse(expiresAt);
  return `${name}  ${formatBytes(bytes)}, ${where}${context}${Number.isFinite(until) ? `, unloaded ${ago(now - until)}` : ""}`;
}

function modelTable(models: readonly InstalledModel[], now: number): string {
  return renderTable(
    [
      { header: "NAME", value: (model: InstalledModel) => model.name, priority: 3 },
      { header: "SIZE", value: (model) => formatBytes(model.bytes), align: "right" as const, priority: 2 },
      { header: "PARAMETERS", value: (model) => model.parameters, align: "right" as const },
      { header: "QUANTIZATION", value: (model) => model.quantization },
      { header: "CHANGED", value: (model) => ago(now - Date.parse(model.modifiedAt)) },
    ],
    models,
    { color: false },
  );
}
