/** `/record` (feature S8). */
import { failure } from "../protocol/errors.js";
import type { SlashCommand } from "./registry.js";

export const record: SlashCommand = {
  name: "record",
  usage: "/record start [FILE] | stop | status",
  summary: "write the session to a Markdown file as it goes on",
  run: (args, { recording }) => {
    const [, verb = "", rest = ""] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(args) ?? [];
    if (verb === "start") return recording.start(rest === "" ? undefined : rest);
    if (verb === "stop") return recording.stop();
    if (verb === "status" || verb === "") return { text: recording.status() };
    return {
      failure: failure("InvalidInput", { detail: "Say /record start [FILE], /record stop or /record status." }),
    };
  },
};
