import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HOSTILE_UNITS } from "../../../test/support/hostile-units.js";
import { processorMs } from "../../../test/support/processor-time.js";
import { times } from "../../../test/support/thorough.js";
import { verifies } from "../../../test/verifies.js";
import { noteKeyVariables, noteSecret } from "../../system/own-secrets.js";
import { redact } from "./redact.js";
import { RedactingStream } from "./redacting-stream.js";
import { LONGEST_SEGMENT } from "./segments.js";
import { findTrigger } from "./triggers.js";

/** Letters and digits as a machine draws them; the same for the same seed. No sample is written down. */
function random(
  length: number,
  alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
  seed = 7,
): string {
  let state = seed * 2_654_435_761 + length;
  let out = "";
  for (let index = 0; index < length; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    out += alphabet.charAt((state >>> 8) % alphabet.length);
  }
  return out;
}

const took = (text: string) => processorMs(() => redact(text));

const HEX = "0123456789abcdef";
const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function privateKey(lines = 20): string {
  const body = Array.from({ length: lines }, (_, line) => random(64, BASE64, line + 1)).join("\n");
  return `-----BEGIN RSA ${"PRIVATE"} KEY-----\n${body}\n-----END RSA ${"PRIVATE"} KEY-----`;
}

function uuid(): string {
  return [8, 4, 4, 4, 12].map((length, seed) => random(length, HEX, seed + 1)).join("-");
}

/** [text around the secret with @ for it, the secret, its kind] */
const SECRETS: readonly (readonly [string, string, string])[] = [
  ["AWS_ACCESS_KEY_ID=@\nHOME=/root", `AKIA${random(16, UPPER)}`, "aws-access-key"],
  ["your token: @ (24 h)", `oxb1.${"eyJ"}${random(160)}.${random(43)}`, "oxbow-token"],
  ['{"AWS_SECRET_ACCESS_KEY": "@"}', random(40), "api-key"],
  ["remote: https://x-access-token:@@github.com/a/b.git", `gh${"p_"}${random(36)}`, "github"],
  ["\x1b[31m@\x1b[0m", `gh${"s_"}${random(36)}`, "github"],
  ['{"text": "line\\n@"}', `github${"_pat_"}${random(60)}`, "github"],
  ["token is @.", `glpat${"-"}${random(20)}`, "gitlab"],
  ["bot: @", `xox${"b-"}${random(12, "0123456789")}-${random(12, "0123456789")}-${random(24)}`, "slack"],
  ["?key=@&x=1", `AIza${"Sy"}${random(33)}`, "google-api-key"],
  ["pay @ now", `sk_${"live_"}${random(24)}`, "stripe"],
  ["@", `sk-${"proj-"}${random(60)}T3Blbk${"FJ"}${random(60)}`, "openai"],
  ["x-api-key: @", `sk-ant-${"api03-"}${random(93)}AA`, "anthropic"],
  ["@ without its usual end", `sk-ant-${"oat01-"}${random(90)}`, "anthropic"],
  ["a kind that may come: @", `sk-ant-${"new07-"}${random(60)}`, "anthropic"],
  ["@", `sk-ant-${"admin01-"}abcdefghijklmnopqrst${random(72)}AA`, "anthropic"],
  ['{"text": "key\\u003d@"}', `gh${"o_"}${random(36)}`, "github"],
  ['accounts: ["0x@"]', random(64, HEX), "wallet-key"],
  ["//npm.example.com/:_authToken=@", `npm${"_"}${random(36)}`, "npm"],
  ["password = @", `pypi-${"AgEIcHlwaS5vcmc"}${random(80)}`, "pypi"],
  ["jwt @ end", `eyJ${random(30)}.eyJ${random(60)}.${random(43)}`, "jwt"],
  ["Authorization: Bearer @", random(40), "authorization"],
  ["-H 'Authorization: Basic @'", `${random(23)}=`, "basic"],
  ["postgres://app:@@db.internal:5432/x", random(12), "url-password"],
  ["Server=db;User=sa;Password=@;Timeout=3", random(14), "connection-password"],
  ["curl -u admin:@ https://h", random(14), "command-password"],
  ['const apiKey: string = "@";', random(32), "api-key"],
  ['System.setProperty("MY_TOKEN", "@")', random(32), "token"],
  ["export DB_PASSWORD=@", random(12), "password"],
  ["client_secret: '@'", random(32, HEX), "secret"],
  ["pixelmapKey: '@'", random(24), "key"],
  ["the WEATHERSTATION_KEY = @ is new", random(32, HEX), "key"],
  ["deploy --api-key @ --region eu", random(40), "command-secret"],
  ["Connect-Server -User admin -Password @", `${random(9)}!`, "command-secret"],
  ["sshpass -p @ ssh host", random(12), "command-password"],
  ["X-Weather-Token: @", random(32, HEX), "authorization"],
  ["Authorization: SSWS @", `00${random(40)}`, "authorization"],
  ["Set-Cookie: theme=dark; app_session=@; Path=/", random(40), "cookie"],
  ["The password is '@'.", random(11), "spoken-password"],
  ["machine h\n  login me\n  password @\n", random(20), "spoken-password"],
  ['new NetworkCredential("me", "@")', random(16), "call-password"],
  ["ci_access_token: @", uuid(), "token"],
  ["client-key-data: @", Buffer.from(privateKey()).toString("base64"), "private-key"],
  ['SECRET_KEY = "@"', `v9!x%2(${random(20)}$k&^q`, "secret"],
  ["@", `sk-${random(48)}`, "api-key"],
  ["npx tool @", `pcsk${"_"}${random(6)}_${random(60)}`, "pinecone"],
  ["HEROKU_API_KEY=@", [8, 4, 4, 4, 12].map((length) => random(length, HEX)).join("-"), "service-key"],
];

