/** `/route` and `oxbow route`: named models. */

import { nearest } from "../../base/nearest.js";
import { ROUTE_ADD, ROUTE_DISABLE, ROUTE_ENABLE, ROUTE_LIST, ROUTE_REMOVE } from "../../commands/catalogue/models.js";
import {
  asValue,
  type Command,
  type CommandArguments,
  type CommandContext,
  type CommandResult,
  refuse,
  spell,
} from "../../commands/command.js";
import { ROUTE_NAME } from "../../providers/routing/mention.js";
import type { Route } from "../../providers/routing/routes.js";
import type { RouteRule } from "../../providers/routing/rules.js";
import type { ModelRoutes } from "../models/model-routes.js";

export function routeCommands(routes: ModelRoutes): readonly Command[] {
  return [
    { ...ROUTE_LIST, run: (_args, context) => list(routes, context) },
    { ...ROUTE_ADD, run: (args, context) => add(args, routes, context) },
    { ...ROUTE_REMOVE, run: onRoute((route, context) => remove(route, routes, context)) },
    { ...ROUTE_ENABLE, run: onRoute((route) => toggle(route, "enable", routes)) },
    { ...ROUTE_DISABLE, run: onRoute((route) => toggle(route, "disable", routes)) },
  ];

  function onRoute(action: (route: Route, context: CommandContext) => Promise<CommandResult>): Command["run"] {
    return async (args, context) => {
      const name = bareName(args);
      const known = (await routes.list()).routes;
      const route = known.find((each) => each.name === name);
      return route === undefined ? refuse(unknown(name, known, context)) : action(route, context);
    };
  }
}

function bareName(args: CommandArguments): string {
  return (args.text("NAME") ?? "").replace(/^@/, "");
}

async function list(routes: ModelRoutes, context: CommandContext): Promise<CommandResult> {
  const { routes: known, problems } = await routes.list();
  const width = Math.max(0, ...known.map(({ name }) => name.length));
  const lines = known.flatMap(({ name, models, rules, enabled, origin }) => {
    const marks = [...(enabled ? [] : ["off"]), ...(origin === "profile" ? ["from the profile"] : [])];
    return [
      `@${name.padEnd(width)}  ${models.join(" → ")}${marks.length === 0 ? "" : `  (${marks.join(", ")})`}`,
      ...rules.map(
        (rule) => `${" ".repeat(width + 3)}${rule.name}: ${rule.models.join(" → ")}  ${conditionsText(rule)}`,
      ),
    ];
  });
  const example = `${spell("route:add", context)} fast PROVIDER:MODEL`;
  const none = `No routes. Add one: ${example}, then begin an input with @fast.`;
  return {
    text: [...(lines.length === 0 ? [none] : lines), ...problems.map((problem) => `! ${problem}`)].join("\n"),
    value: asValue({
      routes: known.map(({ name, models, rules, enabled, origin }) => ({
        ...{ name, models, enabled, origin },
        rules: rules.map((rule) => ({ name: rule.name, models: rule.models, when: rule.when })),
      })),
      problems,
    }),
  };
}

/** `tokens_over 100000, images`. */
function conditionsText({ when }: RouteRule): string {
  return Object.entries(when)
    .map(([key, value]) =>
      value === true ? key : value === false ? `no ${key}` : `${key} ${[value].flat().join("|")}`,
    )
    .join(", ");
}

async function add(args: CommandArguments, routes: ModelRoutes, context: CommandContext): Promise<CommandResult> {
  const name = bareName(args);
  const models = args.list("MODEL");
  if (!ROUTE_NAME.test(name)) return refuse(`'${name}' is not a valid name: use letters, digits, '.', '-' and '_'.`);
  const nested = models.find((model) => /^(@|route:)/.test(model));
  if (nested !== undefined) return refuse(`A route names models, not other routes: ${nested}.`);
  const wrong = await routes.wrongModel(models);
  if (wrong !== undefined) return refuse(wrong);
  await routes.change((own) => ({
    routes: { ...own.routes, [name]: models },
    disabled: own.disabled.filter((each) => each !== name),
  }));
  const order = models.length === 1 ? models[0] : `${models.join(", then ")} when the one before it fails`;
  const choose = context.surface === "slash" ? `/model @${name}` : `--model @${name}`;
  return {
    text: `@${name} asks ${order}. Begin an input with @${name}, or choose it with ${choose}.`,
    value: { name, models, enabled: true },
  };
}

async function remove({ name, origin }: Route, routes: ModelRoutes, context: CommandContext): Promise<CommandResult> {
  if (origin === "profile")
    return refuse(`@${name} is in the profile: remove it there, or ${spell("route:disable", context)} ${name}.`);
  await routes.change((own) => {
    const { [name]: _gone, ...rest } = own.routes;
    return { routes: rest, disabled: own.disabled.filter((each) => each !== name) };
  });
  return { text: `Removed @${name}.`, value: { name, removed: true } };
}

async function toggle({ name }: Route, verb: "enable" | "disable", routes: ModelRoutes): Promise<CommandResult> {
  await routes.change((own) => {
    const others = own.disabled.filter((each) => each !== name);
    return { ...own, disabled: verb === "enable" ? others : [...others, name] };
  });
  const isOn = (await routes.list()).routes.some((route) => route.name === name && route.enabled);
  if (verb === "enable" && !isOn) return refuse(`@${name} is off in the profile (enabled = false): change it there.`);
  return { text: `@${name} is ${isOn ? "on" : "off"}.`, value: { name, enabled: isOn } };
}

function unknown(name: string, known: readonly Route[], context: CommandContext): string {
  const near = nearest(
    name,
    known.map((route) => route.name),
  );
  const advice = near === undefined ? `${spell("route:list", context)} shows them.` : `Did you mean @${near}?`;
  return `There is no route @${name}. ${advice}`;
}
