/** Shows the user on the desktop that an agent works on this machine. People who are attached learn it from the engine. */
import { safeLine } from "../../base/terminal-text.js";
import type { Variables } from "../../base/variables.js";
import type { SessionId } from "../../protocol/ids.js";
import { confirmationChannels } from "./channels.js";

/** A program chooses its own name. */
const MOST_NAME = 100;

export interface AgentNotices {
  session(session: SessionId, agent: string): Promise<void>;
  question(session: SessionId, summary: string): Promise<void>;
}

export function agentNotices(variables: Variables): AgentNotices {
  const show = desktopNotices(variables);
  return {
    session: (session, agent) => {
      const name = safeLine(agent.slice(0, MOST_NAME));
      return show(`The agent ${name} started the session ${session}. 'oxbow resume ${session}' shows it.`);
    },
    question: (session, summary) => {
      const what = safeLine(summary.slice(0, MOST_NAME));
      return show(`An agent waits for your answer: ${what}. 'oxbow resume ${session}' shows the question.`);
    },
  };
}

/** A notice that cannot be shown is not worth an error. */
export function desktopNotices(variables: Variables): (message: string) => Promise<void> {
  const channels = confirmationChannels("notify", { notifyPeople: () => 0, variables });
  return async (message) => {
    for (const channel of channels) await Promise.resolve(channel.show(message)).catch(() => {});
  };
}
