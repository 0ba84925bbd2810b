/**
 * Providers with a sign-in by account instead of a key, as data.
 *
 * 1. These addresses come from nowhere else: no project, profile or setting names another. Tests may lead them all to one server on
 *    this machine (see test-server.ts).
 * 2. The client ids are public, of programs without a secret. The user decides whether a provider's terms allow it: each row says what is
 *    known about them, and Oxbow shows that before the sign-in.
 */
import type { CredentialEndpoint } from "../credentials/entry.js";

export type OAuthProvider = BrowserProvider | DeviceProvider;

interface ProviderBase {
  /** As in `oxbow auth set NAME`. */
  readonly name: string;
  /** As people call the account. */
  readonly label: string;
  readonly clientId: string;
  readonly scope: string;
  readonly tokenUrl: string;
  readonly terms: string;
  /** `ask`: the known terms do not allow it, so the user has to confirm. */
  readonly termsNeed: "notice" | "ask";
  /** The address at which models are asked, and its headers. */
  readonly api: CredentialEndpoint;
}

export interface BrowserProvider extends ProviderBase {
  readonly flow: "browser";
  readonly authorizeUrl: string;
  /** Parameters of the address beyond the standard's. */
  readonly authorizeExtra: Readonly<Record<string, string>>;
  /** Says how the token endpoint wants its fields. The standard says `form`. */
  readonly tokenBody: "form" | "json";
  /** Sent along with the code, beyond the standard's fields. */
  readonly exchangeState: "sent" | "kept";
  readonly redirect: {
    readonly path: string;
    /** The ports that are registered there, in order; none means any. */
    readonly ports: readonly number[];
  };
  /** A page of the provider that shows the code to copy, for when no browser can reach this machine. */
  readonly codePage?: string;
}

export interface DeviceProvider extends ProviderBase {
  readonly flow: "device";
  readonly deviceUrl: string;
  /** Turns the token of the account into one for the models. */
  readonly exchangeUrl: string;
  readonly exchangeHeaders: Readonly<Record<string, string>>;
}

const AGENT = "oxbow";

const COPILOT_HEADERS = {
  "editor-version": "oxbow/1.0",
  "editor-plugin-version": "oxbow/1.0",
  "copilot-integration-id": "vscode-chat",
} as const;

export const OAUTH_PROVIDERS: readonly OAuthProvider[] = [
  {
    flow: "browser",
    name: "chatgpt",
    label: "ChatGPT",
    clientId: "app_EMoamEEZ73f0CkXaXp7hrann",
    scope: "openid profile email offline_access",
    authorizeUrl: "https://auth.openai.com/oauth/authorize",
    authorizeExtra: { id_token_add_organizations: "true", codex_cli_simplified_flow: "true", originator: AGENT },
    tokenUrl: "https://auth.openai.com/oauth/token",
    tokenBody: "form",
    exchangeState: "kept",
    redirect: { path: "/auth/callback", ports: [1455, 1457] },
    terms:
      "This signs in as OpenAI's own Codex program does and uses your ChatGPT plan. Check OpenAI's terms; 'oxbow auth set openai' takes an API key instead.",
    termsNeed: "notice",
    api: {
      baseUrl: "https://chatgpt.com/backend-api/codex",
      headers: {
        authorization: "Bearer {secret}",
        "chatgpt-account-id": "{extra.account_id}",
        originator: AGENT,
      },
    },
  },
  {
    flow: "browser",
    name: "claude",
    label: "Claude",
    clientId: "9d1c250a-e61b-44d9-88ed-5944d1962f5e",
    scope: "user:profile user:inference",
    authorizeUrl: "https://claude.ai/oauth/authorize",
    authorizeExtra: { code: "true" },
    tokenUrl: "https://platform.claude.com/v1/oauth/token",
    tokenBody: "json",
    exchangeState: "sent",
    redirect: { path: "/callback", ports: [] },
    codePage: "https://platform.claude.com/oauth/code/callback",
    terms:
      "Anthropic says that signing in with a Claude plan is for its own programs only, and may refuse this or act on the account. 'oxbow auth set anthropic' takes an API key, which is the supported way for other programs.",
    termsNeed: "ask",
    api: {
      baseUrl: "https://api.anthropic.com",
      headers: { authorization: "Bearer {secret}", "anthropic-beta": "oauth-2025-04-20" },
    },
  },
  {
    flow: "device",
    name: "copilot",
    label: "GitHub Copilot",
    clientId: "Iv1.b507a08c87ecfe98",
    scope: "read:user",
    deviceUrl: "https://github.com/login/device/code",
    tokenUrl: "https://github.com/login/oauth/access_token",
    exchangeUrl: "https://api.github.com/copilot_internal/v2/token",
    exchangeHeaders: COPILOT_HEADERS,
    terms:
      "This signs in as GitHub's own Copilot extension does and uses your Copilot plan through an interface that GitHub does not document. Check GitHub's terms.",
    termsNeed: "notice",
    api: {
      baseUrl: "https://api.githubcopilot.com",
      headers: { authorization: "Bearer {secret}", "openai-intent": "conversation-edits", ...COPILOT_HEADERS },
    },
  },
];

export function findOAuthProvider(name: string): OAuthProvider | undefined {
  return OAUTH_PROVIDERS.find((provider) => provider.name === name);
}
