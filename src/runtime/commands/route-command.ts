/** `/route` and `oxbow route` (feature M8): one set of verbs for both. */

import { nearest } from "../../base/nearest.js";
import type { SlashResult } from "../../commands/registry.js";
import { failure } from "../../protocol/errors.js";
import { ROUTE_NAME } from "../../providers/routing/mention.js";
import type { Route } from "../../providers/routing/routes.js";
import type { ModelRoutes } from "../models/model-routes.js";

const VERBS = ["list", "add", "remove", "enable", "disable"];

export async function routeCommand(words: readonly string[], routes: ModelRoutes): Promise<SlashResult> {
  const [verb = "list", name, ...models] = words;
  if (verb === "list") return name === undefined ? list(routes) : refuse("Say /route list.");
  if (!VERBS.includes(verb)) return refuse(unknownVerb(verb));
  if (name === undefined || (verb !== "add" && models.length > 0))
    return refuse(`Say /route ${verb} NAME${more(verb)}.`);
  const bare = name.replace(/^@/, "");
  if (verb === "add") return add(bare, models, routes);
  const known = (await routes.list()).routes;
  const route = known.find((each) => each.name === bare);
  if (route === undefined) return refuse(unknown(bare, known));
  return verb === "remove" ? remove(route, routes) : toggle(route, verb === "enable" ? "enable" : "disable", routes);
}

function unknownVerb(verb: string): string {
  const near = nearest(verb, VERBS);
  return `There is no '/route ${verb}'. ${near === undefined ? "Say list, add, remove, enable or disable." : `Did you mean '/route ${near}'?`}`;
}

function more(verb: string): string {
  return verb === "add" ? " MODEL [MODEL…]" : "";
}

async function list(routes: ModelRoutes): Promise<SlashResult> {
  const { routes: known, problems } = await routes.list();
  const width = Math.max(0, ...known.map(({ name }) => name.length));
  const lines = known.map(({ name, models, enabled, origin }) => {
    const marks = [...(enabled ? [] : ["off"]), ...(origin === "profile" ? ["from the profile"] : [])];
    return `@${name.padEnd(width)}  ${models.join(" → ")}${marks.length === 0 ? "" : `  (${marks.join(", ")})`}`;
  });
  const none = "No routes. Add one: /route add fast PROVIDER:MODEL, then begin an input with @fast.";
  return { text: [...(lines.length === 0 ? [none] : lines), ...problems.map((problem) => `! ${problem}`)].join("\n") };
}

async function add(name: string, models: readonly string[], routes: ModelRoutes): Promise<SlashResult> {
  if (!ROUTE_NAME.test(name)) return refuse(`'${name}' cannot be a name: letters, digits, '.', '-' and '_'.`);
  if (models.length === 0) return refuse(`Say which model: /route add ${name} PROVIDER:MODEL [MODEL…].`);
  const nested = models.find((model) => /^(@|route:)/.test(model));
  if (nested !== undefined) return refuse(`A route leads to models, not to other routes: ${nested}.`);
  const wrong = await routes.wrongModel(models);
  if (wrong !== undefined) return refuse(wrong);
  await routes.change((own) => ({
    routes: { ...own.routes, [name]: models },
    disabled: own.disabled.filter((each) => each !== name),
  }));
  const order = models.length === 1 ? models[0] : `${models.join(", then ")} where the one before cannot answer`;
  return { text: `@${name} asks ${order}. Begin an input with @${name}, or choose it with /model @${name}.` };
}

async function remove({ name, origin }: Route, routes: ModelRoutes): Promise<SlashResult> {
  if (origin === "profile")
    return refuse(`@${name} stands in the profile: take it out there, or /route disable ${name}.`);
  await routes.change((own) => {
    const { [name]: _gone, ...rest } = own.routes;
    return { routes: rest, disabled: own.disabled.filter((each) => each !== name) };
  });
  return { text: `@${name} is gone.` };
}

async function toggle({ name }: Route, verb: "enable" | "disable", routes: ModelRoutes): Promise<SlashResult> {
  await routes.change((own) => {
    const others = own.disabled.filter((each) => each !== name);
    return { ...own, disabled: verb === "enable" ? others : [...others, name] };
  });
  const isOn = (await routes.list()).routes.some((route) => route.name === name && route.enabled);
  if (verb === "enable" && !isOn) return refuse(`@${name} is off in the profile (enabled = false): change it there.`);
  return { text: `@${name} is ${isOn ? "on" : "off"}.` };
}

function unknown(name: string, known: readonly Route[]): string {
  const near = nearest(
    name,
    known.map((route) => route.name),
  );
  return `There is no route @${name}.${near === undefined ? " /route list shows what there is." : ` Did you mean @${near}?`}`;
}

function refuse(detail: string): SlashResult {
  return { failure: failure("InvalidInput", { detail }) };
}
