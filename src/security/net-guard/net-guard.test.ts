import { describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { createNetGuard } from "./net-guard.js";
import { pinnedLookup, resolveSafely } from "./resolve-safely.js";

const never = new AbortController().signal;
const answering = (...addresses: readonly string[]) => ({ lookup: async () => addresses });

function ask(lookup: ReturnType<typeof pinnedLookup>, host: string, options: { all?: boolean; family?: 4 | 6 } = {}) {
  return new Promise((resolve) => lookup(host, options, (error, answer) => resolve(error?.code ?? answer)));
}

describe("resolveSafely", () => {
  verifies(["T8"], "refuses a host when one of its addresses may not be reached", async () => {
    const refused = await resolveSafely("mixed.example", answering("93.184.216.34", "10.0.0.5"));
    expect(refused).toEqual({
      allowed: false,
      reason: "mixed.example leads to 10.0.0.5, which is in a private network",
    });
    expect(await resolveSafely("mapped.example", answering("::ffff:127.0.0.1"))).toMatchObject({ allowed: false });
    expect(await resolveSafely("odd.example", answering("fe80::1%lo"))).toMatchObject({ allowed: false });
    expect(await resolveSafely("empty.example", answering())).toMatchObject({ allowed: false });
    expect(await resolveSafely("a.example", answering("93.184.216.34", "2606:4700::1"))).toEqual({
      allowed: true,
      addresses: ["93.184.216.34", "2606:4700::1"],
    });
  });

  verifies(["T8"], "reaches a private network if that is allowed, and never a forbidden address", async () => {
    const reach = "private";
    expect(await resolveSafely("docs.corp", { ...answering("10.0.0.5", "::1"), reach })).toMatchObject({
      allowed: true,
    });
    for (const address of ["169.254.169.254", "0.0.0.0", "fe80::1", "100.100.100.200"])
      expect(await resolveSafely("docs.corp", { ...answering(address), reach })).toMatchObject({ allowed: false });
  });

  it("looks this machine's own name up for real", async () => {
    const result = await resolveSafely("localhost");
    expect(result).toMatchObject({ allowed: false, reason: expect.stringContaining("is this machine") });
  });

  it("reports the answer of the name server", async () => {
    const lookup = () => Promise.reject(Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND" }));
    expect(await resolveSafely("gone.example", { lookup })).toEqual({
      allowed: false,
      reason: "gone.example: there is no such host",
      isUnknown: true,
    });
  });

  it("does not wait for a name server when it is cancelled", async () => {
    const stop = new AbortController();
    const waiting = resolveSafely("slow.example", { lookup: () => new Promise(() => {}), signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });
});

describe("pinnedLookup", () => {
  verifies(["T8"], "answers with the checked addresses, for this host alone", async () => {
    const lookup = pinnedLookup("a.example", ["2606:4700::1", "1.1.1.1"]);
    expect(await ask(lookup, "a.example")).toBe("2606:4700::1");
    expect(await ask(lookup, "a.example", { family: 4 })).toBe("1.1.1.1");
    expect(await ask(lookup, "a.example", { all: true })).toEqual([
      { address: "2606:4700::1", family: 6 },
      { address: "1.1.1.1", family: 4 },
    ]);
    expect(await ask(lookup, "b.example")).toBe("ENOTFOUND");
    expect(await ask(pinnedLookup("a.example", ["1.1.1.1"]), "a.example", { family: 6 })).toBe("ENOTFOUND");
  });
});

describe("createNetGuard", () => {
  verifies(["T8"], "asks the name server once and keeps to its answer", async () => {
    const answers = [["93.184.216.34"], ["127.0.0.1"]];
    const guard = createNetGuard({ lookup: async () => answers.shift() ?? [] });
    const admission = await guard.admit("https://rebind.example/x", never);
    if (!admission.allowed) throw new Error(admission.reason);
    expect(await ask(admission.lookup, "rebind.example")).toBe("93.184.216.34");
    expect(await ask(admission.lookup, "rebind.example")).toBe("93.184.216.34");
    expect(answers).toHaveLength(1);
    expect(await guard.admit("https://rebind.example/x", never)).toMatchObject({ allowed: false });
  });

  verifies(["T8"], "asks no name server about what the address already rules out", async () => {
    const guard = createNetGuard({ lookup: () => Promise.reject(new Error("was asked")) });
    for (const url of ["http://10.0.0.1/", "http://nas.lan/", "file:///etc/passwd", "nonsense"])
      expect(await guard.admit(url, never)).toMatchObject({
        allowed: false,
        reason: expect.not.stringContaining("asked"),
      });
    expect(await guard.admit("https://1.1.1.1/", never)).toMatchObject({ allowed: true });
  });

  verifies(
    ["T8"],
    "a name is checked here before a proxy gets it; what cannot be looked up is refused unless that is left to the proxy",
    async () => {
      const lookup = async (host: string) => {
        if (host === "inside.example") return ["10.0.0.7"];
        if (host === "outside.example") return ["93.184.216.34"];
        throw Object.assign(new Error(), { code: "ENOTFOUND" });
      };
      const behind = { lookup, isProxied: async ({ hostname }: URL) => hostname !== "direct.example" };
      for (const unknownNames of ["refuse", "proxy"] as const) {
        const guard = createNetGuard({ ...behind, unknownNames });
        expect(await guard.admit("https://outside.example/", never)).toMatchObject({ allowed: true });
        for (const url of ["https://inside.example/", "http://10.0.0.7/", "http://nas.lan/", "https://direct.example/"])
          expect(await guard.admit(url, never), url).toMatchObject({ allowed: false });
        const unknown = await guard.admit("https://unknown.example/", never);
        expect(unknown.allowed).toBe(unknownNames === "proxy");
        if (!unknown.allowed) expect(unknown.reason).toContain("web_names");
      }
    },
  );

  it("refuses settings that cannot be read when it is made", () => {
    expect(() => createNetGuard({ allowedHosts: ["http://docs"] })).toThrow('"http://docs" is not a host');
  });
});
