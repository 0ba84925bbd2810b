import { schemaProblems } from "../../base/json-schema.js";
import { ownText } from "../../protocol/content.js";
import type { CreateToolLink } from "../services.js";

/** Checks arguments first; the model reads which field was wrong and why. */
export const create: CreateToolLink = () => async (call, context, next) => {
  const { definition } = context;
  const { canonical, inputSchema } = definition;
  const args = (await canonical?.(call.args)) ?? call.args;
  const problems = (await definition.check?.(args)) ?? schemaProblems(inputSchema, args);
  if (problems.length === 0) return next(args === call.args ? call : { ...call, args });
  return { status: "error", content: [ownText(`Not run: ${problems.join("; ")}.`)] };
};