describe("redact", () => {
  verifies(["S4"], "hides a secret of each kind and keeps the text around it", () => {
    for (const [frame, secret, kind] of SECRETS) {
      const at = frame.indexOf("@");
      const [before, after] = [frame.slice(0, at), frame.slice(at + 1)];
      const out = redact(before + secret + after);
      expect(out, frame).not.toContain(secret);
      const hidden = frame.includes(":_authToken") ? "npm" : kind;
      if (frame.startsWith("curl")) expect(out).toBe(`curl -u «redacted:${kind}»${after}`);
      else expect(out).toBe(`${before}«redacted:${hidden}»${after}`);
    }
  });

  verifies(["S4"], "hides private keys, also indented, in one string and without their end", () => {
    const key = privateKey();
    expect(redact(`a\n${key}\nb`)).toBe("a\n«redacted:private-key»\nb");
    const numbered = key.split("\n").map((line, index) => `${index + 1}\t${line}`);
    expect(redact(numbered.join("\n"))).toBe("1\t«redacted:private-key»");
    expect(redact(JSON.stringify({ private_key: key }))).toBe('{"private_key":"«redacted:private-key»"}');
    const cutOff = `${key.split("\n").slice(0, 5).join("\n")}\n[the rest was left out]`;
    expect(redact(cutOff)).toBe("«redacted:private-key»\n[the rest was left out]");
  });

  verifies(["S4"], "leaves alone what only looks like a secret", () => {
    const clean = [
      `commit ${random(40, HEX)}`,
      `"integrity": "sha512-${random(86, BASE64)}=="`,
      `sha256:${random(64, HEX)}`,
      `request_id: ${uuid()}`,
      `<img src="data:image/png;base64,${random(4_000, BASE64)}">`,
      "const token = process.env.GITHUB_TOKEN;",
      'api_key = "<your-key>"',
      'api_key = "xxxxxxxxxxxxxxxxxxxx"',
      `key = "AKIA${"IOSFODNN7"}EXAMPLE"`,
      'password: "${DB_PASSWORD}"',
      "password: string;",
      '"password": "Passwort",',
      "max_tokens: 200000,",
      `cache_key = "${random(40, HEX)}"`,
      `primary-key: ${uuid()}`,
      `token: "${uuid()}"`,
      'the "password" field is required8 and the key is shown',
      'apiKey = "abcdef1234567890abcdef1234567890"',
      'passphrase: "OXBOW_PASSPHRASE_2"',
      '"/docs/a-strong-password": "/docs/server@3.0/auth"',
      "--api-key $API_KEY --token <token> --password ${PASSWORD1}",
      "private_key: ed25519.Ed25519PrivateKey, password: str2bytes",
      "const cacheKey = createHash('sha256').update(source3).digest('hex');",
      `resolved "https://registry.example/a/-/a-1.0.0.tgz#${random(40, HEX)}"`,
      `<script integrity="sha384-${random(64, BASE64)}">`,
      "function e(t,n){return t.key===n.key2&&t.token1!==n.token2}var r=o.secretKey;",
      "index 3f9c1a2b..7d8e9f0a 100644",
      "postgres://user:password@localhost/db",
      "https://${user}:${password}@host/",
      'curl -u "$USER:$TOKEN" https://h',
      "Authorization: Bearer $TOKEN",
      "const tokenizer = createTokenizer(source2, options3);",
      "this.secretName = this.options.secretName2.toLowerCase();",
      `gh${"p_"}${"x".repeat(36)}`,
      "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
      'if (text.includes("-----BEGIN PRIVATE KEY-----")) {\n  return text;\n}',
    ].join("\n");
    expect(redact(clean)).toBe(clean);
  });

  verifies(
    ["S4"],
    "finds a secret within a line of any length, and takes no longer for hostile text than for keys",
    () => {
      const secret = `gh${"p_"}${random(36)}`;
      for (const at of [100, LONGEST_SEGMENT - 20, LONGEST_SEGMENT, 3 * LONGEST_SEGMENT - 5]) {
        const filler = "a=b+c;".repeat(at).slice(0, at - 1);
        expect(redact(`${filler} ${secret};${filler}`)).toBe(`${filler} «redacted:github»;${filler}`);
      }
      const ordinary = Math.min(...[1, 2, 3].map(() => took(`gh${"p_"}${random(36)}\n`.repeat(7_000))));
      const more = ["ey", "token", "a3-", "-----BEGIN ", "://a:", "curl -u ", 'key="', "=", "n", "\\", "eyJ"];
      const texts = [...HOSTILE_UNITS, ...more].map((unit) => unit.repeat(Math.ceil(262_144 / unit.length)));
      const keys = ["ey", "token", "=", " ", "password="].map(
        (unit) => `-----BEGIN ${"PRIVATE"} KEY-----\n${unit.repeat(50_000)}`,
      );
      // The processor has other work, too: one of three attempts is enough.
      const isQuick = (text: string) => [1, 2, 3].some(() => took(text) < 5 * ordinary);
      for (const text of [...texts, ...keys]) expect(isQuick(text), JSON.stringify(text.slice(0, 40))).toBe(true);
    },
  );

  it("leaves a password that runs along the keyboard or the alphabet for more than half of it", () => {
    for (const [value, isTyped] of [
      ["qwerty99", true],
      ["abcdef1x", true],
      ["Qwert1xyzk", false],
      ["zq4xabcd", false],
    ] as const)
      expect([value, redact(`password = "${value}"`).includes(value)]).toEqual([value, isTyped]);
  });

  it("judges a text of many beginnings of keys after few looks at them", () => {
    expect(findTrigger("sk-".repeat(20), 0)).toBe(Number.POSITIVE_INFINITY);
    expect(findTrigger("sk-".repeat(50_000), 0)).toBeLessThan(1000);
  });

  verifies(["S4"], "hides what follows many names that share one value, without a look at each", () => {
    const names = (count: number) => Array.from({ length: count }, () => `some.key=`).join("");
    expect(redact(`${names(8)}word`)).toBe(`${names(8)}word`);
    expect(redact(`${names(10)}word x`)).toBe(`${names(9)}«redacted:secret» x`);
    expect(redact(`${names(4)}word ${names(8)}word`)).toBe(`${names(4)}word ${names(8)}word`);
  });
});

