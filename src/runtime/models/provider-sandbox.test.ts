/** Providers of a project: real programs in the real sandbox, behind a proxy of this machine. */

import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { survivors } from "../../../test/support/survivors.js";
import { verifies } from "../../../test/verifies.js";
import { RUN_FLAGS } from "../../cli/commands/run-flags.js";
import { parseFlags } from "../../feature/flags.js";
import { loadSettings } from "../settings/settings.js";
import { createModelRegistry } from "./model-registry.js";
import { containProviders } from "./provider-sandbox.js";

type Contain = ReturnType<typeof containProviders>;

let base: string;
let proxy: Server;
const asked: string[] = [];

beforeAll(async () => {
  base = realpathSync(mkdtempSync("/var/tmp/provider-sandbox-"));
  proxy = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} key=${request.headers["x-key"]}`);
    request.resume().on("end", () => response.end('{"content": "from the service"}'));
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  proxy.close();
  rmSync(base, { recursive: true, force: true });
});

interface Asked {
  readonly call: string;
  readonly hosts?: string;
  /** Changes the containment. */
  readonly around?: (contain: Contain) => Contain;
}

/** The shape of the bash provider that reads a payload and prints the raw answer; `call` is what it does with it. */
async function ask(name: string, { call, hosts = "", around = (contain) => contain }: Asked) {
  const [home, root] = [join(base, "home"), join(base, "project")];
  const programs = join(home, "oxbow/data/programs", name);
  for (const folder of [root, programs, join(home, ".config")]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(root, "source.txt"), "content of the workspace");
  const file = join(programs, name);
  writeFileSync(
    file,
    `#!/bin/bash
case "$1" in
  --describe) echo "A provider of a project" ;;
  --ready) exit 0 ;;
  --defaults) echo "model=small"; ${hosts} ;;
  --env) echo "${name.toUpperCase()}_KEY the key" ;;
  *) ${call} ;;
esac
`,
  );
  chmodSync(file, 0o755);
  const variables = {
    PATH: process.env.PATH,
    HOME: home,
    OXBOW_HOME: join(home, "oxbow"),
    ACME_KEY: "own",
    OTHER_KEY: "of another",
    HTTP_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
  };
  const loaded = await loadSettings(parseFlags(RUN_FLAGS, ["--sandbox", "required"], "run"), variables);
  const contain = around(containProviders({ loaded, variables, root, notify: () => {} }));
  const registry = createModelRegistry({ variables, roots: loaded.roots, ofProject: async () => [file], contain });
  const { model, failure } = await registry.choose({ provider: name });
  if (failure !== undefined) return failure.message;
  const said: string[] = [];
  const request = { model: "small", system: "", tools: [], messages: [], cacheKey: "s" };
  for await (const events of model.stream(request as never, { signal: new AbortController().signal, model })) {
    for (const event of events)
      said.push(event.type === "text" ? event.text : event.type === "failure" ? event.failure.message : "");
  }
  return said.join("");
}

needs("sandbox").describe("a provider of a project", () => {
  verifies(["E2", "P8", "P14"], "reaches the hosts that it declares, and no others", async () => {
    const curl = (host: string) =>
      `curl -sS --fail-with-body --max-time 5 http://${host}/v1 -H "x-key: $ACME_KEY$OTHER_KEY" -d @- || exit 1`;
    const hosts = "echo hosts=model.acme.invalid";
    expect(await ask("acme", { call: curl("model.acme.invalid"), hosts })).toBe("from the service");
    expect(asked).toEqual(["POST http://model.acme.invalid/v1 key=own"]);
    expect(await ask("acme", { call: curl("elsewhere.invalid"), hosts })).toMatch(/elsewhere\.invalid was refused/);
    expect(await ask("acme", { call: curl("model.acme.invalid") })).toMatch(/curl: \(\d+\)/);
    expect(asked).toHaveLength(1);
  });

  it("may declare only hosts that its file names, so the person has seen them", async () => {
    const hosts = 'echo "hosts=$(printf evil).invalid"';
    expect(await ask("acme", { call: "echo hi", hosts })).toMatch(
      /wants to reach evil\.invalid, but its file does not/,
    );
  });

  verifies(["P8"], "sees neither the workspace nor the home folder, and leaves nothing behind", async () => {
    const [nap, home] = [`provider-nap-${process.pid}`, join(base, "home")];
    const call = `cat > /dev/null
      cat ${base}/project/source.txt && echo SEEN
      ls ${home}/.config && echo SEEN
      echo x > ${home}/left; echo x > ${base}/project/left; echo x > ${base}/left
      echo x > "$0" && echo CHANGED
      setsid nohup bash -c 'trap "" TERM HUP; exec -a ${nap} sleep 60' > /dev/null 2>&1 &
      echo done`;
    expect(await ask("acme", { call: `{ ${call}; } 2>/dev/null` })).toBe("done");
    for (const place of ["home", "project", "."]) expect(existsSync(join(base, place, "left"))).toBe(false);
    expect(survivors(nap)).toEqual([]);
  });
});
