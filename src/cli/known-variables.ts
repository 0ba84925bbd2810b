/** The variables that Oxbow reads, for `oxbow help environment`. */
export interface KnownVariable {
  readonly name: string;
  readonly meaning: string;
  /**
   * What it holds for, if several terminals share an engine: the session of the terminal (default), this terminal, or the engine. A terminal
   * whose variable of the engine differs from the running engine's hosts its conversation itself. A secret is not compared.
   */
  readonly holds?: "client" | "engine" | "engine, secret";
}

/** Shown by `oxbow help environment` and checked by the tests against what the code reads. */
export const KNOWN_VARIABLES: readonly KnownVariable[] = [
  {
    name: "OXBOW_HOME",
    holds: "client",
    meaning: "one folder for configuration, data and state (default: the XDG folders)",
  },
  { name: "OXBOW_PROVIDER", meaning: "provider to use; 'oxbow models' lists them" },
  { name: "OXBOW_MODEL", meaning: "model, as NAME or PROVIDER:NAME" },
  {
    name: "OXBOW_EFFORT",
    meaning: "how much the model thinks: low, medium or high (default: the model decides)",
  },
  { name: "OXBOW_MAX_TURNS", meaning: "limit of model calls in one turn (default 100)" },
  {
    name: "OXBOW_STREAM",
    holds: "client",
    meaning: "1: write the answer to a pipe as it arrives, and progress to stderr; 0: neither",
  },
  { name: "OXBOW_PROFILE", meaning: "the profile to use: a name, or the path of a TOML file (docs/profiles.md)" },
  { name: "OXBOW_LOG", holds: "engine", meaning: "levels of Oxbow's own log: info, or info,engine=debug" },
  {
    name: "OXBOW_SESSIONS",
    holds: "engine",
    meaning: "folder for sessions and their key (default: Oxbow's data folder)",
  },
  {
    name: "OXBOW_STORE",
    holds: "engine",
    meaning: "where to store sessions: sqlite (encrypted), files, files:DIR or none",
  },
  {
    name: "OXBOW_MACHINE_KEY",
    holds: "engine, secret",
    meaning: "key of the session database and the stored keys: 32 bytes as hex, base64 or raw",
  },
  {
    name: "OXBOW_PASSPHRASE",
    holds: "engine, secret",
    meaning: "passphrase for the session database and the stored keys",
  },
  { name: "OXBOW_APPROVED_LOCK", meaning: "a lock file of approved content from another machine, for CI" },
  {
    name: "OXBOW_TOKEN",
    holds: "client",
    meaning:
      "a token for 'oxbow serve --stdio', for 'oxbow conformance', and for 'oxbow mcp-server' if it drives a running engine",
  },
  { name: "OXBOW_AGENT", meaning: "1 in commands that a model started: this Oxbow approves nothing" },
  {
    name: "OXBOW_TEST_SIGN_IN",
    holds: "client",
    meaning: "for tests: an address of this machine that sign-ins go to instead",
  },
  {
    name: "CLAUDE_CONFIG_DIR",
    holds: "client",
    meaning: "where Claude Code keeps its transcripts, for 'session import --list'",
  },
  { name: "CODEX_HOME", holds: "client", meaning: "where Codex keeps its transcripts, for 'session import --list'" },
  { name: "ANTHROPIC_API_KEY", meaning: "key for the anthropic provider" },
  { name: "ANTHROPIC_BASE_URL", meaning: "another address that speaks Anthropic Messages" },
  { name: "OPENAI_API_KEY", meaning: "key for the openai provider" },
  { name: "OPENAI_BASE_URL", meaning: "any server that speaks Chat Completions; then the key is optional" },
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
  { name: "LLAMA_API_KEY", meaning: "key of llama.cpp's server, if it needs one" },
  { name: "LLAMAFILE_BASE_URL", meaning: "address of a llamafile (default http://127.0.0.1:8080/v1)" },
  { name: "LLAMAFILE_API_KEY", meaning: "key of a llamafile, if it needs one" },
  { name: "LMSTUDIO_BASE_URL", meaning: "address of LM Studio (default http://127.0.0.1:1234/v1)" },
  { name: "LMSTUDIO_API_KEY", meaning: "key of LM Studio, if it needs one" },
  { name: "VLLM_BASE_URL", meaning: "address of vLLM (default http://127.0.0.1:8000/v1)" },
  { name: "VLLM_API_KEY", meaning: "key of vLLM, if it needs one" },
  { name: "BROWSER", holds: "client", meaning: "program that opens the pages of sign-ins" },
  {
    name: "OXBOW_CATALOGUE_URL",
    meaning: "where 'oxbow models --refresh' gets limits and prices (default: models.dev)",
  },
  { name: "HTTPS_PROXY", meaning: "proxy for https addresses, as http://USER:PASSWORD@HOST:PORT" },
  { name: "HTTP_PROXY", meaning: "proxy for http addresses" },
  { name: "ALL_PROXY", meaning: "proxy for both, if the specific variable is not set" },
  { name: "NO_PROXY", meaning: "hosts, networks and name endings to reach without the proxy" },
  { name: "SSL_CERT_FILE", meaning: "file of additional certificate authorities" },
  { name: "NODE_EXTRA_CA_CERTS", holds: "engine", meaning: "the same; Node itself reads it" },
  { name: "NO_COLOR", holds: "client", meaning: "no colours" },
];

/** Set for programs that Oxbow starts, for docs/reference.md. */
export const GIVEN_VARIABLES: readonly KnownVariable[] = [
  { name: "OXBOW_AGENT", meaning: "1 in every command that a model started" },
  { name: "OXBOW_CALL", meaning: "the call that a command belongs to; its processes end with it" },
  {
    name: "OXBOW_WORKSPACE",
    meaning: "the folder of the session, for executable tools, commands, hooks and providers",
  },
  { name: "OXBOW_SESSION", meaning: "the session, for the same programs" },
  { name: "OXBOW_SOURCE", meaning: "the folder in which the program was found" },
  { name: "OXBOW_TOOL", meaning: "the name of an executable tool" },
  { name: "OXBOW_COMMAND", meaning: "the name of an executable command" },
  { name: "OXBOW_STAGE", meaning: "the stage of an executable hook" },
  { name: "OXBOW_HOOK", meaning: "the name of an executable hook" },
  { name: "OXBOW_HOOK_EVENT", meaning: "the event of an event hook" },
  { name: "OXBOW_PROJECT_DIR", meaning: "the folder of the session, for event hooks" },
  { name: "OXBOW_SESSION_ID", meaning: "the session, for event hooks and slash commands" },
];
