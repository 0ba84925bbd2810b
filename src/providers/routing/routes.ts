/**
 * Named routes: from the profile's `[routes.NAME]` tables and from `/route`.
 *
 * 1. A route from `/route` overrides one of the profile with the same name.
 * 2. An invalid route is reported by name and skipped; the others still work.
 */
import { isJsonObject, type JsonValue } from "../../protocol/json.js";
import { ROUTE_NAME } from "./mention.js";
import { type RouteRule, readRules } from "./rules.js";

export interface Route {
  readonly name: string;
  /** In the order in which Oxbow tries them. */
  readonly models: readonly string[];
  /** Says which calls other models answer; routes of `/route` have none. */
  readonly rules: readonly RouteRule[];
  readonly enabled: boolean;
  readonly origin: "profile" | "own";
}

/** The stored changes of the user. */
export interface OwnRoutes {
  readonly routes: Readonly<Record<string, readonly string[]>>;
  readonly disabled: readonly string[];
}

export const NO_OWN_ROUTES: OwnRoutes = { routes: {}, disabled: [] };

export function readRoutes(
  profile: unknown,
  own: OwnRoutes,
): { readonly routes: readonly Route[]; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const found = new Map<string, Route>();
  const tables = isJsonObject(profile) ? Object.entries(profile) : [];
  if (profile !== undefined && !isJsonObject(profile)) problems.push("[routes] must contain tables: [routes.NAME]");
  for (const [name, table] of tables) {
    const models = modelsOf(table);
    const read = readRules(isJsonObject(table) ? table.rules : undefined);
    if (!ROUTE_NAME.test(name))
      problems.push(`'${name}' cannot be the name of a route: letters, digits, '.', '-', '_'`);
    else if (models === undefined)
      problems.push(`[routes.${name}] needs model = "PROVIDER:NAME" or chain = ["…", "…"]`);
    else if ("problem" in read) problems.push(`[routes.${name}] ${read.problem}`);
    else found.set(name, { name, models, rules: read.rules, enabled: isOn(table, own, name), origin: "profile" });
  }
  for (const [name, models] of Object.entries(own.routes)) {
    found.set(name, { name, models, rules: [], enabled: !own.disabled.includes(name), origin: "own" });
  }
  return { routes: [...found.values()], problems };
}

/** The parsed file; invalid parts are skipped. */
export function readOwnRoutes(value: JsonValue | undefined): OwnRoutes {
  if (!isJsonObject(value)) return NO_OWN_ROUTES;
  const entries = isJsonObject(value.routes) ? Object.entries(value.routes) : [];
  const routes = entries.flatMap(([name, models]) => {
    const list = asNames(models);
    return ROUTE_NAME.test(name) && list.length > 0 ? [[name, list] as const] : [];
  });
  return { routes: Object.fromEntries(routes), disabled: asNames(value.disabled) };
}

function isOn(table: unknown, own: OwnRoutes, name: string): boolean {
  return !own.disabled.includes(name) && !(isJsonObject(table) && table.enabled === false);
}

function modelsOf(table: unknown): readonly string[] | undefined {
  if (!isJsonObject(table)) return undefined;
  if (typeof table.model === "string" && table.model.trim() !== "") return [table.model.trim()];
  const chain = asNames(table.chain);
  return chain.length > 0 ? chain : undefined;
}

function asNames(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter((item): item is string => typeof item === "string" && item.trim() !== "")
    .map((item) => item.trim());
}
