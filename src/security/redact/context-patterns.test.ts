import { describe, expect, it } from "vitest";
import { CONTEXT_PATTERNS } from "./context-patterns.js";
import { GramTable } from "./grams.js";
import { redact } from "./redact.js";

/** Made here: no sample of a secret is written down. */
const KEY = Array.from({ length: 40 }, (_, at) =>
  "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789".charAt((at * 37 + 11) % 56),
).join("");
const BASIC = Buffer.from(`user:${KEY.slice(0, 13)}`).toString("base64");
const PASS = ["Tr0ub", "4dor", "!x9"].join("");
const HEX = Array.from({ length: 64 }, (_, at) => "0123456789abcdef".charAt((at * 7 + 3) % 16)).join("");
const SIDEKIQ = `${HEX.slice(0, 8)}:${HEX.slice(8, 16)}`;

/** The kind, the gram that the text has, and the text with `@@` for the secret. */
const SAMPLES: readonly (readonly [string, string, string, string])[] = [
  ["authorization", "auth", "Authorization: token @@", KEY],
  ["authorization", "^x-@", "x-my-token: @@", KEY],
  ["authorization", "priv", "PRIVATE-TOKEN: @@", KEY],
  ["authorization", "apik", "apikey: @@", KEY],
  ["authorization", "api-", "'api-key': '@@'", KEY],
  ["authorization", "-cru", "Jenkins-Crumb: @@", KEY],
  ["bearer", "bear", "Bearer @@", KEY],
  ["basic", "basi", "Basic @@", BASIC],
  ["url-password", "://?", "amqp://guest:@@@host/", PASS],
  ["url-password", "://?", "https://@@@github.com/a", KEY],
  ["command-password", "--us", "curl --user me:@@ https://a.example", PASS],
  ["command-password", "^-u^", "curl -u me:@@ https://a.example", PASS],
  ["command-password", "curl", "curl https://a.example -u me:@@", PASS],
  ["npm", "_aut", "//registry.example/:_authToken=@@", KEY],
  ["npm", "_pas", "_password=@@", KEY],
  ["connection-password", "pass", "Server=a;Password=@@;", PASS],
  ["connection-password", "pwd^", "Server=a;Pwd=@@;", PASS],
  ["config-password", "<add", '<add key="DbPassword" value="@@"/>', PASS],
  ["sidekiq", "bund", "BUNDLE_ENTERPRISE__CONTRIBSYS__COM=@@", SIDEKIQ],
  ["netrc-password", "mach", "machine a.example login me password @@", PASS],
  ["command-secret", "pass", "tool --password @@", PASS],
  ["command-secret", "pwd^", "tool --pwd @@", PASS],
  ["command-secret", "toke", "tool --token @@", KEY],
  ["command-secret", "secr", "tool --client-secret @@", KEY],
  ["command-secret", "api-", "tool --api-key @@", KEY],
  ["command-secret", "apik", "tool --apikey @@", KEY],
  ["command-secret", "acce", "tool --access-key @@", KEY],
  ["command-secret", "auth", "tool --auth-key @@", KEY],
  ["command-secret", "priv", "tool --private-key @@", KEY],
  ["command-secret", "-pat", "tool -pat @@", KEY],
  ["command-password", "sshp", "sshpass -p @@ ssh a", PASS],
  ["command-password", "mysq", "mysql -u root -p@@ db", PASS],
  ["command-password", "mari", "mariadb -u root -p@@ db", PASS],
  ["command-password", "^red", "redis-cli -a @@ ping", PASS],
  ["command-password", "dock", "docker login -u me -p @@", PASS],
  ["command-password", "podm", "podman login -u me -p @@", PASS],
  ["command-password", "psex", "psexec.exe \\\\a -u me -p @@", PASS],
  ["spoken-password", "pass", "the password is @@", PASS],
  ["spoken-secret", "secr", "the secret is @@", KEY],
  ["spoken-secret", "toke", "my token @@", KEY],
  ["spoken-secret", "key^", "the api key @@", KEY],
  ["call-password", "netw", 'new NetworkCredential("me", "@@")', PASS],
  ["call-password", "dire", 'new DirectoryEntry("LDAP://a", "me", "@@")', PASS],
  ["call-password", "conv", 'ConvertTo-SecureString "@@"', PASS],
  ["cookie", "cook", "Cookie: a=b; sid=@@", KEY],
  ["cookie", "sess", "Cookie: a=b; session=@@", KEY],
  ["cookie", "^sid", "Cookie: sid=@@", KEY],
  ["cookie", "^sec", "Cookie: secure_auth=@@", KEY],
  ["cookie", "^jwt", "Cookie: jwt=@@", KEY],
  ["cookie", "^aut", "Cookie: auth=@@", KEY],
  ["wallet-key", "^0x@", "private key 0x@@", HEX],
];

describe("[S4] secrets that only their context gives away", () => {
  it.each(SAMPLES)("%s, by %s: %s", (kind, gram, sample, secret) => {
    const text = sample.replace("@@", () => secret);
    const patterns = CONTEXT_PATTERNS.filter((each) => each.kind === kind && each.grams.includes(gram));
    expect(patterns.length).toBeGreaterThan(0);
    const sees = patterns.filter(({ pattern, trigger, grams }) => {
      const found = new RegExp(pattern.source, pattern.flags).exec(text)?.groups?.secret;
      // The quick test finds it, whatever the other patterns look for.
      const isSeen = new GramTable(grams).find(text, 0) !== -1 && new RegExp(trigger, "is").test(text);
      return found?.includes(secret) && isSeen;
    });
    expect(sees.length).toBeGreaterThan(0);
    expect(new GramTable([gram]).find(text, 0)).not.toBe(-1);
    expect(redact(text)).not.toContain(secret);
  });

  it("has a sample for each of them", () => {
    const sampled = new Set(SAMPLES.map(([kind, gram]) => `${kind} ${gram}`));
    const all = CONTEXT_PATTERNS.flatMap(({ kind, grams }) => grams.map((gram) => `${kind} ${gram}`));
    expect(all.filter((each) => !sampled.has(each))).toEqual([]);
  });
});
