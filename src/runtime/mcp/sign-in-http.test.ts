import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { signInHttp } from "../../cli/commands/mcp.js";

const OPTIONS = { variables: {}, webHosts: [], webNames: "check" } as const;

verifies(["E6"], "a server cannot name addresses of private networks for its sign-in", async () => {
  const http = signInHttp({ ...OPTIONS, url: "https://mcp.example.com/mcp" });
  const ask = (url: string) => http.request({ method: "GET", url });
  const inside = ["https://127.0.0.1:1/", "https://localhost/", "https://169.254.169.254/", "https://10.0.0.5/"];
  for (const url of [
    ...inside,
    "https://[::1]/",
    "https://[::ffff:10.0.0.5]/",
    "https://0x7f.1/",
    "https://x.internal/",
  ])
    await expect(ask(url), url).rejects.toThrow(/which is refused: .*web_hosts/);
  for (const url of ["http://login.example.com/token", "http://169.254.169.254/", "http://mcp.example.com/token"])
    await expect(ask(url), url).rejects.toThrow("which is not encrypted");
  await expect(ask("file:///etc/passwd")).rejects.toThrow();
  http.close();
});

verifies(["E6"], "a server on this machine signs in on this machine", async () => {
  const server = createServer((_request, response) => response.end("ok"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const http = signInHttp({ ...OPTIONS, url: "http://localhost:9/mcp" });
  const { status } = await http.request({ method: "GET", url: `http://127.0.0.1:${port}/` });
  expect(status).toBe(200);
  await expect(http.request({ method: "GET", url: "https://169.254.169.254/" })).rejects.toThrow("which is refused");
  http.close();
  server.close();
  server.closeAllConnections();
});