describe("RedactingStream", () => {
  const piece = fc.oneof(
    fc.constantFrom(...SECRETS.map(([frame, secret]) => frame.replace("@", secret))),
    fc.constantFrom(
      "\n",
      " ",
      "\r\n",
      "\t",
      '"',
      "=",
      "token",
      "api_key = ",
      "-----BEGIN ",
      "curl ",
      "«",
      "a".repeat(9_000),
      "b c;".repeat(3_000),
    ),
    fc.constant(privateKey()),
    fc.constant(privateKey().slice(0, 300)),
    fc.constant(privateKey(400)),
    fc.string({ maxLength: 40 }),
  );

  verifies(["S4"], "gives for every way of cutting a text what redact gives for the whole", () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1 }),
        (pieces, sizes) => {
          const text = pieces.join("");
          const stream = new RedactingStream();
          let out = "";
          for (let at = 0, turn = 0; at < text.length; turn++) {
            const size = sizes[turn % sizes.length] ?? 1;
            out += stream.push(text.slice(at, at + size));
            at += size;
          }
          expect(out + stream.end()).toBe(redact(text));
        },
      ),
      { numRuns: times(50, 150) },
    );
  });

  verifies(["S4"], "holds back only what may become a secret", () => {
    const stream = new RedactingStream();
    expect(stream.push("Building 10 of 20 ")).toBe("Building 10 of 20 ");
    expect(stream.push("modules")).toBe("");
    expect(stream.push(" done\nnext")).toBe("modules done\n");
    const secret = `gh${"p_"}${random(36)}`;
    expect(stream.push(` ${secret.slice(0, 12)}`)).toBe("next ");
    expect(stream.push(`${secret.slice(12)} `)).toBe("");
    expect(stream.push("x\n")).toBe("«redacted:github» x\n");
    expect(stream.push("z".repeat(5 * LONGEST_SEGMENT)).length).toBeGreaterThanOrEqual(4 * LONGEST_SEGMENT);
    expect(stream.end().length).toBeLessThanOrEqual(LONGEST_SEGMENT);
  });
});

