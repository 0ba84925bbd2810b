/** Writes down the raw model traffic of a session while it is on. Until then this is one comparison for each request. */
import { DEBUG_RAW } from "../../commands/catalogue/security.js";
import type { CommandAnswer, CommandArguments } from "../../commands/command.js";
import type { RawTraffic } from "../raw-traffic.js";
import type { CreateBuiltIn } from "./built-in.js";

export const rawTraffic: CreateBuiltIn = ({ engine, session }) => {
  let opened: Promise<RawTraffic> | undefined;
  let isOn = engine.writesTraffic === true;
  const open = () => {
    opened ??= import("../raw-traffic.js").then(async ({ RawTraffic }) => {
      const traffic = new RawTraffic({ roots: engine.loaded.roots, session, key: await engine.sessions.key() });
      engine.notify(`The raw model traffic goes to ${traffic.file}; 'oxbow debug show ${session}' reads it.`);
      return traffic;
    });
    return opened;
  };
  const change = async (args: CommandArguments): Promise<CommandAnswer> => {
    const wanted = args.text("STATE");
    if (wanted !== undefined) isOn = wanted === "on";
    const reads = `'oxbow debug show ${session}' reads it.`;
    const state = isOn ? "is written down, unredacted and encrypted" : "is not written down";
    return { text: `The raw model traffic of this session ${state}. ${reads}`, value: { raw: isOn } };
  };
  return {
    name: "raw-traffic",
    links: {
      request: [
        {
          name: "96-raw-traffic",
          run: async (request, context, next) => {
            if (!isOn) return next(request);
            const traffic = await open();
            return next(request, { ...context, trace: (record) => traffic.write(record) });
          },
        },
      ],
    },
    commands: [{ ...DEBUG_RAW, run: change }],
  };
};
