/** Refuses unknown options: a mistyped limit would have no effect. */
import { nearest } from "../base/nearest.js";
import { invalid } from "./errors.js";

/** `known` has every name of the type, which the compiler checks. */
export function refuseUnknown<T extends object>(
  what: string,
  given: T,
  known: Readonly<Record<keyof T & string, true>>,
): void {
  const names = Object.keys(known);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const near = nearest(unknown, names);
  const advice = near === undefined ? `There are ${names.join(", ")}.` : `Did you mean ${near}?`;
  throw invalid(`${what} has no option "${unknown}". ${advice}`);
}
