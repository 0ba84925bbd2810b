/** Cases whose expectation Oxbow does not share, and why. They are counted apart and never hidden. */
export const ACCEPTED = [
  {
    suite: "wire",
    id: "openai-chat/llm--test_tools_streaming_variant_a--0",
    why: "expects a tool name that the server repeats to be doubled; Oxbow reads it once",
  },
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
