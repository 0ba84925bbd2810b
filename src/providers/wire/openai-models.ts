/** OpenAI's models that do not reason. OpenAI refuses requests that set an effort for them or ask for their reasoning. */
export const WITHOUT_REASONING = /^(ft:)?(gpt-3|gpt-4|chatgpt-4o|gpt-5(\.\d+)?-chat)/;

/** Models that call a tool with plain text of a grammar. */
export const WITH_PLAIN_TEXT_TOOLS = /^(gpt-5(?!(\.\d+)?-chat)|gpt-[6-9]|codex-)/;
