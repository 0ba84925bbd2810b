import { UsageError } from "../../../base/usage-error.js";
import { named, type SessionAction } from "./port.js";

export const rename: SessionAction = async (args, port) => {
  const { id } = await named(args.text("ID"), port);
  const title = args.text("TITLE")?.trim() ?? "";
  if (title === "") throw new UsageError("Give the new title: oxbow session rename ID TITLE");
  await port.store.update(id, { title });
  return { text: `${id} is now '${title}'.`, value: { id, title } };
};
