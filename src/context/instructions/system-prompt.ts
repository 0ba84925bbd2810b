/** The system prompt. It holds nothing that changes within a session, so that providers can cache it (feature X10). */
import standing from "../../../assets/prompts/system.md";

export interface PromptFacts {
  readonly workspace: string;
  readonly platform: string;
  /** YYYY-MM-DD, taken once when the session opens. */
  readonly date: string;
  /** Sentences that hold whatever the standing text is. */
  readonly notices?: readonly string[];
  /** Replaces the standing text when the user gives their own. */
  readonly override?: string;
}

export function systemPrompt({ workspace, platform, date, notices = [], override }: PromptFacts): string {
  const text = [(override ?? standing).trim(), ...notices].join("\n\n");
  return `${text}\n\nWorkspace: ${workspace}\nPlatform: ${platform}\nDate: ${date}\n`;
}
