/** The built program behind a proxy made by others, with TLS that only this network's authority vouches for. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { reply, script, startMockModel } from "../../src/testkit/index.js";
import { openCompanyNetwork } from "../support/company-network.js";
import { needs } from "../support/needs.js";
import { oxbowProcess, type ProgramOptions, sampleKey, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const HOST = "api.oxbow.test";
const LOGIN = { user: "me", password: ["pass", "word", "4711"].join("") };

async function setUp(more: { readonly tunnelPort?: number } = {}) {
  const mock = await startMockModel({ script: "reply\n  text: Hello.\n".repeat(4) });
  onTestFinished(() => mock.close());
  const names = [HOST, "github.com"];
  const network = await openCompanyNetwork({ origin: mock.url, names, login: LOGIN, ...more });
  const home = await temporaryFolder();
  const proxy = `http://${LOGIN.user}:${LOGIN.password}@${network.proxy}`;
  const env: Record<string, string> = {
    OXBOW_HOME: home,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    SSL_CERT_FILE: network.authority,
    OPENAI_API_KEY: sampleKey(),
    OPENAI_BASE_URL: `https://${HOST}/v1`,
  };
  const run = async (args: readonly string[], { env: more, ...options }: ProgramOptions = {}) => {
    const result = await oxbowProcess(args, { ...options, env: { ...env, ...more } });
    expect(result.stdout + result.stderr).not.toContain(LOGIN.password);
    return result;
  };
  return { mock, network, home, run };
}

async function texts(folder: string): Promise<string> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const read = files
    .filter((file) => file.isFile())
    .map((file) => readFile(join(file.parentPath, file.name), "latin1"));
  return (await Promise.all(read)).join("\n");
}

const HELLO = ["--model", "openai:small", "say hello"];

needs("openssl").describe("behind a proxy", () => {
  verifies(["M1"], "model requests go through it, over TLS and without, and to this machine directly", async () => {
    const { mock, network, home, run } = await setUp();
    expect(await run(HELLO)).toMatchObject({ stdout: "Hello.\n", stderr: "", code: 0 });
    expect(network.passed).toEqual([`CONNECT ${HOST}:443`]);
    const plain = `http://${HOST}/v1`;
    expect(await run(HELLO, { env: { OPENAI_BASE_URL: plain } })).toMatchObject({ stdout: "Hello.\n", code: 0 });
    expect(network.passed.slice(1)).toEqual([`POST ${plain}/chat/completions`]);
    const own = await run(HELLO, { env: { OPENAI_BASE_URL: `${mock.url}/v1` } });
    expect(own).toMatchObject({ stdout: "Hello.\n", code: 0 });
    expect(network.passed).toHaveLength(2);
    expect(mock.requests.map(({ headers }) => headers["proxy-authorization"])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(await texts(home)).not.toContain(LOGIN.password);
  });

  verifies(["M12"], "the credential helper uses it, and a sign-in and the catalogue do", async () => {
    const { network, home, run } = await setUp();
    onTestFinished(async () => void (await run(["auth", "lock"], { cwd: home })));
    const none = { OPENAI_API_KEY: "", OPENAI_BASE_URL: `https://${HOST}/v1` };
    const set = ["auth", "set", "openai", "--stdin", "--base-url", none.OPENAI_BASE_URL];
    expect((await run(set, { input: sampleKey(), env: none })).code).toBe(0);
    expect(await run(HELLO, { env: none })).toMatchObject({ stdout: "Hello.\n", code: 0 });
    expect(network.passed.at(-1)).toBe(`CONNECT ${HOST}:443`);
    const refused = await run(HELLO, { env: { ...none, HTTPS_PROXY: `http://${network.proxy}` } });
    expect(refused.stderr).toContain(`the proxy http://${network.proxy} requires a user name and a password (407)`);

    const signIn = await run(["auth", "set", "copilot", "--yes", "--no-browser"]);
    expect(network.passed.at(-1)).toBe("CONNECT github.com:443");
    expect(signIn.stderr).toContain("github.com");
    const refresh = await run(["models", "--refresh"], { env: { OXBOW_CATALOGUE_URL: `https://${HOST}/list.json` } });
    expect(refresh.stderr).toContain(HOST);
    expect(network.passed.at(-1)).toBe(`CONNECT ${HOST}:443`);
    expect(await texts(home)).not.toContain(LOGIN.password);
  });

  verifies(["O5"], "its refusals are reported with its name and without its password", async () => {
    const { network, run } = await setUp({ tunnelPort: 443 });
    const shown = `http://${network.proxy}`;
    const failing = async (env: Record<string, string>) => {
      const { stderr, code } = await run(HELLO, { env });
      expect(code).not.toBe(0);
      return stderr;
    };
    const wrong = `http://${LOGIN.user}:other@${network.proxy}`;
    expect(await failing({ HTTPS_PROXY: wrong })).toContain(`the proxy ${shown} does not accept the user name`);
    expect(await failing({ http_proxy: shown, OPENAI_BASE_URL: `http://${HOST}/v1` })).toContain(
      "requires a user name",
    );
    expect(await failing({ OPENAI_BASE_URL: `https://${HOST}:8443/v1` })).toContain(
      `the proxy ${shown} does not allow connections to ${HOST}:8443 (403`,
    );
    expect(await failing({ HTTPS_PROXY: "http://a:b@127.0.0.1:9" })).toContain(
      "the proxy http://127.0.0.1:9: connection refused",
    );
    expect(await failing({ HTTPS_PROXY: "socks5://127.0.0.1:9" })).toContain("HTTPS_PROXY names a socks5 proxy");
    expect(await failing({ SSL_CERT_FILE: "" })).toMatch(/certificate was not accepted .*ca_file/);
    const doctor = await run(["doctor"]);
    expect(doctor.stdout).toContain(`https through ${shown} (HTTPS_PROXY)`);
  });

  verifies(["U10"], "settings and NODE_EXTRA_CA_CERTS do the same", async () => {
    const { network, home, run } = await setUp();
    const unset = { HTTPS_PROXY: "", http_proxy: "", SSL_CERT_FILE: "" };
    const proxy = `http://${LOGIN.user}:${LOGIN.password}@${network.proxy}`;
    await mkdir(join(home, "config"));
    const profile = `proxy = "${proxy}"\nca_file = "${network.authority}"\nno_proxy = "other.test"\n`;
    await writeFile(join(home, "config", "config.toml"), profile);
    expect(await run(HELLO, { env: unset })).toMatchObject({ stdout: "Hello.\n", code: 0 });
    expect((await run(["config", "show"], { env: unset })).stdout).toContain(`http://${network.proxy}`);
    await writeFile(join(home, "config", "config.toml"), `proxy = "${proxy}"\n`);
    const env = { ...unset, NODE_EXTRA_CA_CERTS: network.authority };
    expect(await run(HELLO, { env })).toMatchObject({ stdout: "Hello.\n", code: 0 });
    expect(network.passed).toHaveLength(2);
  });
});

describe("behind a proxy without TLS", () => {
  verifies(["T8"], "web_fetch checks a name before the proxy gets it", async () => {
    const page = createServer((_request, response) => response.setHeader("content-type", "text/plain").end("A page."));
    await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void page.close());
    const urls = ["http://10.1.2.3/", "http://nowhere.oxbow-docs.net/", "http://metadata.google.internal/"];
    const calls = urls.map((url) => reply().tool("web_fetch", { url }));
    const mock = await startMockModel({
      script: script([...calls, reply().text("Done."), ...calls, reply().text("Done.")]),
    });
    onTestFinished(() => mock.close());
    const origin = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
    const network = await openCompanyNetwork({ origin });
    const home = await temporaryFolder();
    const env = {
      OXBOW_HOME: home,
      ALL_PROXY: network.proxy,
      OPENAI_API_KEY: sampleKey(),
      OPENAI_BASE_URL: `${mock.url}/v1`,
    };
    const results = async () => {
      const { stdout } = await oxbowProcess(
        ["--permission-mode", "allow", "--output-format", "stream-json", ...HELLO],
        {
          env,
        },
      );
      return stdout;
    };
    const checked = await results();
    expect(network.passed).toEqual([]);
    expect(checked).toContain("web_names");
    await mkdir(join(home, "config"), { recursive: true });
    await writeFile(join(home, "config", "config.toml"), 'web_names = "proxy"\n');
    expect(await results()).toContain("A page.");
    expect(network.passed).toEqual(["GET http://nowhere.oxbow-docs.net/"]);
  });
});
