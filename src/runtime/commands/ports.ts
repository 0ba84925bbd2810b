/** `/ports`: the ports that listen in the sandbox of this session, and the way to them for programs of the user. */
import { PORTS_CLOSE, PORTS_LIST, PORTS_OPEN } from "../../commands/catalogue/security.js";
import { asValue, type Command, refuse } from "../../commands/command.js";
import type { SessionPorts } from "../../security/sandbox/session-ports.js";

export function portCommands(ports: () => Promise<SessionPorts>): readonly Command[] {
  return [
    { ...PORTS_LIST, run: async () => listed(await ports()) },
    {
      ...PORTS_OPEN,
      run: async (args) => {
        try {
          const opened = await (await ports()).open(args.number("PORT") ?? 0);
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
      ...PORTS_CLOSE,
      run: async (args) => {
        const port = args.number("PORT") ?? 0;
        return (await ports()).close(port)
          ? { text: `Port ${port} is closed.`, value: { closed: port } }
          : refuse(`Port ${port} is not open. /ports lists them.`);
      },
    },
  ];
}

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
