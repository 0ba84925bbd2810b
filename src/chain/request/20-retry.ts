import { attempts } from "../../providers/retry/attempts.js";
import type { CreateRequestLink } from "../services.js";

/** Retries a failing call. The answer appears once, however many attempts it takes. */
export const create: CreateRequestLink =
  ({ retry }) =>
  async (request, context, next) => {
    if (retry === undefined) return next(request);
    const { model, signal } = context;
    return attempts({ provider: model.provider, signal, open: () => next(request) }, retry);
  };
