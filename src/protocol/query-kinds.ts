/** The kinds of queries, for the handshake and for everything that lists them. */
import type { QueryKind } from "./queries.js";

export const QUERY_KINDS: readonly QueryKind[] = [
  "ListSessions",
  "ListModels",
  "ListCommands",
  "ListClients",
  "ListProfiles",
  "ListProviders",
  "ListSkills",
  "GetSkill",
  "ListSettings",
  "ListMcpServers",
  "GetHealth",
  "ListTools",
  "GetPermissions",
  "ListQuestions",
  "GetStatus",
  "FindFiles",
  "ListEvents",
  "ListTurns",
  "GetChanges",
  "CompareSessions",
  "GetCosts",
  "ListMcpTraffic",
  "ListExtensions",
  "ListWaitingContent",
];
