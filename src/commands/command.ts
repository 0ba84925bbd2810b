export * from "../feature/command.js";
