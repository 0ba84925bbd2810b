import { describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { parseCatalogue } from "./catalogue.js";
import { CredentialError } from "./credential-error.js";
import { type FileKey, seal, unseal } from "./credential-format.js";
import type { CredentialEntry } from "./entry.js";

const fileKey: FileKey = { key: Buffer.alloc(32, 7), from: "key-file" };
const secret = ["not", "a", "key", "é", "0123456789"].join("-");
const entries: readonly CredentialEntry[] = [
  {
    kind: "api_key",
    provider: "anthropic",
    account: "default",
    endpoint: { baseUrl: "https://models.example", headers: { "x-api-key": "{secret}" } },
    addedAt: 1_700_000_000_000,
    key: secret,
  },
  {
    kind: "oauth",
    provider: "chatgpt",
    account: "wörk",
    endpoint: { baseUrl: "https://chat.example/api", headers: { authorization: "Bearer {secret}" } },
    addedAt: 1_700_000_000_001,
    tokens: { access: `${secret}-access`, refresh: `${secret}-refresh`, expiresAt: 5, identity: "a@example.org" },
  },
];

const read = (text: string) => Buffer.from(text).toString("latin1");
const open = (text: string, key = fileKey.key) => unseal(text, key, "creds.enc");

describe("the credential file's bytes", () => {
  verifies(["M11"], "return the sealed content, and show only the catalogue", () => {
    const text = read(seal(entries, fileKey));
    expect(open(text)).toEqual(entries);
    const { key, entries: shown } = parseCatalogue(text.split("\n")[0] ?? "", "creds.enc");
    expect(key.from).toBe("key-file");
    expect(shown).toEqual([
      {
        provider: "anthropic",
        account: "default",
        kind: "api_key",
        baseUrl: "https://models.example",
        addedAt: 1_700_000_000_000,
      },
      {
        provider: "chatgpt",
        account: "wörk",
        kind: "oauth",
        baseUrl: "https://chat.example/api",
        addedAt: 1_700_000_000_001,
        identity: "a@example.org",
      },
    ]);
    expect(Buffer.from(text, "latin1").toString("utf8")).not.toContain(secret);
    expect(seal(entries, fileKey)).not.toBe(seal(entries, fileKey));
  });

  verifies(["M11"], "are refused when any bit of them is another, or any part is missing", () => {
    const bytes = Buffer.from(seal(entries, fileKey));
    const taken: string[] = [];
    const attempt = (what: string, changed: string) => {
      try {
        open(changed);
        taken.push(what);
      } catch (error) {
        if (!(error instanceof CredentialError)) throw error;
      }
    };
    for (let at = 0; at < bytes.length; at++) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      attempt(`bit ${at % 8} of byte ${at}`, flipped.toString("latin1"));
      attempt(`cut at ${at}`, bytes.toString("latin1", 0, at));
    }
    expect(taken).toEqual([]);
    expect(() => open(`${bytes.toString("latin1")}\n`)).toThrow(expect.objectContaining({ code: "damaged" }));
  });

  verifies(["M11"], "are refused when parts of two files are joined", () => {
    const one = read(seal(entries, fileKey)).split("\n");
    const other = read(seal(entries.slice(0, 1), fileKey)).split("\n");
    expect(() => open(`${one[0]}\n${other[1]}\n`)).toThrow(expect.objectContaining({ code: "damaged" }));
  });

  it("tell a wrong key from damage, without a word about either key", () => {
    const text = read(seal(entries, fileKey));
    expect(() => open(text, Buffer.alloc(32, 8))).toThrow(
      expect.objectContaining({
        code: "wrong-key",
        message: expect.stringMatching(/^Oxbow cannot open creds\.enc: the key file/),
      }),
    );
  });

  it("of a newer format are left alone", () => {
    const text = read(seal(entries, fileKey)).replace('"version":1', '"version":2');
    expect(() => open(text)).toThrow(expect.objectContaining({ code: "newer" }));
  });

  it("that are something else are refused", () => {
    for (const text of ["", "\n", "null\n", "[]\n", "{}\n", "\u0000\u0001", '{"format":"oxbow-credentials"}\n']) {
      expect(() => open(text), JSON.stringify(text)).toThrow(expect.objectContaining({ code: "damaged" }));
    }
  });
});
