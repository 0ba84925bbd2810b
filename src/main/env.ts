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
  { name: "OXBOW_PROVIDER", meaning: "provider to use; 'oxbow models' lists them" },
  { name: "OXBOW_MODEL", meaning: "model, as NAME or PROVIDER:NAME" },
  {
    name: "OXBOW_EFFORT",
    meaning: "how much the model shall think: low, medium or high (default: as the model likes)",
  },
  { name: "OXBOW_MAX_TURNS", meaning: "most model calls in one turn (default 100)" },
  { name: "OXBOW_STREAM", meaning: "1 shows progress on stderr although it is not a terminal, 0 never does" },
  { name: "OXBOW_PROFILE", meaning: "a TOML file of settings to use instead of config.toml" },
  { name: "OXBOW_LOG", meaning: "levels of Oxbow's own log: info, or info,engine=debug" },
  { name: "OXBOW_SESSIONS", meaning: "folder for sessions and their key (default: Oxbow's data folder)" },
  { name: "OXBOW_STORE", meaning: "how sessions are kept: sqlite (encrypted), files, files:DIR or none" },
  {
    name: "OXBOW_MACHINE_KEY",
    meaning: "key of the session database and the stored keys: 32 bytes as hex, base64 or raw",
  },
  {
    name: "OXBOW_PASSPHRASE",
    meaning: "passphrase that the keys of the session database and the stored keys are made from",
  },
  { name: "OXBOW_APPROVED_LOCK", meaning: "a lock file of approved content from another machine, for CI" },
  { name: "OXBOW_AGENT", meaning: "1 in commands that a model started: such an Oxbow approves nothing" },
  { name: "OXBOW_TEST_SIGN_IN", meaning: "for tests: an address of this machine that sign-ins go to instead" },
  { name: "CLAUDE_CONFIG_DIR", meaning: "where Claude Code keeps its transcripts, for 'session import --list'" },
  { name: "CODEX_HOME", meaning: "where Codex keeps its transcripts, for 'session import --list'" },
  { name: "ANTHROPIC_API_KEY", meaning: "key for the anthropic provider" },
  { name: "ANTHROPIC_BASE_URL", meaning: "another address that speaks Anthropic Messages" },
  { name: "OPENAI_API_KEY", meaning: "key for the openai provider" },
  { name: "OPENAI_BASE_URL", meaning: "any server that speaks Chat Completions; the key is optional then" },
  { name: "OPENAI_RESPONSES_URL", meaning: "another address that speaks OpenAI Responses" },
  { name: "GEMINI_API_KEY", meaning: "key for the gemini provider" },
  { name: "GOOGLE_GEMINI_BASE_URL", meaning: "another address that speaks Gemini" },
  { name: "MISTRAL_API_KEY", meaning: "key for the mistral provider" },
  { name: "MISTRAL_BASE_URL", meaning: "another address of Mistral" },
  { name: "DEEPSEEK_API_KEY", meaning: "key for the deepseek provider" },
  { name: "DEEPSEEK_BASE_URL", meaning: "another address of DeepSeek" },
  { name: "OPENROUTER_API_KEY", meaning: "key for the openrouter provider" },
  { name: "OPENROUTER_BASE_URL", meaning: "another address of OpenRouter" },
  { name: "ZAI_API_KEY", meaning: "key for the zai provider" },
  { name: "ZAI_BASE_URL", meaning: "another address of Z.ai, such as that of its coding plan" },
  { name: "GROQ_API_KEY", meaning: "key for the groq provider" },
  { name: "GROQ_BASE_URL", meaning: "another address of Groq" },
  { name: "FIREWORKS_API_KEY", meaning: "key for the fireworks provider" },
  { name: "FIREWORKS_BASE_URL", meaning: "another address of Fireworks" },
  { name: "COPILOT_GITHUB_TOKEN", meaning: "token for the copilot provider" },
  { name: "COPILOT_BASE_URL", meaning: "another address of GitHub Copilot" },
  { name: "OLLAMA_HOST", meaning: "address of Ollama (default 127.0.0.1:11434)" },
  { name: "LLAMACPP_BASE_URL", meaning: "address of llama.cpp's server (default http://127.0.0.1:8080/v1)" },
  { name: "LLAMA_API_KEY", meaning: "key of llama.cpp's server, when it was started with one" },
  { name: "LLAMAFILE_BASE_URL", meaning: "address of a llamafile (default http://127.0.0.1:8080/v1)" },
  { name: "LLAMAFILE_API_KEY", meaning: "key of a llamafile, when it was started with one" },
  { name: "LMSTUDIO_BASE_URL", meaning: "address of LM Studio (default http://127.0.0.1:1234/v1)" },
  { name: "LMSTUDIO_API_KEY", meaning: "key of LM Studio, when it wants one" },
  { name: "VLLM_BASE_URL", meaning: "address of vLLM (default http://127.0.0.1:8000/v1)" },
  { name: "VLLM_API_KEY", meaning: "key of vLLM, when it was started with one" },
  { name: "BROWSER", meaning: "program that opens the pages of sign-ins" },
  {
    name: "OXBOW_CATALOGUE_URL",
    meaning: "where 'oxbow models --refresh' gets limits and prices (default: models.dev)",
  },
  { name: "HTTPS_PROXY", meaning: "proxy for https addresses, as http://USER:PASSWORD@HOST:PORT" },
  { name: "HTTP_PROXY", meaning: "proxy for http addresses" },
  { name: "ALL_PROXY", meaning: "proxy for both, where neither of the two is set" },
  { name: "NO_PROXY", meaning: "hosts, networks and endings of names that are reached without a proxy" },
  { name: "SSL_CERT_FILE", meaning: "file of certificate authorities that are trusted beside the usual ones" },
  { name: "NODE_EXTRA_CA_CERTS", meaning: "the same; Node itself reads it" },
  { name: "NO_COLOR", meaning: "no colours" },
];
