/** `decide_url`, `classify_ip`: what `web_fetch` may reach, as far as that is known without the network. */
import type { JsonObject } from "../../protocol/json.js";
import { checkUrl } from "../../security/net-guard/check-url.js";
import { classifyAddress } from "../../security/net-guard/classify-address.js";
import { problemOfName } from "../../security/net-guard/host-name.js";
import { parseAddress } from "../../security/net-guard/ip-address.js";

export function decideUrl({ url }: JsonObject): JsonObject {
  const verdict = checkUrl(String(url));
  if (verdict.allowed) return { decision: "allow", url: verdict.url.href };
  return { decision: verdict.problem === "malformed" ? "reject" : "block", reason: verdict.reason };
}

/** Some lists name hosts among the addresses. */
export function classifyIp({ address }: JsonObject): JsonObject {
  const text = String(address);
  const isName = parseAddress(text) === undefined && !/[:%]/.test(text);
  if (isName) return { non_public: problemOfName(text.toLowerCase()) !== undefined };
  const { allowed, kind, reason } = classifyAddress(text);
  return { non_public: !allowed, kind, reason };
}
