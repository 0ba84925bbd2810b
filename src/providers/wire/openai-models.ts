/** Models of OpenAI's that do not reason. It refuses a request that asks them to, or for their reasoning. */
export const WITHOUT_REASONING = /^(ft:)?(gpt-3|gpt-4|chatgpt-4o|gpt-5(\.\d+)?-chat)/;
