/** Who uses this terminal. */
import type { Variables } from "../../base/variables.js";
import { isAgent, isInsideEngine } from "../../system/model-ancestors.js";
import { personPresent } from "../terminal-io.js";

/** A command of a model can make a terminal of its own, and remove the variable that marks it. */
export function ownRights(variables: Variables): { readonly identity: "human" | "agent"; readonly canAnswer: boolean } {
  const isHere = personPresent();
  const identity = (isHere ? isInsideEngine(variables) : isAgent(variables)) ? "agent" : "human";
  return { identity, canAnswer: isHere && identity === "human" };
}
