/**
 * Holds what payloads have in common, for deflate: most are shorter than their own field names.
 *
 * 1. This text is part of the format. Rows with encoding 2 cannot be read with another: a better one gets encoding 3.
 * 2. Deflate refers to what is near more cheaply, so the frequent comes last. Ids that bodies leave out are left out here.
 */
export const DICTIONARY_2: Buffer = Buffer.from(
  [
    '{"turn":"turn_01","input":[{"type":"text","text":"«ttl-expired»"}]}{"call":"call_01","tool":"bash","args":{}}',
    '{"turn":"turn_","outcome":"answered","text":"«ttl-expired»","iterations":',
    '{"call":"call_","tool":"bash","status":"ok","content":[{"type":"text","text":"«ttl-expired»"}]}',
    '{"reason":"binary-shutdown"}{"reason":"idle"}{"reason":"user"}{"reason":"error"}',
    '{"jti":"tok_01","exp":1}{"from":1,"to":2,"reason":"ttl"}{"event":"PostToolUse","command":"","timeout_ms":60000}',
    '{"event":"PreToolUse","command":"","exit_code":1}{"name":"","reason":"","attempts":1}{"added":[],"removed":[]}',
    '{"namespace":"","kind":"","payload":{}}{"turn":"turn_01","by":"cli_01"}{"turn":"turn_01","reason":"context window","summary":"',
    '"failure":{"reason":"NetworkFailed","message":"Could not reach ","retryable":false,"status":400}',
    '"reason":"RateLimited","message":"Provider ","retryable":true,"retry_after_ms":1000,"turn":"turn_01',
    '"outcome":"cancelled","outcome":"failed","outcome":"limit","outcome":"denied","truncated":true',
    '"status":"cancelled","status":"timeout","status":"denied","status":"skipped","content":[{"type":"image","media_type":"image/png","data":"',
    '"decision":"allow_pattern","decision":"allow_tool","decision":"deny","decided_by":"person","message":"',
    '{"call":"call_","tool":"bash","decision":"allow_once","decided_by":"mode allow"}',
    '{"call":"call_","tool":"write","args":{"path":"src/","content":""},"summary":"',
    '{"call":"call_01","tool":"grep","args":{"pattern":"","path":"."}}{"call":"call_01","tool":"glob","args":{"pattern":"**/*.ts"}}',
    '{"call":"call_01","tool":"edit","args":{"path":"src/","old_string":"","new_string":"","edits":[{"old":"","new":""}]}}',
    '{"call":"call_01","tool":"read","args":{"path":"src/","offset":1,"limit":2000}}',
    '"details":{"path":"","lines":1,"bytes":1,"matches":1,"files":1,"diff":"--- a/\\n+++ b/\\n@@ -1,1 +1,1 @@\\n',
    '"killed_processes":1}}{"background_id":"","output_file":"/","signal":"SIGTERM","truncated":true',
    '{"text":"The I\'ll now let me check the file and run the tests. This is in that for with are not","provider":"anthropic","opaque":{"signature":"',
    '","provider":"openai","model":"gpt-5","usage":{","provider":"ollama","model":"qwen3:8b","usage":{","provider":"offline","model":"echo",',
    '"answer":{"blocks":[{"type":"thinking","deltas":1},{"type":"text","deltas":2},{"type":"tool_use","call":"call_01"}],"interrupted":true}}',
    '{"turn":"turn_","parts":{"start/10-input":0.0,"start/20-session":0.0,"assemble/10-messages":0.0,"assemble/20-tools":0.0,"assemble/25-skills":0.0,"assemble/30-instructions":0.0,"assemble/40-memory":0.0,"assemble/50-compaction":0.0,"assemble/60-cache":0.0,"request-link/20-retry":0.0,"request-link/90-log":0.0,"send/50-model":1.0,"provider/first_byte":',
    ',"provider/total":,"receive/50-answer":,"tool/bash":,"tool-link/70-redact":0.0,"tool-link/60-cap":0.0,"tool-link/20-permission":0.0,"tool-link/10-ledger":0.0,"tool-link/10-arguments":,"tool_exec/50-dispatch":,"tool_done/50-continue":0.0,"error/50-report":,"done/10-open-calls":0.0,"done/20-permission":0.0}}',
    '{"turn":"turn_01","input":[{"type":"text","text":"',
    '{"turn":"turn_","outcome":"answered","text":"","iterations":2,"usage":{"input":1,"output":1,"cache_read":1,"cache_write":0,"reasoning":0}}',
    '{"call":"call_","text":"',
    '{"text":" the and of to a in is',
    '{"turn":"turn_","provider":"anthropic","model":"claude-opus-4-5","model":"claude-sonnet-4-5","usage":{"input":1,"output":1,"cache_read":0,"cache_write":0,"reasoning":0},"elapsed_ms":1}',
    "git diff status log npm test -- npx node python3 make ls -la cat head -n grep -rn find . -name sed -n echo cd src/ && 2>&1 | tail -",
    '{"call":"call_01","tool":"bash","args":{"command":"',
    "-rw-r--r-- 1 drwxr-xr-x 2 root root 4096 Error: error: warning: .ts: .js: .py: ms passed failed\\n",
    '{"call":"call_","tool":"bash","status":"error","content":[{"type":"text","text":"',
    '{"call":"call_","tool":"bash","status":"ok","content":[{"type":"text","text":"',
    '"}],"details":{"exit_code":1,"signal":null,"duration_ms":',
    '"}],"details":{"exit_code":0,"signal":null,"duration_ms":1,"truncated":false,"output_file":null}}',
  ].join("\n"),
);
