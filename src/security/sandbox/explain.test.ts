import { describe, expect, it } from "vitest";
import { processorMs } from "../../../test/support/processor-time.js";
import { explainFailure } from "./explain.js";
import { noSandbox, type SandboxState } from "./state.js";

const state: SandboxState = {
  kind: "bubblewrap",
  reason: "",
  abilities: { filesystem: true, network: "allowlist", pids: true, limits: [] },
};
const hidden = ["/home/me/.ssh"];
const explain = (text: string) => explainFailure(text, state, { hidden });

describe("[P8] what the model gets about a denial", () => {
  it.each([
    ["bash: line 1: /etc/x: Read-only file system", "keeps /etc/x read-only."],
    ["touch: cannot touch '/usr/lib/a b': Read-only file system", "read-only"],
    ["error: unable to write file 'a/.envrc' mode 100644: Read-only file system", "keeps a/.envrc read-only."],
    ["OSError: [Errno 30] Read-only file system: 'a/.envrc'", "keeps a/.envrc read-only."],
    ["Error: EROFS: read-only file system, open '/usr/x.json'", "keeps /usr/x.json read-only."],
    ["touch: cannot touch '.git/hooks/pre-commit': Read-only file system", "programs outside the sandbox run or read"],
    [
      "mkdir: cannot create directory ‘.oxbow/hooks’: Permission denied",
      "keeps .oxbow/hooks read-only: programs outside",
    ],
    ["/project/a/.git: Permission denied", "keeps /project/a/.git read-only"],
    [
      "error: could not write config file .git/config: Device or resource busy",
      "keeps .git/config from being replaced",
    ],
    ["curl: (6) Could not resolve host: example.com", "has no network"],
    ["npm error getaddrinfo EAI_AGAIN registry.example", "has no network"],
    ["connect: Network is unreachable", "has no network"],
    ["fatal: unable to access 'https://x/': Could not resolve proxy: p", "has no network"],
    ["curl: (7) Failed to connect to localhost port 3000: Connection refused", "run_in_background"],
    ["Error: connect ECONNREFUSED 127.0.0.1:5432", "run_in_background"],
    ["network: api.example.com was refused by the sandbox (it is not …)", "blocks api.example.com"],
    ["bash: fork: retry: Resource temporarily unavailable", "no more processes"],
    ["Error: spawn /bin/sh EAGAIN", "no more processes"],
    ["Out of memory in perl:util:safesysmalloc", "limits the memory"],
    ["FATAL ERROR: Reached heap limit - JavaScript heap out of memory", "limits the memory"],
    ["head: error writing 'standard output': File too large", "limits the size of a file"],
    ["cp: error writing '/tmp/x': No space left on device", "is full"],
    ['sudo: The "no new privileges" flag is set, which prevents sudo from running as root.', "no extra privileges"],
    ["unshare: unshare failed: Operation not permitted", "does not allow this system call"],
    ["cat: /home/me/.ssh/id_rsa: Permission denied", "hides /home/me/.ssh/id_rsa"],
    ["EACCES: permission denied, open '/home/me/.ssh/config'", "hides /home/me/.ssh/config"],
  ])("%s", (text, expected) => {
    const hint = explain(`some output\n${text}\nmore`);
    expect(hint).toContain(expected);
    expect(hint).not.toContain("\n");
    expect(hint).toMatch(/ask the user|\.\]$/);
    expect(hint).not.toMatch(/switch|disable|turn off|setting/i);
  });

  it.each([
    "1 test failed",
    "cat: x: No such file or directory",
    "cat: /srv/other: Permission denied",
    "error TS2304",
    "",
  ])("says nothing about: %s", (text) => expect(explain(text)).toBeUndefined());

  it.each(["curl: (6) Could not resolve host: nothing.invalid", "Error: connect ECONNREFUSED 127.0.0.1:5432"])(
    "blames no missing network for a command that has it: %s",
    (text) => {
      expect(explain(text)).toBeDefined();
      expect(explainFailure(text, state, { isOnline: true })).toBeUndefined();
    },
  );

  it("says nothing without a sandbox", () => {
    expect(explainFailure("Read-only file system", noSandbox("none"))).toBeUndefined();
  });

  it("is quick on lines without blanks", () => {
    const took = processorMs(() => {
      explain("x".repeat(200_000));
      explain("'/".repeat(100_000));
    });
    expect(took).toBeLessThan(2000);
  });
});
