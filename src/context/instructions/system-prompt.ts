/** The system prompt. It holds nothing that changes within a session, so that providers can cache it (feature X10). */
import standing from "../../../assets/prompts/system.md";

export interface PromptFacts {
  readonly workspace: string;
  readonly platform: string;
  /** YYYY-MM-DD, taken once when the session opens. */
  readonly date: string;
  /** Replaces the standing text when the user gives their own. */
  readonly override?: string;
}

export function systemPrompt({ workspace, platform, date, override }: PromptFacts): string {
  return `${(override ?? standing).trim()}\n\nWorkspace: ${workspace}\nPlatform: ${platform}\nDate: ${date}\n`;
}
