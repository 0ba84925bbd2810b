import { attempts } from "../../providers/retry/attempts.js";
import type { CreateRequestLink } from "../services.js";

/** A call that fails for a while is made again; the answer is told once, however many attempts it takes. */
export const create: CreateRequestLink =
  ({ retry }) =>
  async (request, context, next) => {
    if (retry === undefined) return next(request);
    const { model, signal } = context;
    return attempts({ provider: model.provider, signal, open: () => next(request) }, retry);
  };
