import type { CreateRequestLink } from "../services.js";

/** Asks the budgets before the call and settles with them after it. Runs without a budget load nothing for it. */
export const create: CreateRequestLink =
  ({ costs }) =>
  async (request, context, next) => {
    const budget = costs?.callBudget();
    if (costs === undefined || budget === undefined) return next(request);
    const { payForCall } = await import("../pay-for-call.js");
    return payForCall(request, context, { costs, budget: await budget, next });
  };
