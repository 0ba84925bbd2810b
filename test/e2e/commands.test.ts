import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { COMMANDS } from "../../src/cli/command-table.js";
import { RUN_FLAGS } from "../../src/cli/commands/run-flags.js";
import { KNOWN_VARIABLES } from "../../src/cli/known-variables.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { approve } from "../support/approve.js";
import { oxbow, oxbowProcess, providerEnvironment, sampleKey, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const mocks: MockModel[] = [];
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
});

describe("commands", () => {
  verifies(["U10"], "help names every command and flag, and each command has its own help", async () => {
    for (const args of [["help"], ["--help"], ["-h"]]) {
      const { stdout, code } = await oxbow(args);
      expect(code).toBe(0);
      for (const command of COMMANDS) expect(stdout).toContain(`  ${command.name}`);
      for (const { name, hidden } of RUN_FLAGS) expect(stdout.includes(`--${name}`), name).toBe(hidden !== true);
    }
    for (const name of ["run", "models", "tools", "config", "doctor", "debug", "mock-model"]) {
      const { stdout, code } = await oxbow([name, "--help"]);
      expect(stdout, name).toMatch(/usage/i);
      expect(code, name).toBe(0);
    }
  });

  verifies(["U1"], "help shows what it finds in the folders of this place", async () => {
    const cwd = await temporaryFolder();
    const home = await temporaryFolder();
    for (const [path, text] of [
      [join(cwd, ".oxbow/tools/lint-check"), "#!/bin/sh\n"],
      [join(cwd, ".oxbow/commands/deploy"), "#!/bin/sh\n"],
      [join(cwd, ".oxbow/skills/greet/SKILL.md"), "---\nname: greet\ndescription: Greets.\n---\nHello.\n"],
      [join(home, "config/tools/own"), "#!/bin/sh\n"],
    ] as const) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text, { mode: 0o755 });
    }
    const { stdout } = await oxbow(["help"], { cwd, env: { OXBOW_HOME: home } });
    const found = stdout.slice(stdout.indexOf("Found here"));
    expect(found).toMatch(/^ {2}tool +own +\(waits for your approval\)\n +lint-check/m);
    expect(found).toMatch(/^ {2}command +deploy +\(waits/m);
    expect(found).toMatch(/^ {2}skill +greet +\(waits/m);
    expect((await oxbow(["help"], { env: { OXBOW_HOME: await temporaryFolder() } })).stdout).not.toContain(
      "Found here",
    );
  });

  verifies(
    ["U1", "E1"],
    "help shows what approved extensions say about themselves, and which built-in commands they replace",
    async () => {
      const [cwd, home] = [await temporaryFolder(), await temporaryFolder()];
      const says = (words: string) => `#!/bin/sh\n[ "$1" = --describe ] && echo "${words}" || echo "ran $*"\n`;
      for (const [path, text] of [
        [join(home, "config/commands/version"), says("which version of the site runs")],
        [join(home, "config/commands/shipit"), says("puts the site online")],
        [join(home, "config/tools/lint"), says("checks the style")],
        [join(cwd, ".oxbow/commands/deploy"), says("of the project")],
        [join(cwd, ".oxbow/skills/greet/SKILL.md"), "---\nname: greet\ndescription: Greets.\n---\nHello.\n"],
      ] as const) {
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, text, { mode: 0o755 });
      }
      await approve(cwd, { home });
      const place = { cwd, env: { OXBOW_HOME: home } };
      const { stdout } = await oxbow(["help"], place);
      const [commands = "", found = ""] = stdout.split("Found here");
      expect(commands).toMatch(/^ {2}version +which version of the site runs \(.*version\)$/m);
      expect(commands).toMatch(/^ {2}shipit +puts the site online/m);
      expect(found).toMatch(/^ {2}tool +lint +checks the style$/m);
      expect(found).toMatch(/^ {11}deploy +\(off: 'oxbow sources allow' runs it\)$/m);
      expect(found).toMatch(/^ {2}skill +greet +Greets\.$/m);
      expect((await oxbowProcess(["version"], place)).stdout).toBe("ran \n");
      expect((await oxbowProcess(["--version"], place)).stdout).toMatch(/^oxbow \d/);
      const help = await oxbow(["help", "version"], place);
      expect(help.stdout).toContain("oxbow version ARGUMENT…: which version of the site runs");
      expect(help.stdout).toContain("It replaces the built-in command.");
    },
  );

  verifies(["U9", "M4"], "help names your own providers and the variables that they read", async () => {
    const home = await temporaryFolder();
    const folder = join(home, "config", "providers");
    await mkdir(folder, { recursive: true });
    const program = `#!/bin/sh
case "$1" in
  --describe) echo "Models of the harbour" ;;
  --env) echo "HARBOUR_KEY key of the harbour" ;;
  --ready) exit 1 ;;
esac
`;
    await writeFile(join(folder, "harbour"), program, { mode: 0o755 });
    await writeFile(
      join(folder, "acme.conf"),
      "url=https://acme.test/v1\nprotocol=openai-chat\nauth_env=ACME_KEY\nmodel=a\n",
    );
    const env = { OXBOW_HOME: home };
    const { stdout } = await oxbow(["help"], { env });
    const own = stdout.slice(stdout.indexOf("Your own providers"));
    expect(own).toMatch(/^ {2}harbour +Models of the harbour \(HARBOUR_KEY\)$/m);
    expect(own).toMatch(/^ {2}acme +.*\(ACME_KEY\)$/m);
    const named = await oxbow(["help", "environment"], { env });
    expect(named.stdout).toMatch(/^ {2}HARBOUR_KEY +key of the harbour$/m);
    expect(named.stdout).toMatch(/^ {2}ACME_KEY +key for the acme provider$/m);
  });

  verifies(["U9", "U10"], "help environment lists every variable the program reads", async () => {
    const { stdout } = await oxbow(["help", "environment"]);
    for (const { name } of KNOWN_VARIABLES) expect(stdout).toContain(name);
    for (const name of [
      "OXBOW_HOME",
      "OXBOW_PROVIDER",
      "OXBOW_MODEL",
      "OXBOW_MAX_TURNS",
      "OXBOW_STREAM",
      "OXBOW_SESSIONS",
      "OXBOW_STORE",
      "OXBOW_PROFILE",
      "OXBOW_LOG",
    ]) {
      expect(stdout).toContain(name);
    }
  });

  verifies(["U1"], "version can be printed in three ways, and matches the package", async () => {
    const { version } = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
    for (const args of [["--version"], ["-V"], ["version"]]) {
      expect((await oxbowProcess(args)).stdout).toBe(`oxbow ${version}\n`);
    }
  });

  verifies(["U9", "U10"], "config show: flags win over the environment, the environment over the profile", async () => {
    const home = await temporaryFolder();
    await mkdir(join(home, "config"));
    await writeFile(
      join(home, "config", "config.toml"),
      'model = "from-profile"\nprovider = "ollama"\nmax_iterations = 7\ntool_sets = ["read", "command"]\ntimeout = "2m"\nflavour = "mint"\n',
    );
    const env = { OXBOW_HOME: home, OXBOW_MODEL: "from-environment", OXBOW_MAX_TURNS: "9" };
    const { stdout, stderr, code } = await oxbow(["config", "show", "--json", "--max-iterations", "11"], { env });
    expect(code).toBe(0);
    expect(stderr).toContain('unknown key "flavour"');
    const shown = JSON.parse(stdout);
    expect(shown.max_iterations).toEqual({ value: "11", origin: "--max-iterations" });
    expect(shown.model).toEqual({ value: "from-environment", origin: "OXBOW_MODEL" });
    expect(shown.provider.value).toBe("ollama");
    expect(shown.provider.origin).toContain("config.toml");
    expect(shown.tool_sets.value).toBe("read,command");
    expect(shown.timeout.value).toBe("2m");
    expect([shown.permission_timeout.value, shown.engine_idle_timeout.value]).toEqual(["1m", "10m"]);
    expect(shown.permission_mode).toEqual({ value: "auto", origin: "default" });
    expect((await oxbow(["config", "show"], { env })).stdout).toMatch(/^model +from-environment +OXBOW_MODEL$/m);
  });

  verifies(["U9"], "every variable counts, over the profile and below its flag", async () => {
    const home = await temporaryFolder();
    const sessions = await temporaryFolder();
    await mkdir(join(home, "config", "profiles"), { recursive: true });
    const profile = 'provider = "openai"\nmodel = "p"\nmax_iterations = 3\nstore = "none"\nlog = "warn"\n';
    await writeFile(join(home, "config", "profiles", "mine.toml"), profile);
    const values: readonly (readonly [variable: string, value: string, key: string, ...flag: string[]])[] = [
      ["OXBOW_PROVIDER", "ollama", "provider", "--provider", "groq"],
      ["OXBOW_MODEL", "e", "model", "--model", "f"],
      ["OXBOW_MAX_TURNS", "7", "max_iterations", "--max-iterations", "9"],
      ["OXBOW_STORE", "files", "store", "--store", "sqlite"],
      ["OXBOW_LOG", "debug", "log", "--log-level", "error"],
    ];
    const base = { OXBOW_HOME: home, OXBOW_PROFILE: "mine" };
    const show = async (env: Record<string, string>, flags: readonly string[] = []) =>
      JSON.parse((await oxbow(["config", "show", "--json", ...flags], { env: { ...base, ...env } })).stdout);
    const [ofProfile, ofVariables] = [
      await show({}),
      await show(Object.fromEntries(values.map(([name, value]) => [name, value]))),
    ];
    const ofFlags = await show(
      Object.fromEntries(values.map(([name, value]) => [name, value])),
      values.flatMap(([, , , ...flag]) => flag),
    );
    for (const [variable, value, key, flag, chosen] of values) {
      expect(ofProfile[key].origin, key).toContain("mine.toml");
      expect(ofVariables[key], key).toEqual({ value, origin: variable });
      expect(ofFlags[key], key).toEqual({ value: chosen, origin: flag });
    }
    expect(ofProfile.profile).toEqual({ value: "mine", origin: "OXBOW_PROFILE" });
    expect((await show({ OXBOW_SESSIONS: sessions })).sessions_folder.value).toBe(sessions);
    const ran = await oxbow(["run", "hi", "--provider", "offline"], {
      env: { OXBOW_HOME: home, OXBOW_SESSIONS: sessions, OXBOW_STREAM: "1" },
    });
    expect(await readdir(sessions)).toContain("sessions.db");
    expect(ran.stderr).toContain("sessions are saved");
    const wrong = await oxbow(["run", "hi"], { env: { OXBOW_HOME: home, OXBOW_STREAM: "yes" } });
    expect(wrong).toMatchObject({ code: 2, stderr: 'oxbow: OXBOW_STREAM: expected 1 or 0, got "yes".\n' });
  });

  verifies(["U9"], "an invalid profile is reported with its place (2)", async () => {
    const home = await temporaryFolder();
    await writeFile(join(home, "bad.toml"), "model = \n");
    const bad = await oxbow(["run", "hi"], { env: { OXBOW_HOME: home, OXBOW_PROFILE: join(home, "bad.toml") } });
    expect(bad.stderr).toContain("is not valid TOML");
    expect(bad.code).toBe(2);
    const missing = await oxbow(["run", "hi"], {
      env: { OXBOW_HOME: home, OXBOW_PROFILE: join(home, "none.toml") },
    });
    expect(missing.stderr).toContain("none.toml");
    expect(missing.code).toBe(2);
    await writeFile(join(home, "wrong.toml"), 'permission_mode = "perhaps"\n');
    const wrong = await oxbow(["run", "hi"], {
      env: { OXBOW_HOME: home, OXBOW_PROFILE: join(home, "wrong.toml") },
    });
    expect(wrong.stderr).toMatch(/wrong\.toml \(permission_mode\): expected auto, review, ask, allow or deny/);
  });

  verifies(["M5"], "models lists what is ready and says what is missing; no key is shown", async () => {
    const mock = await startMockModel({ script: "model llama-test context=8192\nreply\n  text: hi\n" });
    mocks.push(mock);
    const env = { ...providerEnvironment("ollama", mock.url), ...providerEnvironment("openai", mock.url) };
    const { stdout, code } = await oxbow(["models"], { env });
    expect(code).toBe(0);
    expect(stdout).toContain("ollama:llama-test");
    expect(stdout).toMatch(
      /not ready:[\s\S]* {2}anthropic +run 'oxbow auth set anthropic', or set ANTHROPIC_API_KEY\n/,
    );
    expect(stdout).toMatch(/ollama:llama-test:latest +8k context, tools/);
    expect(stdout).toContain("offline:offline");
    expect(stdout).not.toContain(sampleKey());
    const states = JSON.parse((await oxbow(["models", "--json"], { env })).stdout);
    const find = (name: string) => states.find((state: { name: string }) => state.name === name);
    expect(states).toHaveLength(19);
    expect(find("anthropic")).toMatchObject({
      ready: false,
      detail: "run 'oxbow auth set anthropic', or set ANTHROPIC_API_KEY",
      models: [],
    });
    expect(find("ollama").models).toEqual([
      expect.objectContaining({
        id: "llama-test:latest",
        model: "ollama:llama-test:latest",
        context_tokens: 8192,
        tools: true,
      }),
    ]);
  });

  verifies(["T2"], "tools lists the tools of the chosen sets", async () => {
    const names = async (...args: string[]) =>
      JSON.parse((await oxbow(["tools", "--json", ...args])).stdout).map((tool: { name: string }) => tool.name);
    expect(await names()).toEqual(expect.arrayContaining(["read", "ls", "glob", "grep", "write", "bash"]));
    expect(await names("--tool-set", "read")).not.toContain("write");
    expect(await names("--tool-set", "read,edit", "--tool-set", "command")).toEqual(
      expect.arrayContaining(["read", "write", "bash"]),
    );
    expect((await oxbow(["tools"])).stdout).toMatch(/^apply_patch .*\(or edit, by the model\) /m);
  });

  verifies(["U1", "O1"], "doctor tells what works and fails when something that was set up does not", async () => {
    const fresh = await oxbow(["doctor"]);
    expect(fresh.code).toBe(0);
    expect(fresh.stdout).toContain("model in use");
    expect(fresh.stdout).toContain("offline");
    const mock = await startMockModel({ script: "reply\n  text: hi\n", key: "another" });
    mocks.push(mock);
    const broken = await oxbow(["doctor"], { env: providerEnvironment("anthropic", mock.url) });
    expect(broken.code).toBe(1);
    expect(broken.stdout).toMatch(/✗ anthropic/);
  });

  verifies(["S1"], "the first run says whether sessions are encrypted", async () => {
    for (const [store, said] of [
      ["sqlite", /sessions are saved, encrypted, in .+\. Back up .+sessions\.key\. Without this key/],
      [
        "files",
        /sessions are saved in .+sessions as files that are not encrypted\. The copies for \/undo are\. Back up/,
      ],
    ] as const) {
      const env = { OXBOW_HOME: await temporaryFolder(), OXBOW_STREAM: "1" };
      expect((await oxbow(["run", "hi", "--provider", "offline", "--store", store], { env })).stderr).toMatch(said);
    }
  });

  verifies(
    ["M19"],
    "mock-model serves a script until it is interrupted, and refuses a bad one with its line",
    async () => {
      const folder = await temporaryFolder();
      await writeFile(join(folder, "good.mock"), "reply\n  text: scripted\n");
      await writeFile(join(folder, "bad.mock"), "reply\n  txt: oops\n");
      let answer: Promise<{ stdout: string }> | undefined;
      const { code } = await oxbow(["mock-model", "--script", join(folder, "good.mock")], {
        onOutput: ({ stdout }, child) => {
          const url = /at (http:\S+)/.exec(stdout)?.[1];
          if (url === undefined || answer !== undefined) return;
          answer = oxbow(["run", "hi"], { env: providerEnvironment("openai", url) });
          void answer.then(() => child.kill("SIGINT"));
        },
      });
      expect((await answer)?.stdout).toBe("scripted\n");
      expect(code).toBe(0);
      const bad = await oxbow(["mock-model", "--script", join(folder, "bad.mock")]);
      expect(bad.stderr).toContain("line 2");
      expect(bad.code).toBe(2);
    },
  );
});
