/** The only reader of the process environment (feature U9). Everyone else is handed what they need. */
export type Variables = Readonly<Record<string, string | undefined>>;

export function environment(): Variables {
  return process.env;
}

export interface KnownVariable {
  readonly name: string;
  readonly meaning: string;
}

/** Shown by `oxbow help environment` and checked by the tests against what the code reads. */
export const KNOWN_VARIABLES: readonly KnownVariable[] = [
  { name: "OXBOW_HOME", meaning: "one folder for configuration, data and state (default: the XDG folders)" },
  { name: "OXBOW_PROVIDER", meaning: "provider to use: anthropic, openai, openai-responses, gemini, ollama, offline" },
  { name: "OXBOW_MODEL", meaning: "model, as NAME or PROVIDER:NAME" },
  { name: "OXBOW_MAX_TURNS", meaning: "most model calls in one turn (default 100)" },
  { name: "OXBOW_STREAM", meaning: "1 shows progress on stderr although it is not a terminal, 0 never does" },
  { name: "OXBOW_PROFILE", meaning: "a TOML file of settings to use instead of config.toml" },
  { name: "OXBOW_LOG", meaning: "levels of Oxbow's own log: info, or info,engine=debug" },
  { name: "OXBOW_SESSIONS", meaning: "folder for sessions and their key (default: Oxbow's data folder)" },
  { name: "OXBOW_STORE", meaning: "how sessions are kept: sqlite (encrypted), files, files:DIR or none" },
  { name: "OXBOW_MACHINE_KEY", meaning: "key of the session database: 32 bytes as hex, base64 or raw" },
  { name: "OXBOW_PASSPHRASE", meaning: "passphrase that the key of the session database is made from" },
  { name: "OXBOW_APPROVED_LOCK", meaning: "a lock file of approved content from another machine, for CI" },
  { name: "OXBOW_AGENT", meaning: "1 in commands that a model started: such an Oxbow approves nothing" },
  { name: "CLAUDE_CONFIG_DIR", meaning: "where Claude Code keeps its transcripts, for 'session import --list'" },
  { name: "CODEX_HOME", meaning: "where Codex keeps its transcripts, for 'session import --list'" },
  { name: "ANTHROPIC_API_KEY", meaning: "key for the anthropic provider" },
  { name: "ANTHROPIC_BASE_URL", meaning: "another address that speaks Anthropic Messages" },
  { name: "OPENAI_API_KEY", meaning: "key for the openai provider" },
  { name: "OPENAI_BASE_URL", meaning: "any server that speaks Chat Completions; the key is optional then" },
  { name: "OPENAI_RESPONSES_URL", meaning: "another address that speaks OpenAI Responses" },
  { name: "GEMINI_API_KEY", meaning: "key for the gemini provider" },
  { name: "GOOGLE_GEMINI_BASE_URL", meaning: "another address that speaks Gemini" },
  { name: "OLLAMA_HOST", meaning: "address of Ollama (default 127.0.0.1:11434)" },
  { name: "NO_COLOR", meaning: "no colours" },
];
