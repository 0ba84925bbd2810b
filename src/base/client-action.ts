/** Actions that every client with a conversation can do. */
export type ClientAction = "cancel" | "clear" | "doctor" | "exit" | "login" | "queue";

/** Actions of the terminal client: the others show something that needs a screen. */
export type ScreenAction =
  | ClientAction
  | "approve"
  | "copy"
  | "keys"
  | "model"
  | "rewind"
  | "sessions"
  | "settings"
  | "sidebar"
  | "statusline"
  | "theme"
  | "transcript"
  | "undo"
  | "web";
