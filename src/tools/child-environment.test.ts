import { describe, expect, it } from "vitest";
import {
  childEnvironment,
  type EnvironmentPolicy,
  environmentReport,
  FILTERED,
  sessionEnvironment,
  withheldLines,
} from "./child-environment.js";

describe("[T7] childEnvironment", () => {
  it("passes what programs need", () => {
    const env = {
      PATH: "/bin:/home/me/npm-global-packages-folder/bin",
      HOME: "/home/me",
      LC_ALL: "C.UTF-8",
      LANGUAGE: "de:en@quot",
      OLLAMA_HOST: "http://127.0.0.1:11434",
      OLLAMA_KEEP_ALIVE: "5m",
      OXBOW_CALL: "mark.",
      JAVA_HOME: "/opt/java",
      CARGO_HOME: "/home/me/.cargo",
      VIRTUAL_ENV: "/home/me/.venv",
      TERM: "xterm",
    };
    expect(childEnvironment(env)).toMatchObject(env);
  });

  it("withholds keys, sockets and variables that load code", () => {
    const names = [
      ["ANTHROPIC", "API", "KEY"],
      ["OPENAI", "API", "KEY"],
      ["GITHUB", "TOKEN"],
      ["AWS", "SECRET", "ACCESS", "KEY"],
      ["OXBOW", "MACHINE", "KEY"],
      ["OXBOW", "PASSPHRASE"],
      ["OXBOW", "CI", "TOKEN"],
      ["OLLAMA", "API", "KEY"],
      ["OLLAMA", "AUTH"],
      ["OXBOW", "DB", "PASS"],
      ["LC", "SECRET"],
      ["SSH", "AUTH", "SOCK"],
      ["NODE", "OPTIONS"],
      ["NODE", "PATH"],
      ["LD", "PRELOAD"],
      ["BASH", "ENV"],
      ["PROMPT", "COMMAND"],
      ["GIT", "DIR"],
      ["GIT", "SSH", "COMMAND"],
      ["PYTHONPATH"],
      ["DBUS", "SESSION", "BUS", "ADDRESS"],
      ["DATABASE", "URL"],
    ].map((parts) => parts.join("_"));
    const child = childEnvironment(Object.fromEntries(names.map((name) => [name, "value"])));
    expect(Object.keys(child).filter((name) => names.includes(name))).toEqual([]);
  });

  it("withholds values that look like keys under harmless names", () => {
    const value = ["sk", "ant", "a1b2c3d4e5f6a7b8c9d0"].join("-");
    expect(childEnvironment({ OXBOW_NOTE: value, OXBOW_PLAIN: "fine" })).not.toHaveProperty("OXBOW_NOTE");
    expect(childEnvironment({ OXBOW_NOTE: value, OXBOW_PLAIN: "fine" })).toHaveProperty("OXBOW_PLAIN", "fine");
  });

  it.each([
    ["https_proxy", "http://me:word@proxy:8080", "http://proxy:8080"],
    ["HTTP_PROXY", "http://me:w@rd@proxy:8080/", "http://proxy:8080/"],
    ["ALL_PROXY", "me:word@proxy:1080", "proxy:1080"],
    ["NO_PROXY", "localhost,127.0.0.1,.example.org", "localhost,127.0.0.1,.example.org"],
    ["GOPROXY", "https://me:word@go.example.org,direct", "https://go.example.org,direct"],
    ["OLLAMA_HOST", "https://me:word@host:1", "https://host:1"],
  ])("passes %s without a login", (name, value, expected) => {
    expect(childEnvironment({ [name]: value })[name]).toBe(expected);
  });

  it("tells programs that no user is there, whatever the user has set", () => {
    const child = childEnvironment({ PAGER: "less", EDITOR: "vim" });
    expect(child).toMatchObject({ PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0", EDITOR: "true" });
    expect(child).toMatchObject({ TERM: "dumb", DEBIAN_FRONTEND: "noninteractive" });
    expect(child.PATH).toContain("/usr/bin");
  });

  it("does not change its own result", () => {
    const once = childEnvironment({ PATH: "/bin", HTTP_PROXY: "http://a:b@c", OXBOW_HOME: "/x", LANG: "C" });
    expect(childEnvironment(once)).toEqual(once);
  });
});

describe("[T7] the environment of the model's commands", () => {
  const policy = (given: Partial<EnvironmentPolicy> = {}): EnvironmentPolicy => ({ ...FILTERED, ...given });
  const key = ["MY", "API", "KEY"].join("_");
  const env = {
    PATH: "/bin",
    NODE_ENV: "test",
    DATABASE_HOST: "db",
    [key]: "x",
    SSH_AUTH_SOCK: "/s",
    LD_PRELOAD: "a.so",
  };
  const names = (given: Partial<EnvironmentPolicy>) =>
    Object.keys(env).filter((name) => Object.hasOwn(childEnvironment(env, policy(given)), name));

  it.each([
    ["filtered: all but secrets and what loads code", {}, ["PATH", "NODE_ENV", "DATABASE_HOST"]],
    ["core: the listed ones", { inherit: "core" }, ["PATH"]],
    ["none: what a shell needs", { inherit: "none" }, ["PATH"]],
    ["all: everything", { inherit: "all" }, Object.keys(env)],
    ["include: a secret that the user names", { include: ["MY_*"] }, ["PATH", "NODE_ENV", "DATABASE_HOST", key]],
    ["exclude: what the user names", { exclude: ["DATABASE_*"] }, ["PATH", "NODE_ENV"]],
    ["exclude before include", { include: ["MY_*"], exclude: ["MY_*", "NODE*"] }, ["PATH", "DATABASE_HOST"]],
  ] as const)("%s", (_what, given, expected) => {
    expect(names(given as Partial<EnvironmentPolicy>)).toEqual(expected);
  });

  it("adds what the user sets, and nothing of the npm that started Oxbow", () => {
    const started = { npm_lifecycle_event: "start", npm_config_store_dir: "/x", INIT_CWD: "/y", NODE_ENV: "a" };
    const child = childEnvironment(started, policy({ set: { NODE_ENV: "b", MORE: "c" } }));
    expect(child).toMatchObject({ NODE_ENV: "b", MORE: "c" });
    expect(Object.keys(child).filter((name) => /^npm_|INIT_CWD/.test(name))).toEqual([]);
    expect(childEnvironment({ npm_config_registry: "r" }, policy())).toHaveProperty("npm_config_registry", "r");
  });

  it("leaves a client without its secrets, but with the login of its proxy", () => {
    const proxy = `http://me:${["pass", "word"].join("")}@proxy:80`;
    const sent = sessionEnvironment({ ...env, HTTPS_PROXY: proxy }, policy());
    expect(sent).toEqual({
      PATH: "/bin",
      NODE_ENV: "test",
      DATABASE_HOST: "db",
      LD_PRELOAD: "a.so",
      HTTPS_PROXY: proxy,
    });
    expect(sessionEnvironment(env, policy({ include: [key] }))).toHaveProperty(key, "x");
  });
});

it("reports names and reasons, never values", () => {
  const env = { PATH: "/bin", MY_TOKEN: "hidden", NODE_OPTIONS: "-r x", MINE: "1", OLD: "2" };
  const report = environmentReport(env, { ...FILTERED, exclude: ["OLD"], set: { NODE_ENV: "test" } });
  expect(report).toEqual({
    passed: ["MINE", "PATH"],
    withheld: { secret: ["MY_TOKEN"], "loads code": ["NODE_OPTIONS"], excluded: ["OLD"] },
    set: ["NODE_ENV"],
  });
  expect(withheldLines(report)).toContain("secret: MY_TOKEN");
  // A client names what it left out; what this process does not have is not withheld.
  expect(
    environmentReport({ MY_TOKEN: "hidden", GONE_KEY: undefined }, FILTERED, ["OF_CLIENT_KEY", "MY_TOKEN"]),
  ).toEqual({
    ...{ passed: [], withheld: { secret: ["MY_TOKEN", "OF_CLIENT_KEY"] }, set: [] },
  });
});
