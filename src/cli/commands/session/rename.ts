import { UsageError } from "../../../base/usage-error.js";
import { EXIT } from "../../exit-codes.js";
import type { SessionAction } from "./session-action.js";

export const action: SessionAction = {
  flags: [],
  async run(flags, sessions) {
    const { id } = await sessions.named(flags);
    const title = flags.words.slice(1).join(" ").trim();
    if (title === "") throw new UsageError("Give the new title: oxbow session rename ID TITLE");
    await sessions.store.update(id, { title });
    sessions.print(flags, { id, title }, () => `${id} is now '${title}'.`);
    return EXIT.answered;
  },
};
