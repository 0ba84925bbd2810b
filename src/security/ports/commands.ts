/** `/ports`: the ports that listen in the sandbox of this session, and the way to them for programs of the user. */
import { asValue, type CommandOf, IN_SESSION, refuse, type Subject } from "../../feature/command.js";
import type { SessionPorts } from "./session-ports.js";

const PORT = [{ name: "PORT", kind: "number" }] as const;

export const PORT_COMMANDS: readonly CommandOf<SessionPorts>[] = [
  {
    name: "ports:list",
    aliases: ["ports"],
    summary: "show the ports that listen in this session, and which are open (the default)",
    reaches: "session",
    places: IN_SESSION,
    run: (_args, ports) => listed(ports),
  },
  {
    name: "ports:open",
    summary: "let your programs reach a port of this session at 127.0.0.1",
    arguments: PORT,
    places: IN_SESSION,
    run: async (args, ports) => {
      try {
        const opened = await ports.open(args.number("PORT") ?? 0);
        const other = opened.at === opened.port ? "" : ` (port ${opened.port} of this machine is taken)`;
        const text = `http://127.0.0.1:${opened.at} leads to port ${opened.port} of this session${other}, until the session ends.`;
        return { text, value: { ...opened } };
      } catch (error) {
        if (error instanceof Error && error.name === "PortError") return refuse(error.message);
        throw error;
      }
    },
  },
  {
    name: "ports:close",
    summary: "close a port that you opened",
    arguments: PORT,
    places: IN_SESSION,
    run: (args, ports) => {
      const port = args.number("PORT") ?? 0;
      return ports.close(port)
        ? { text: `Port ${port} is closed.`, value: { closed: port } }
        : refuse(`Port ${port} is not open. /ports lists them.`);
    },
  },
];

export const subject: Subject = {
  name: "ports",
  summary: "show and open ports that commands of this session listen on",
  heading: "Permissions",
  specs: PORT_COMMANDS,
};

async function listed(ports: SessionPorts) {
  const listening = (await ports.listening()).map(({ port }) => port);
  const opened = ports.opened();
  const closed = listening.filter((port) => !opened.some((each) => each.port === port));
  const lines = [
    ...opened.map(
      ({ port, at }) =>
        `${port}: open at http://127.0.0.1:${at}${listening.includes(port) ? "" : ", nothing listens now"}`,
    ),
    ...closed.map((port) => `${port}: listens; /ports open ${port} lets your programs reach it`),
  ];
  return {
    text: lines.join("\n") || "No port listens in this session.",
    value: asValue({ listening, open: opened }),
  };
}
