/** What each key of a settings file does, for `oxbow config keys` and docs/reference.md. A test compares the keys with the definitions. */
import { storeWords } from "../../sessions/stores.js";
import type { ProjectAccess } from "./setting.js";

export interface SettingKey {
  readonly key: string;
  readonly about: string;
  /** What a project may do with it. */
  readonly project: "sets it" | "makes it stricter" | "no";
  /** The guide, without `.md`. */
  readonly guide: string;
  /** What it holds for, if several terminals share an engine. */
  readonly holds: "session" | "engine";
}

/** A terminal with another value than the running engine hosts its conversation itself. */
export const SETTINGS_OF_ENGINE = [
  ...(["store", "session_key", "retention_days", "session_idle_timeout", "engine_idle_timeout"] as const),
  ...(["log", "plugins", "plugin"] as const),
];

const PROJECT: Readonly<Record<ProjectAccess, SettingKey["project"]>> = {
  any: "sets it",
  stricter: "makes it stricter",
  never: "no",
};

const ROWS: readonly (readonly [key: string, about: string, guide: string])[] = [
  ["model", "the model, as NAME, PROVIDER:NAME or @ROUTE", "models"],
  ["provider", "the provider whose default model is used", "models"],
  ["effort", "how much the model thinks: low, medium or high", "model-requests"],
  ["max_output_tokens", "the most tokens of one answer", "local-models"],
  ["max_answer_chars", "the characters after which an endless answer is stopped", "retries-and-routes"],
  ["retry_wait", "how long to retry a busy or failing provider", "retries-and-routes"],
  [
    "copilot_fallback",
    "whether a refused key of Copilot fails over to the same model of OpenRouter",
    "retries-and-routes",
  ],
  ["routes", "[routes.NAME]: models that stand in for each other", "retries-and-routes"],
  ["providers", "[providers.NAME]: providers of your own", "own-provider"],
  ["models", "[models.NAME]: limits and prices of a model", "costs"],
  ["catalogue_url", "where 'oxbow models --refresh' gets limits and prices", "costs"],
  ["num_ctx", "the context that Ollama loads a model with", "local-models"],
  ["keep_alive", "how long Ollama keeps a model loaded", "local-models"],
  ["local_idle", "how long a model on this machine may be silent", "local-models"],
  ["ollama_timeout", "the time limit of one answer of a model on this machine", "local-models"],
  ["tool_sets", "the tools that the model gets, by set", "profiles"],
  ["max_iterations", "the most model calls in one turn", "profiles"],
  ["timeout", "the time limit of a turn", "profiles"],
  ["run_timeout", "the time limit of each command", "terminal"],
  ["plugins", "files with plugins", "plugins"],
  ["plugin_dirs", "folders with plugins of Claude Code", "plugins"],
  ["plugin", "[plugin.NAME]: the settings of a plugin", "plugins"],
  ["system_prompt", "replaces Oxbow's own system prompt", "profiles"],
  ["prompt_header", "text before the instruction files in the system prompt", "profiles"],
  ["prompt_variants", "[prompt_variants.NAME]: text that a part of the sessions gets in the system prompt", "costs"],
  ["prompt_variant", "the prompt variant of all sessions, or off", "costs"],
  ["skill_packs", "folders of skills besides the usual ones", "profiles"],
  ["context_sources", "the names of the instruction files to read", "instructions"],
  ["context_bytes", "the most bytes of instructions", "instructions"],
  ["compact_at", "the part of the window at which the conversation is summarised, or off", "compaction"],
  ["budget", "the most that a run may cost", "costs"],
  ["budget_turn", "the most that a turn may cost", "costs"],
  ["budget_session", "the most that a session may cost", "costs"],
  ["budget_day", "the most that a day may cost", "costs"],
  ["agent_depth", "how deep subagents may start subagents", "subagents"],
  ["agents_at_once", "the most subagents that work at the same time", "subagents"],
  ["agents_per_turn", "the most subagents in one turn", "subagents"],
  ["agent_timeout", "the time limit of a subagent", "subagents"],
  ["delegate_model", "the model of subagents that the model asks to be cheap", "subagents"],
  ["permission_mode", "what runs without a question: auto, review, ask, allow or deny", "permissions"],
  ["permissions", "[permissions]: rules and presets", "permissions"],
  ["hooks", "[[hooks]]: commands at moments of a session", "hooks"],
  ["permission_timeout", "how long a question waits for an answer; off: without a limit", "permissions"],
  ["sandbox", "auto, required or off", "sandbox"],
  [
    "containment",
    "direct: contained commands run without asking also where they write straight into the folder; ask",
    "sandbox",
  ],
  ["sandbox_hosts", "hosts that commands in the sandbox may reach", "sandbox"],
  ["sandbox_writable", "more folders that commands may change", "sandbox"],
  ["sandbox_secrets", "secret files that commands may read", "sandbox"],
  ["extra_roots", "folders that the tools use like the workspace", "permissions"],
  ["sandbox_unix_sockets", "lets commands create Unix sockets with a name", "sandbox"],
  ["sandbox_container", "the image whose containers run the commands", "sandbox"],
  ["untrusted_results", "wrap: mark results of tools as text from outside; plain: do not", "permissions"],
  ["environment", "[environment]: the variables that commands of the model get", "sandbox"],
  ["credential_key", "where the key of stored keys is: file, keychain or passphrase", "models"],
  ["credential_idle", "how long the idle credential helper stays", "models"],
  ["web_hosts", "private hosts that web_fetch may reach", "web"],
  ["web_search", "who answers web_search: provider, brave, tavily, the address of a SearXNG server, or off", "web"],
  ["web_names", "who looks up the names of pages behind a proxy: check (Oxbow) or proxy", "proxies"],
  ["proxy", "the proxy of model requests and web_fetch", "proxies"],
  ["no_proxy", "hosts to reach without the proxy", "proxies"],
  ["ca_file", "a file with more certificate authorities", "proxies"],
  ["store", `where sessions are stored: ${storeWords("none")}`, "sessions"],
  ["session_key", "where the key of the session database is: auto, file or keychain", "sessions"],
  ["retention_days", "after how many days the content of sessions expires", "sessions"],
  ["session_idle_timeout", "when a session that no client uses ends", "sessions"],
  ["engine_idle_timeout", "when the engine of the terminals ends by itself", "attach"],
  ["output_bytes", "the most bytes of saved command output of a session", "sessions"],
  ["kb_offer", "whether Oxbow offers to keep findings in the knowledge base; off: never", "knowledge"],
  ["rag", "the store of documents that is on at the start", "knowledge"],
  ["log", "levels of Oxbow's own log: info, or info,engine=debug", "service"],
  ["memory", "whether notes go along and the model has the tool: auto, on or off", "knowledge"],
  ["memory_tokens", "the most tokens of notes in one input", "knowledge"],
  ["memory_offer", "where Oxbow offers to keep a note: people, always or off", "knowledge"],
  ["recall", "what the model may look up of what a summary replaced: session, folder or off", "compaction"],
  ["recall_model", "the embedding model that also finds what means the same", "compaction"],
  ["spinner", "verses, or plain: only the time", "terminal"],
  ["screen_reader", "true: only finished text is printed", "terminal"],
  ["theme", "dark, light, high-contrast or plain", "terminal"],
  ["status_line", "the parts of the line below the input and their order: model cost title", "terminal"],
  ["keys", "[keys]: keys of the terminal client", "terminal"],
  ["profile", "the profile that is always used", "profiles"],
];

/** By name. `access`: the keys of the definitions. */
export function settingKeys(access: ReadonlyMap<string, ProjectAccess>): readonly SettingKey[] {
  const words = new Map(ROWS.map(([key, about, guide]) => [key, { about, guide }]));
  return [...access]
    .map(([key, project]) => {
      const { about, guide } = words.get(key) ?? { about: "", guide: "profiles" };
      const isOfEngine = SETTINGS_OF_ENGINE.some((each) => each === key);
      return {
        key,
        about,
        project: PROJECT[project],
        guide,
        holds: isOfEngine ? ("engine" as const) : ("session" as const),
      };
    })
    .sort((one, other) => (one.key < other.key ? -1 : 1));
}
