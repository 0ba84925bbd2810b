export * from "../../feature/setting.js";