describe("the keys of this process", () => {
  // No pattern knows these forms.
  const own = ["plainwords-of-mine", "0000000042", "q(u).o*t+e?d[x]", "plainwords-of-mine-too", "sk-plain.words"];
  const hidden = "«redacted:own-key»";

  verifies(["S4"], "are hidden whatever they look like, in every cut of a stream", () => {
    const text = (secrets: readonly string[]) =>
      secrets.map((secret) => `at ${secret}, "${secret}" and\n${secret}${secret} x${secret}y`).join("\n");
    const before = text(own);
    expect(redact(before)).toBe(before);
    own.forEach(noteSecret);
    const after = text(own.map(() => hidden));
    expect(redact(before)).toBe(after);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 5, maxLength: 60 }), (lengths) => {
        const stream = new RedactingStream();
        let out = "";
        let at = 0;
        for (const length of lengths) {
          out += stream.push(before.slice(at, at + length));
          at += length;
        }
        expect(out + stream.push(before.slice(at)) + stream.end()).toBe(after);
      }),
      { numRuns: times(100, 1000) },
    );
    const lines = `${"word ".repeat(20)}${own[1]}\n`.repeat(2000);
    expect(redact(lines)).toBe(lines.replaceAll(own[1] ?? "", hidden));
  });

  verifies(["S4"], "come from variables whose names say so; words, paths and placeholders stay readable", () => {
    const variables = {
      ACME_API_KEY: "acmewordswordswords",
      WORK_TOKEN: " tokenwordswords ",
      OXBOW_MACHINE_KEY: "machinewordswords",
      POSTGRES_PASSWORD: "postgres",
      OPENAI_API_KEY: "ollama",
      LMSTUDIO_API_KEY: "lm-studio",
      TLS_KEY: "/etc/ssl/server/key.pem",
      KEYBOARD_LAYOUT: "qwertyqwerty",
      SSH_AUTH_SOCK: "/tmp/agent/socket",
    };
    noteKeyVariables(variables);
    const shown = Object.values(variables).map((value) => redact(`it is ${value.trim()} here`));
    expect(shown.slice(0, 3)).toEqual(Array(3).fill(`it is ${hidden} here`));
    expect(shown.slice(3)).toEqual(
      Object.values(variables)
        .slice(3)
        .map((value) => `it is ${value} here`),
    );
  });
});
