import type { CreateRequestLink } from "../services.js";

export const create: CreateRequestLink = (services) => async (request, context, next) => {
  services.log("debug", `provider.${context.model.provider}`, "request", {
    model: request.model,
    messages: request.messages.length,
    tools: request.tools.length,
  });
  return next(request);
};
