/** Writes down the raw model traffic of a session while it is on. Until then this is one comparison for each request. */
import {
  type CommandAnswer,
  type CommandArguments,
  type CommandSpec,
  IN_SESSION,
  type Subject,
} from "../../feature/command.js";
import type { FeatureContext, SessionPart } from "../../feature/part.js";
import type { RawTraffic } from "./traffic.js";

const DEBUG_RAW: CommandSpec = {
  name: "debug:raw",
  summary: "write the raw model traffic of this session to an encrypted file, unredacted, or stop it",
  arguments: [{ name: "STATE", kind: "choice", optional: true, complete: ["on", "off"] }],
  places: IN_SESSION,
};

export const subject: Subject = {
  name: "debug",
  summary: "'debug --raw PROMPT' runs a prompt and writes the raw model traffic to an encrypted file",
  heading: "Engine",
  specs: [DEBUG_RAW],
};

/** `isOn`: from the first request on. */
export function rawTraffic({ roots, session, notify, key }: FeatureContext, isOnAtStart = false): SessionPart {
  let opened: Promise<RawTraffic> | undefined;
  let isOn = isOnAtStart;
  const open = () => {
    opened ??= import("./traffic.js").then(async ({ RawTraffic, keyPurpose }) => {
      const traffic = new RawTraffic({ roots, session, key: await key(keyPurpose(session)) });
      notify(`The raw model traffic goes to ${traffic.file}; 'oxbow debug show ${session}' reads it.`);
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
}
