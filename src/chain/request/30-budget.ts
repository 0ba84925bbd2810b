import type { CreateRequestLink } from "../services.js";

/** Reserves from the budgets before the call and charges them after it. Without a budget it loads nothing. */
export const create: CreateRequestLink =
  ({ costs }) =>
  async (request, context, next) => {
    const budget = costs?.callBudget();
    if (costs === undefined || budget === undefined) return next(request);
    const { payForCall } = await import("../pay-for-call.js");
    return payForCall(request, context, { costs, budget: await budget, next });
  };
