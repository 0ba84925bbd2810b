/** Actions that only a client can do. */
export type ClientAction = "cancel" | "clear" | "exit" | "queue";
