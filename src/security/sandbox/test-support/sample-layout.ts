/** A layout as one may be found, for tests of the builders. */
import type { Layout } from "../layout.js";
import { sandboxPolicy } from "../policy.js";

export const layout: Layout = {
  writable: ["/home/me/my project"],
  guards: {
    pinned: ["/home/me/my project/.git"],
    readOnly: ["/home/me/my project/.git/hooks", "/home/me/my project/.oxbow"],
  },
  covering: [],
  hidden: [
    { path: "/home/me/.ssh", kind: "folder", passable: false },
    { path: "/home/me/.netrc", kind: "file", passable: false },
    { path: "/run/docker.sock", kind: "file", passable: false },
  ],
  visible: ["/home/me/.local/state/oxbow/output"],
  masked: [],
};
export const policy = sandboxPolicy({
  writable: [...layout.writable],
  limits: { processes: 9, memoryBytes: 1024, openFiles: 5 },
});
export const command = {
  program: "/bin/bash",
  args: ["-c", "--", "make"],
  cwd: "/home/me/my project",
  env: { PATH: "/bin", SETTING: "value" },
};
