import type { CreateHook } from "../../services.js";

export const create: CreateHook = () => () => "assemble";
