/** A server before a service that adds the token, for clients by others that cannot send one. Hosts and origins of strangers pass as they are. */
import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";

export async function withToken(target: URL, token: string): Promise<{ readonly url: URL; close(): void }> {
  const server = createServer((request, response) => {
    const own = `:${(server.address() as AddressInfo).port}`;
    const renamed = (value: string | undefined) => value?.replace(new RegExp(`${own}$`), `:${target.port}`);
    const { host, origin, ...headers } = request.headers;
    const passed = { host: renamed(host), ...(origin !== undefined && { origin: renamed(origin) }) };
    const forwarded = send(
      new URL(request.url ?? "/", target),
      { method: request.method, headers: { ...headers, ...passed, "x-oxbow-token": token } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      },
    );
    forwarded.on("error", () => response.destroy());
    response.on("close", () => forwarded.destroy());
    request.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(target.pathname, `http://127.0.0.1:${port}`),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
