/** Says whether a text can be an API key. */
export type KeyCheck =
  | { readonly ok: true; readonly key: string; readonly warning?: string }
  | { readonly ok: false; readonly problem: string };

/** Lists how keys usually begin. If a provider changes that, the user gets a warning, never a refusal. */
const BEGINNINGS: Readonly<Record<string, string>> = {
  anthropic: "sk-ant-",
  openai: "sk-",
  gemini: "AIza",
  openrouter: "sk-or-",
  groq: "gsk_",
  deepseek: "sk-",
  fireworks: "fw_",
};

const LONGEST = 16 * 1024;

export function checkKey(text: string, provider: string): KeyCheck {
  const key = text.trim();
  if (key === "") return no("The key is empty.");
  if (/[\r\n]/.test(key)) return no("The key has more than one line. Give the key alone.");
  if (/^(export\s+)?[A-Z][A-Z0-9_]*=/.test(key)) return no("This is an assignment. Give only the part after the '='.");
  if (/^(["']).*\1$/.test(key)) return no("The key stands in quotes. Give it without them.");
  if (/^bearer\s/i.test(key)) return no("Give the key without 'Bearer'.");
  if (/\s/.test(key)) return no("The key has a space in it.");
  if (!/^[\x21-\x7e]+$/.test(key)) return no("The key contains characters that are not allowed in a key.");
  if (key.length > LONGEST) return no("This is too long for a key.");
  const usual = BEGINNINGS[provider];
  if (usual !== undefined && !key.startsWith(usual)) {
    return { ok: true, key, warning: `keys of ${provider} usually begin with '${usual}', this one does not.` };
  }
  const other = longerBeginning(key, provider);
  if (other !== undefined) return { ok: true, key, warning: `this looks like a key of ${other}.` };
  return { ok: true, key };
}

/** `sk-ant-…` also begins with `sk-`. */
function longerBeginning(key: string, provider: string): string | undefined {
  const usual = BEGINNINGS[provider] ?? "";
  const found = Object.entries(BEGINNINGS).find(
    ([name, beginning]) =>
      name !== provider && beginning.length > Math.max(3, usual.length) && key.startsWith(beginning),
  );
  return found?.[0];
}

function no(problem: string): KeyCheck {
  return { ok: false, problem };
}
