/** The files of the control socket in the state folder. The start of the program reads this, so it loads nothing else. */
export const CONTROL_SOCKET = "control.sock";
export const CONTROL_TOKEN = "control.token";
export const CONTROL_LOCK = "control.lock";
export const CONTROL_ENVIRONMENT = "control.environment";
