import { ACCEPTED_EDITS } from "./accepted-edits.mjs";

/**
 * Cases whose expectation Oxbow does not share, and why. They are counted separately and never hidden.
 * src/providers/wire/suites.outside.test.ts checks from the recordings that Oxbow's own reading of the cases of `wire` is right.
 */
const FRAGMENTS =
  "expects every piece of a call whose arguments are streamed as a call of its own, most of them without a name and all with {} for arguments, because the SDK passes pieces on unread; a program that runs calls has to put them together, as the tests that the recordings come from do";
const GLUED =
  "is several recorded answers, one behind the other in a body, each to a request with the results of the one before; no server sends that. Oxbow stops at the first response.completed: reading on would wait for servers that leave the connection open, and the expected usage is that of the last answer alone, so the others would not be paid for";

const EXAMPLE = "is an example with repeated letters instead of the secret, which no service gives out";
const PUBLIC_ID = "is the id of an account, a tenant or an application: it opens nothing, and a model needs it to help";
const INSIDE_WORD = "has the key in the middle of a longer word; a key stands by itself, and half a word is no key";
const BARE_HEX =
  "is a number in hexadecimal digits without a name that says it is secret; transactions and checksums look the same";
const MIXED_HEX =
  "is a key in hexadecimal digits of both cases, which no program writes; the same with digits of one case is redacted";

/** Cases of `secrets` share ids, so a digest names each text; the texts themselves stay out of the repository. */
const SECRETS = [
  { suite: "secrets", id: "sourcegraph-access-token", digest: "d55eb70fb507", why: MIXED_HEX },
  { suite: "secrets", id: "secretlint/aws", digest: "be6f5b1a7514", why: PUBLIC_ID },
  { suite: "secrets", id: "secretlint/azure", digest: "f3e4985794a8", why: PUBLIC_ID },
  { suite: "secrets", id: "secretlint/azure", digest: "6d0b6c12fa74", why: PUBLIC_ID },
  { suite: "secrets", id: "secretlint/huggingface", digest: "93773d920fa5", why: EXAMPLE },
  { suite: "secrets", id: "secretlint/secp256k1-privatekey", digest: "8f072806c7ea", why: BARE_HEX },
  { suite: "secrets", id: "secretlint/sendgrid", digest: "b9f887e8d251", why: INSIDE_WORD },
  { suite: "secrets", id: "secretlint/slack", digest: "c4e484835dcd", why: EXAMPLE },
  { suite: "secrets", id: "secretlint/tailscale", digest: "f5f448c04036", why: INSIDE_WORD },
];

export const ACCEPTED = [
  ...ACCEPTED_EDITS,
  ...SECRETS,
  {
    suite: "wire",
    id: "openai-chat/llm--test_tools_streaming_variant_a--0",
    why: "expects the name of a tool that the server sends twice to be doubled (llm_versionllm_version), which no tool is called; the test that the recording comes from wants the tool to be run",
  },
  {
    suite: "wire",
    id: "gemini/vercel--google--google-stream-no-args-tool-call",
    why: FRAGMENTS,
  },
  {
    suite: "wire",
    id: "gemini/vercel--google--google-stream-tool-call-arguments",
    why: FRAGMENTS,
  },
  {
    suite: "wire",
    id: "gemini/vercel--google--google-stream-tool-call-array-arguments-missing-terminal-function-call",
    why: FRAGMENTS,
  },
  {
    suite: "wire",
    id: "gemini/vercel--google--google-vertex-stream-tool-call-arguments-nested.1",
    why: FRAGMENTS,
  },
  {
    suite: "wire",
    id: "gemini/genai--Chats_Tests_chats_function_calling_Vertex_AI_with_streaming_function_calling_arguments_stream--0",
    why: FRAGMENTS,
  },
  {
    suite: "wire",
    id: "gemini/genai--Client_Tests_generateContentStream_partial_function_calling_Vertex_AI_should_stream_generate_content_en",
    why: FRAGMENTS,
  },
  {
    suite: "wire",
    id: "gemini/genai--Client_Tests_generateContentStream_partial_function_calling_Vertex_AI_should_stream_generate_content_wi",
    why: FRAGMENTS,
  },
  { suite: "wire", id: "openai-responses/vercel--openai--openai-reasoning-encrypted-content.1", why: GLUED },
  { suite: "wire", id: "openai-responses/vercel--openai--openai-shell-tool.1", why: GLUED },
  {
    suite: "ssrf",
    id: "127.0.0.2",
    why: "expects loopback to be reachable, as hooks of the program it comes from may; a page fetched for a model may not reach this machine",
  },
  {
    suite: "ssrf",
    id: "127.255.255.255",
    why: "expects loopback to be reachable, as hooks of the program it comes from may; a page fetched for a model may not reach this machine",
  },
  {
    suite: "ssrf",
    id: "::ffff:7f00:1",
    why: "expects loopback to be reachable, as hooks of the program it comes from may; a page fetched for a model may not reach this machine",
  },
  { suite: "ssrf", id: "fe00::1", why: "expects an address outside 2000::/3 to be public; none such is given out" },
  { suite: "ssrf", id: "fec0::1", why: "expects an address outside 2000::/3 to be public; none such is given out" },
];
