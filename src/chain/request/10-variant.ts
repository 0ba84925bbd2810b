import type { CreateRequestLink } from "../services.js";

/** Adds the text of the session's prompt variant. Work beside the conversation, such as a summary, goes without. */
export const create: CreateRequestLink =
  ({ promptVariant }) =>
  async (request, context, next) => {
    if (promptVariant === undefined || promptVariant === "" || context.facts === undefined) return next(request);
    return next({ ...request, system: [request.system, promptVariant].filter((part) => part !== "").join("\n\n") });
  };
