import { UsageError } from "../../../base/usage-error.js";
import { named, type SessionAction } from "./port.js";

/** The client continues with the session. */
export const resume: SessionAction = async (args, { store, current }) => {
  const typed = args.text("ID");
  if (typed === undefined) throw new UsageError("Which session? Give its id, or a part of it. /sessions lists them.");
  const { id, title } = await named(typed, { store });
  if (id === current) throw new UsageError("You are in this session already.");
  return { text: `Resumed: ${title ?? id}`, value: { id }, follow: { resume: id } };
};
