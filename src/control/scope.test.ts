import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/program.js";
import { verifies } from "../../test/verifies.js";
import type { CommandKind } from "../protocol/commands.js";
import type { SessionId } from "../protocol/ids.js";
import { type ClientScope, COMMAND_REACH, covers, inFolders, isLimited, maySend, outOfScope } from "./scope.js";

const OWN = "sess_own" as SessionId;
const OTHER = "sess_other" as SessionId;

/** Tells why a command is refused; undefined if it is not. */
function refusal(scope: ClientScope | undefined, kind: CommandKind, payload: unknown = {}, session?: SessionId) {
  return outOfScope(scope, { kind, payload, session })?.message;
}

describe("a token for certain sessions", () => {
  const scope = { sessions: [OWN] };

  verifies(["C3", "C7"], "opens these and no others, in whatever way a session is opened", () => {
    expect(refusal(scope, "CreateSession", { resume: OWN })).toBeUndefined();
    expect(refusal(scope, "CreateSession", { resume: OWN, model: "p:m" })).toBeUndefined();
    expect(refusal(scope, "CreateSession", { resume: OTHER })).toContain("is not among its sessions");
    const opening: readonly object[] = [
      ...[{}, { after: OWN }, { cwd: "/w" }, { carry: "all" }],
      ...[
        { resume: OWN, after: OWN },
        { resume: OWN, cwd: "/w" },
        { resume: OWN, carry: "all" },
      ],
    ];
    for (const payload of opening) {
      expect([payload, refusal(scope, "CreateSession", payload)]).toEqual([
        payload,
        expect.stringContaining("cannot open another"),
      ]);
    }
  });

  verifies(["C3"], "reaches these sessions with every command that has no more rights than they", () => {
    for (const kind of Object.keys(COMMAND_REACH) as CommandKind[]) {
      if (kind === "CreateSession" || COMMAND_REACH[kind] === "user") continue;
      expect([kind, refusal(scope, kind, {}, OWN)]).toEqual([kind, undefined]);
      expect([kind, refusal(scope, kind, {}, OTHER)]).toEqual([kind, expect.stringContaining("is not among its")]);
    }
    // Which session is meant is not known yet.
    expect(refusal(scope, "SendInput")).toBeUndefined();
  });
});

describe("a token that is limited in any way", () => {
  const limits: readonly ClientScope[] = [
    { sessions: [OWN] },
    { folders: ["/w"] },
    { commands: ["SetMode", "ApproveContent", "CreateSession"] },
  ];

  verifies(["C3", "P4"], "never approves content, allows everything, or chooses programs and permissions", () => {
    for (const scope of limits) {
      expect(isLimited(scope)).toBe(true);
      expect(refusal(scope, "ApproveContent", {}, OWN)).toContain("needs a token without limits");
      expect(refusal(scope, "SetMode", { mode: "allow" }, OWN)).toContain(
        "the mode allow needs a token without limits",
      );
      expect(refusal(scope, "SetMode", { mode: "ask" }, OWN)).toBeUndefined();
      for (const field of ["profile", "permission_mode", "anything"]) {
        const words = refusal(scope, "CreateSession", { resume: OWN, [field]: "x" });
        expect(words).toContain(`"${field}" needs a token without limits`);
      }
      expect(refusal(scope, "CreateSession", { resume: OWN, profile: undefined })).toBeUndefined();
    }
  });

  it("is not one that names nothing", () => {
    for (const scope of [undefined, {}]) {
      expect(isLimited(scope)).toBe(false);
      expect(refusal(scope, "ApproveContent", {}, OTHER)).toBeUndefined();
      expect(refusal(scope, "CreateSession", { after: OTHER, profile: "x" })).toBeUndefined();
      expect(refusal(scope, "SetMode", { mode: "allow" }, OTHER)).toBeUndefined();
    }
  });
});

describe("a token for certain commands", () => {
  verifies(["C3"], "sends these, and follows sessions in any case", () => {
    const scope: ClientScope = { commands: ["SendInput"] };
    const allowed = (Object.keys(COMMAND_REACH) as CommandKind[]).filter((kind) => maySend(scope, kind));
    expect(allowed.sort()).toEqual(["AttachSession", "DetachSession", "SendInput"]);
    expect(refusal(scope, "CancelTurn", {}, OWN)).toContain("CancelTurn is not among its commands");
    expect(refusal(scope, "SendInput", {}, OTHER)).toBeUndefined();
    expect(refusal({ commands: [] }, "SendInput", {}, OWN)).toContain("not among its commands");
  });
});

describe("a token for certain folders", () => {
  verifies(
    ["C3"],
    "covers sessions in them and below them, through links, and none without a known folder",
    async () => {
      const base = await temporaryFolder();
      const [real, link] = [join(base, "real"), join(base, "link")];
      await mkdir(real);
      await symlink(real, link);
      const of = (scope: ClientScope | undefined, cwd: string | undefined, session = OWN) =>
        covers(scope, { session, cwd, engineFolder: join(base, "engine") });
      const scope = { folders: [link] };
      expect([of(scope, real), of(scope, join(real, "below")), of(scope, `${real}-beside`), of(scope, base)]).toEqual([
        ...[true, true, false, false],
      ]);
      expect([of(scope, undefined), of(undefined, undefined), of({}, undefined)]).toEqual([false, true, true]);
      expect(of({ folders: "default" }, join(base, "engine", "a"))).toBe(true);
      expect(of({ folders: "default" }, real)).toBe(false);
      expect(inFolders("default", real, undefined)).toBe(false);
      const both = { folders: [real], sessions: [OWN] };
      expect([of(both, real), of(both, real, OTHER), of(both, base)]).toEqual([true, false, false]);
    },
  );
});
