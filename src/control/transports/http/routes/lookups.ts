/** Describes what clients look up: each route answers one query. */
import type { QueryKind } from "../../../../protocol/queries.js";
import type { Route } from "../route.js";
import { listOf, SESSION_ID, shape } from "../schemas.js";

function lookup(
  kind: QueryKind,
  path: string,
  about: { readonly name: string; readonly summary: string; readonly field: string },
): Route {
  const { name, summary, field } = about;
  return {
    ...{ name, summary, path, method: "GET", tag: "lookups" },
    query: { session: SESSION_ID },
    answers: { 200: { about: summary, schema: shape({ [field]: listOf({ type: "object" }) }) } },
    handle: async (call) => {
      return call.json(await call.query(kind, {}, call.sessionInQuery));
    },
  };
}

export const LOOKUP_ROUTES: readonly Route[] = [
  lookup("ListProfiles", "/v1/profiles", { name: "listProfiles", summary: "The profiles", field: "profiles" }),
  lookup("ListProviders", "/v1/providers", {
    name: "listProviders",
    summary: "The providers and their models",
    field: "providers",
  }),
  lookup("ListModels", "/v1/models", {
    name: "listModels",
    summary: "The models of the providers in use",
    field: "models",
  }),
  lookup("ListTools", "/v1/tools", {
    name: "listTools",
    summary: "The tools of a session, or the built-in ones, with their schemas",
    field: "tools",
  }),
  lookup("ListSkills", "/v1/skills", { name: "listSkills", summary: "The skills", field: "skills" }),
  lookup("ListSettings", "/v1/settings", {
    name: "listSettings",
    summary: "The settings with their values and origins",
    field: "settings",
  }),
  lookup("ListMcpServers", "/v1/mcp/servers", {
    name: "listMcpServers",
    summary: "The MCP servers and their state",
    field: "servers",
  }),
  lookup("ListCommands", "/v1/slash-commands", {
    name: "listSlashCommands",
    summary: "The slash commands; with a session also those of its plugins and folders",
    field: "commands",
  }),
  lookup("ListClients", "/v1/clients", {
    name: "listClients",
    summary: "The clients that are connected",
    field: "clients",
  }),
];
