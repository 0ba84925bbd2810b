/** `oxbow doctor` on proxies and certificate authorities: which are used, and whether they can be. */

import type { Variables } from "../../../base/variables.js";
import { readNetworkPlan } from "../../../runtime/network.js";
import { openNetwork } from "../../../system/network/network.js";
import { NetworkSettingError, parseProxyAddress } from "../../../system/network/proxy-address.js";
import type { Finding } from "./finding.js";

export async function networkFindings(variables: Variables): Promise<readonly Finding[]> {
  const plan = await readNetworkPlan(variables);
  if (plan === undefined) return [finding("network", "direct: no proxy is set")];
  try {
    await openNetwork(plan).secureContext();
  } catch (error) {
    if (!(error instanceof NetworkSettingError)) throw error;
    return [{ subject: "network", verdict: "fail", text: error.message }];
  }
  const proxies = Object.entries({ https: plan.httpsProxy, http: plan.httpProxy }).flatMap(([kind, proxy]) =>
    proxy === undefined ? [] : [`${kind} through ${parseProxyAddress(proxy.value, "").shown} (${proxy.origin})`],
  );
  const files = (plan.authorities ?? []).map(({ value, origin }) => `${value} (${origin})`);
  const direct = plan.noProxy?.trim() ? `, but not to ${plan.noProxy.trim()}` : "";
  return [
    ...(proxies.length > 0 ? [finding("proxy", `${proxies.join(", ")}${direct}`)] : []),
    ...(files.length > 0 ? [finding("authorities", `also trusts the certificates in ${files.join(", ")}`)] : []),
  ];
}

function finding(subject: string, text: string): Finding {
  return { subject, verdict: "ok", text };
}
