/** `/mcp` on the listeners of a service. Its code loads with the first request. */

import type { Variables } from "../base/variables.js";
import { VERSION } from "../base/version.js";
import { agentNotices } from "../control/auth/agent-notices.js";
import type { ServiceLog } from "../control/auth/refused-tokens.js";
import type { Mount } from "../control/transports/http/server.js";
import type { McpMount } from "../control/transports/mcp-server/http-mount.js";
import type { Engine } from "./open-engine.js";

export interface LazyMcpMount extends Mount {
  /** The token is no longer valid. */
  drop(jti: string): void;
  close(): void;
}

export interface McpMountPlace {
  readonly variables: Variables;
  readonly log: ServiceLog;
}

export function mcpMountOf(engine: Engine, options: McpMountPlace): LazyMcpMount {
  let mount: Promise<McpMount> | undefined;
  const notify = agentNotices(options.variables);
  const open = async () => {
    const { mcpMount } = await import("../control/transports/mcp-server/http-mount.js");
    return mcpMount({
      ...{ host: engine.host, clock: engine.clock, version: VERSION, log: options.log },
      newClientId: () => engine.newClientId(),
      onSession: (session, agent) => void notify.session(session, agent),
      onQuestion: (session, summary) => void notify.question(session, summary),
    });
  };
  engine.host.addFeature("mcpserver_http");
  return {
    path: "/mcp",
    handle(request, response, client) {
      mount ??= open();
      void mount.then((opened) => opened.handle(request, response, client));
    },
    drop: (jti) => void mount?.then((opened) => opened.drop(jti)),
    close: () => void mount?.then((opened) => opened.close()),
  };
}
