/** Describes what the name of a host shows before it is looked up. */

/** Endings that no public name has: they stand for this machine, a private network, or nothing that can be fetched. */
const LOCAL_ENDINGS = new Set(
  "localhost local localdomain internal intranet private corp home lan test invalid onion alt home.arpa".split(" "),
);

/** Tells why a name cannot be one of the public internet; nothing if it can. The name is in lower case, without a trailing dot. */
export function problemOfName(name: string): string | undefined {
  const labels = name.split(".");
  const last = labels.at(-1) ?? "";
  if (name.length > 253 || labels.some((label) => !isLabel(label)) || !/^[a-z][a-z0-9-]*$/.test(last)) {
    return "is not a host name";
  }
  if (labels.length === 1 || LOCAL_ENDINGS.has(last) || LOCAL_ENDINGS.has(labels.slice(-2).join("."))) {
    return "is a name of a local network";
  }
  return undefined;
}

/** Underscores are not allowed in host names, but some hosts have them. */
function isLabel(label: string): boolean {
  return /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label);
}
