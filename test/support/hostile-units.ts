/** Texts that cost much to read when they are repeated, because each looks like the beginning of something long. */
const MARK = `-----BEGIN RSA ${"PRIVATE"} KEY-----`;
const LETTERS = "aZbY1cXdW2eVfU3gTh".repeat(300);

export const HOSTILE_UNITS: readonly string[] = [
  ...[`${MARK}\n`, MARK, "https://a:b@c/", "\u{1F600}", "a\n", "@a ", "./a/b.c ", " ", "`", "a=b;", "\u4e2d"],
  ...["pass:", "key=key=", "password=", "password=abcdefg\n", "password: ", "aws_secret=", 'api_key="', "token: a="],
  ...[`key=${LETTERS.slice(0, 1000)}\n`, `Bearer ${LETTERS.slice(0, 3900)}\n`, `Basic ${LETTERS.slice(0, 1900)}\n`],
  ...["cookie: cookie=", "cookie: a sess=", "curl curl ", "sk-", "eyJ.", "SG.", "AKIA", "0x", "machine a login "],
  ...[`${'"'.repeat(8000)}x password=abcd1234;`, `${"1".repeat(8000)}${"x password=abcd1234;".repeat(400)}`],
];
