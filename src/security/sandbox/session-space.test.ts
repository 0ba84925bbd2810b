/** The commands of one session share a `/tmp` and a localhost; those of another one, or with a network of their own, do not. */
import { existsSync } from "node:fs";
import { rename, symlink } from "node:fs/promises";
import { afterEach, beforeEach, expect } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { until } from "../../../test/support/waiting.js";
import { SandboxTestbed } from "./sandbox-testbed.js";
import { SessionSpace } from "./session-space.js";

const SERVER = `node -e 'const s = require("net").createServer((c) => c.end("served\\n")).listen(0, "127.0.0.1", () => console.log("up " + s.address().port))'`;
const ask = (port: string) =>
  `node -e 'require("net").connect(${port}, "127.0.0.1").on("error", (e) => console.log(e.code)).pipe(process.stdout)'`;

let bed: SandboxTestbed;
let space: SessionSpace;

beforeEach(() => {
  bed = new SandboxTestbed();
  space = new SessionSpace();
});

afterEach(async () => {
  await bed.close();
  await space.close();
});

const { it } = needs("sandbox");

it("keeps /tmp from one command to the next, also with an open network", async () => {
  expect(await bed.inside("echo kept > /tmp/note; mkdir /tmp/dir", { sandbox: { space } })).toMatchObject({ code: 0 });
  expect((await bed.inside("cat /tmp/note; ls /tmp", { sandbox: { space } })).output).toMatch(/^kept\ndir/);
  const open = await bed.inside("cat /tmp/note", { sandbox: { space }, policy: { network: "open" } });
  expect(open.output).toBe("kept");
  expect(existsSync("/tmp/note")).toBe(false);
});

it("shares nothing with another session", async () => {
  const other = new SessionSpace();
  await bed.inside("echo mine > /tmp/note", { sandbox: { space } });
  const ran = await bed.inside("cat /tmp/note", { sandbox: { space: other } });
  await other.close();
  expect(ran.output).toContain("No such file");
});

it("lets a later command reach a server that an earlier one left in the background", async () => {
  const wrapped = await bed.wrap(SERVER, { sandbox: { space } });
  let output = "";
  const server = await bed.start(wrapped, (chunk) => {
    output += chunk.toString();
  });
  await until(() => /up \d+\n/.test(output));
  const request = ask(/\d+/.exec(output)?.[0] ?? "");
  expect((await bed.inside(request, { sandbox: { space } })).output).toBe("served");
  expect((await bed.inside(request)).output).toBe("ECONNREFUSED");
  const open = await bed.inside(request, { sandbox: { space }, policy: { network: "open" } });
  expect(open.output).toBe("ECONNREFUSED");
  await server.stop();
  await wrapped.ended();
});

it("reaches nothing outside", async () => {
  const ran = await bed.inside("ls /sys/class/net 2>/dev/null; cat /proc/net/dev | grep -c :", { sandbox: { space } });
  expect(ran.output.split("\n").at(-1)).toBe("1");
});

it("keeps a command from replacing the folder that its workspace is mounted on", async () => {
  const [, , first = ""] = bed.workspace.split("/");
  const swap = `rm -rf /tmp/${first} 2>&1; mv /tmp/${first} /tmp/moved 2>&1; ln -s /etc /tmp/${first} 2>&1; echo done > ${bed.workspace}/here`;
  await bed.inside(swap, { sandbox: { space } });
  const ran = await bed.inside(`cat ${bed.workspace}/here`, { sandbox: { space } });
  expect(ran.output).toBe("done");
});

it("never mounts what took the place of the folder", async () => {
  await bed.inside("echo mine > /tmp/note", { sandbox: { space } });
  const folder = space.temporaryFolder() ?? "";
  await rename(folder, `${folder}-moved`);
  await symlink("/etc", folder);
  expect(space.temporaryFolder()).toBeUndefined();
  const ran = await bed.inside("ls -a /tmp; cat /tmp/passwd", { sandbox: { space } });
  expect(ran.output).not.toContain("root:");
  expect(ran.output).toContain("No such file");
});

it("leaves neither a process nor a folder behind", async () => {
  await bed.inside("true", { sandbox: { space } });
  const joined = await space.join({
    ...{ bubblewrap: "bwrap", path: "/usr/bin:/bin", workspace: bed.workspace },
    ...{ mounts: [], network: "shared" as const, folder: bed.state },
  });
  expect(joined).toBeDefined();
  await space.close();
  expect(existsSync(joined?.temporary ?? "/")).toBe(false);
  await until(() => !existsSync(`/proc/${joined?.words[3]}`));
});
