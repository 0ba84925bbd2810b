/** The models of a route and of its rules as one list, so that a model that fails rests for all rules. */

import type { RoutingOptions } from "./routing-model.js";
import { type RouteRule, routedCall } from "./rules.js";

export function memberPlaces(
  models: readonly string[],
  rules: readonly RouteRule[],
): { readonly all: readonly string[] } & Pick<RoutingOptions, "choose" | "deciding"> {
  if (rules.length === 0) return { all: models };
  const all = [...new Set([...models, ...rules.flatMap((rule) => rule.models)])];
  const placesOf = (names: readonly string[]) => [...new Set(names)].map((name) => all.indexOf(name));
  const forLong = rules.filter(({ isForLong }) => isForLong).flatMap((rule) => rule.models);
  return {
    all,
    choose: (request, context) => {
      const call = routedCall(request, context);
      const rule = rules.find((each) => each.matches(call));
      return { rule: rule?.name ?? "default", members: placesOf([...(rule?.models ?? []), ...models]) };
    },
    // A conversation may grow until the model for long ones is full.
    ...(forLong.length > 0 && { deciding: placesOf(forLong) }),
  };
}
