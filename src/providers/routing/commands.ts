/** `/route …` and `oxbow route …`: named models. */
import { nearest } from "../../base/nearest.js";
import {
  type Argument,
  asValue,
  type Command,
  type CommandArguments,
  type CommandContext,
  type CommandOf,
  type CommandResult,
  EVERYWHERE,
  READERS,
  refuse,
  type Subject,
  spell,
  withPort,
} from "../../feature/command.js";
import { ROUTE_NAME } from "./mention.js";
import type { OwnRoutes, Route } from "./routes.js";
import type { RouteRule } from "./rules.js";

interface Routes {
  list(): Promise<{ readonly routes: readonly Route[]; readonly problems: readonly string[] }>;
  /** Checks the names of models before they are stored. */
  wrongModel(models: readonly string[]): Promise<string | undefined>;
  change(change: (own: OwnRoutes) => OwnRoutes): Promise<void>;
}

const ROUTE: Argument = { name: "NAME", kind: "text", complete: "route" };

const COMMANDS: readonly CommandOf<Routes>[] = [
  {
    name: "route:list",
    aliases: ["route"],
    summary: "list the routes",
    users: READERS,
    places: EVERYWHERE,
    run: (_args, routes, context) => list(routes, context),
  },
  {
    name: "route:add",
    summary: "add a route for a model, or for several that Oxbow tries in order",
    arguments: [
      { name: "NAME", kind: "text" },
      { name: "MODEL", kind: "text", rest: "list", complete: "model" },
    ],
    places: EVERYWHERE,
    run: add,
  },
  {
    name: "route:remove",
    summary: "remove a route",
    arguments: [ROUTE],
    places: EVERYWHERE,
    run: onRoute(remove),
  },
  {
    name: "route:enable",
    summary: "switch a route on",
    arguments: [ROUTE],
    places: EVERYWHERE,
    run: onRoute((route, routes) => toggle(route, "enable", routes)),
  },
  {
    name: "route:disable",
    summary: "switch a route off and keep it",
    arguments: [ROUTE],
    places: EVERYWHERE,
    run: onRoute((route, routes) => toggle(route, "disable", routes)),
  },
];

export const subject: Subject = {
  name: "route",
  summary: "name models: '@NAME …' uses one for a single turn; several give failover",
  heading: "Models, keys and costs",
  specs: COMMANDS,
  shell: {
    about: "A route is a name for a model, or for several models that Oxbow tries in order.",
    more: `Use one for a single turn:  oxbow run "@fast summarise this"
Use one for everything:     oxbow --model @main "PROMPT", or model = "@main" in config.toml`,
  },
};

export function routeCommands(routes: Routes): readonly Command[] {
  return withPort(COMMANDS, () => routes);
}

function onRoute(
  action: (route: Route, routes: Routes, context: CommandContext) => Promise<CommandResult>,
): CommandOf<Routes>["run"] {
  return async (args, routes, context) => {
    const name = bareName(args);
    const known = (await routes.list()).routes;
    const route = known.find((each) => each.name === name);
    return route === undefined ? refuse(unknown(name, known, context)) : action(route, routes, context);
  };
}

function bareName(args: CommandArguments): string {
  return (args.text("NAME") ?? "").replace(/^@/, "");
}

async function list(routes: Routes, context: CommandContext): Promise<CommandResult> {
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

async function add(args: CommandArguments, routes: Routes, context: CommandContext): Promise<CommandResult> {
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

async function remove({ name, origin }: Route, routes: Routes, context: CommandContext): Promise<CommandResult> {
  if (origin === "profile")
    return refuse(`@${name} is in the profile: remove it there, or ${spell("route:disable", context)} ${name}.`);
  await routes.change((own) => {
    const { [name]: _gone, ...rest } = own.routes;
    return { routes: rest, disabled: own.disabled.filter((each) => each !== name) };
  });
  return { text: `Removed @${name}.`, value: { name, removed: true } };
}

async function toggle({ name }: Route, verb: "enable" | "disable", routes: Routes): Promise<CommandResult> {
  await routes.change((own) => {
    const others = own.disabled.filter((each) => each !== name);
    return { ...own, disabled: verb === "enable" ? others : [...others, name] };
  });
  const isOn = (await routes.list()).routes.some((route) => route.name === name && route.enabled);
  if (verb === "enable" && !isOn) return refuse(`@${name} is off in the profile (enabled = false): change it there.`);
  return { text: `@${name} is ${isOn ? "on" : "off"}.`, value: { name, enabled: isOn } };
}

function unknown(name: string, known: readonly Route[], context: CommandContext): string {
  const names = known.map((route) => route.name);
  const near = nearest(name, names);
  const advice = near === undefined ? `${spell("route:list", context)} shows them.` : `Did you mean @${near}?`;
  return `There is no route @${name}. ${advice}`;
}
