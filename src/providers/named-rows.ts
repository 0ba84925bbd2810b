/**
 * The services and servers that Oxbow knows by name. A service that speaks a known wire needs only a row: a name, a wire, an
 * address and the variable of its key.
 *
 * 1. The order is the order of preference when several are ready.
 */
import { copilotHeaders } from "./copilot-headers.js";
import type { NamedProvider } from "./named.js";

/** Services that answer from the internet and want a key. */
const SERVICES: readonly NamedProvider[] = [
  {
    name: "anthropic",
    wire: "anthropic",
    baseUrl: "https://api.anthropic.com",
    keyName: "ANTHROPIC_API_KEY",
    baseUrlName: "ANTHROPIC_BASE_URL",
    defaultModel: "claude-sonnet-*",
    modelNames: /^claude-|^(opus|sonnet|haiku)$/,
  },
  {
    name: "openai",
    wire: "openai-chat",
    baseUrl: "https://api.openai.com/v1",
    keyName: "OPENAI_API_KEY",
    baseUrlName: "OPENAI_BASE_URL",
    baseUrlAbout: "any server that speaks Chat Completions; then the key is optional",
    defaultModel: "gpt-*-mini",
    modelNames: /^(gpt-\d|chatgpt-|o\d|ft:)/,
  },
  {
    // The same service by its newer protocol; it keeps and returns the model's reasoning.
    name: "openai-responses",
    wire: "openai-responses",
    baseUrl: "https://api.openai.com/v1",
    keyName: "OPENAI_API_KEY",
    baseUrlName: "OPENAI_RESPONSES_URL",
    sharedUrlName: "OPENAI_BASE_URL",
    family: "openai",
    defaultModel: "gpt-*-mini",
  },
  {
    name: "gemini",
    wire: "gemini",
    baseUrl: "https://generativelanguage.googleapis.com",
    keyName: "GEMINI_API_KEY",
    baseUrlName: "GOOGLE_GEMINI_BASE_URL",
    defaultModel: "gemini-*-flash",
    modelNames: /^gemini-/,
  },
  {
    name: "mistral",
    wire: "openai-chat",
    baseUrl: "https://api.mistral.ai/v1",
    keyName: "MISTRAL_API_KEY",
    baseUrlName: "MISTRAL_BASE_URL",
    defaultModel: "mistral-medium-latest",
    modelNames: /^(mistral|ministral|magistral|devstral|codestral)-/,
    dialect: { callIds: "nine" },
  },
  {
    name: "deepseek",
    wire: "openai-chat",
    baseUrl: "https://api.deepseek.com",
    keyName: "DEEPSEEK_API_KEY",
    baseUrlName: "DEEPSEEK_BASE_URL",
    defaultModel: "deepseek-v*-flash",
    modelNames: /^deepseek-/,
  },
  {
    name: "openrouter",
    wire: "openai-chat",
    baseUrl: "https://openrouter.ai/api/v1",
    keyName: "OPENROUTER_API_KEY",
    baseUrlName: "OPENROUTER_BASE_URL",
    defaultModel: "anthropic/claude-sonnet-*",
    // Some of the services behind it answer only programs that identify themselves.
    headers: { "http-referer": "http://localhost", "x-title": "Oxbow" },
  },
  {
    name: "zai",
    wire: "openai-chat",
    baseUrl: "https://api.z.ai/api/paas/v4",
    keyName: "ZAI_API_KEY",
    baseUrlName: "ZAI_BASE_URL",
    baseUrlAbout: "another address of Z.ai, such as that of its coding plan",
    defaultModel: "glm-*",
    modelNames: /^glm-/,
  },
  {
    name: "groq",
    wire: "openai-chat",
    baseUrl: "https://api.groq.com/openai/v1",
    keyName: "GROQ_API_KEY",
    baseUrlName: "GROQ_BASE_URL",
    defaultModel: "openai/gpt-oss-120b",
    dialect: { limit: "max_completion_tokens", thinking: "kept-back" },
  },
  {
    name: "fireworks",
    wire: "openai-chat",
    baseUrl: "https://api.fireworks.ai/inference/v1",
    keyName: "FIREWORKS_API_KEY",
    baseUrlName: "FIREWORKS_BASE_URL",
    defaultModel: "accounts/fireworks/models/glm-*",
    modelNames: /^accounts\/fireworks\//,
    // The service's default of 2,048 would cut off larger files.
    maxOutputTokens: 16_384,
  },
  {
    name: "copilot",
    wire: "openai-chat",
    baseUrl: "https://api.githubcopilot.com",
    keyName: "COPILOT_GITHUB_TOKEN",
    baseUrlName: "COPILOT_BASE_URL",
    signIn: true,
    defaultModel: "gpt-*-mini",
    headers: { "copilot-integration-id": "vscode-chat", "editor-version": "Oxbow/1.0" },
    headersOf: copilotHeaders,
    standIn: "openrouter",
    dialect: { unversioned: true },
  },
  {
    name: "chatgpt",
    wire: "openai-responses",
    baseUrl: "https://chatgpt.com/backend-api/codex",
    description: "the models of a ChatGPT plan",
    signIn: true,
    family: "openai",
    defaultModel: "gpt-*",
    // The service lists no models that need a newer client version than this.
    dialect: { outputLimit: "refused", listQuery: ["client_version", "1.0.0"] },
  },
  {
    name: "claude",
    wire: "anthropic",
    baseUrl: "https://api.anthropic.com",
    description: "the models of a Claude plan",
    signIn: true,
    family: "anthropic",
    defaultModel: "claude-sonnet-*",
  },
];

/** Servers on this machine, at their usual ports. Oxbow sends a key if the user set one, and never asks for it. */
const SERVERS: readonly NamedProvider[] = [
  { name: "ollama", wire: "ollama", baseUrl: "http://127.0.0.1:11434", baseUrlName: "OLLAMA_HOST", local: true },
  {
    name: "llamacpp",
    wire: "openai-chat",
    baseUrl: "http://127.0.0.1:8080/v1",
    keyName: "LLAMA_API_KEY",
    baseUrlName: "LLAMACPP_BASE_URL",
    local: true,
    owner: /^llamacpp$/,
  },
  {
    name: "llamafile",
    wire: "openai-chat",
    baseUrl: "http://127.0.0.1:8080/v1",
    keyName: "LLAMAFILE_API_KEY",
    baseUrlName: "LLAMAFILE_BASE_URL",
    local: true,
    owner: /^llamafile$/,
  },
  {
    name: "lmstudio",
    wire: "openai-chat",
    baseUrl: "http://127.0.0.1:1234/v1",
    keyName: "LMSTUDIO_API_KEY",
    baseUrlName: "LMSTUDIO_BASE_URL",
    local: true,
    owner: /^organization[-_]owner$/,
  },
  {
    name: "vllm",
    wire: "openai-chat",
    baseUrl: "http://127.0.0.1:8000/v1",
    keyName: "VLLM_API_KEY",
    baseUrlName: "VLLM_BASE_URL",
    local: true,
    owner: /^vllm$/,
  },
];

export const NAMED_PROVIDERS: readonly NamedProvider[] = [...SERVICES, ...SERVERS];
