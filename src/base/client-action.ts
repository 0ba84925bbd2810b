/** What the engine cannot do for a client. */
export type ClientAction = "cancel" | "clear" | "exit" | "queue";
