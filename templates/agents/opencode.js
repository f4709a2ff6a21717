// checkpoint-hook: opencode's plugin. Written by `checkpoint hooks install opencode`; `checkpoint hooks remove opencode` takes it away.
// The top level has no side effects: opencode loads a plugin a second time when it ends.
import { spawn } from "node:child_process"
const BIN = process.env.CHECKPOINT_HOOK_BIN || "checkpoint-hook" // PROGRAM
const subs = new Set(), fresh = new Set(), dirty = new Map()
function fire(dir, o) {
  if (process.env.CHECKPOINT_DISABLE) return
  try {
    const c = spawn(BIN, ["--agent", "opencode"], { cwd: dir, detached: true, stdio: ["pipe", "ignore", "ignore"], windowsHide: true })
    c.on("error", () => {})
    c.stdin.on("error", () => {})
    c.stdin.end(JSON.stringify(o)); c.unref()
  } catch {}
}
function capture(dir, args, ms, given) {     // text from the program, with a hard deadline
  return new Promise((res) => {
    let out = "", done = (v) => { clearTimeout(t); res(v) }
    const c = spawn(BIN, args, { cwd: dir, stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
    c.stdin.on("error", () => {})
    c.stdin.end(given ? JSON.stringify(given) : "")
    const t = setTimeout(() => { try { c.kill() } catch {}; done("") }, ms)
    c.stdout.on("data", (b) => { out += b }); c.on("error", () => done("")); c.on("close", () => done(out))
  })
}
export const CheckpointPlugin = async ({ directory, worktree }) => {
  const base = (ev, sid, extra) => ({ agent: "opencode", hook_event_name: ev, session_id: sid, cwd: directory, worktree, ...extra })
  return {
    event: async ({ event }) => {
      const p = event.properties || {}
      if (event.type === "session.created" || event.type === "session.updated") {
        if (p.info?.parentID) subs.add(p.info.id)
        else if (event.type === "session.created") fresh.add(p.info?.id)
        return
      }
      if (!p.sessionID || subs.has(p.sessionID)) return
      if (event.type === "session.status" && p.status?.type === "busy") dirty.set(p.sessionID, true)
      if (event.type === "session.idle") fire(directory, base("Stop", p.sessionID))
      if (event.type === "session.compacted") fire(directory, base("PostCompact", p.sessionID))
    },
    "experimental.session.compacting": async ({ sessionID }, output) => {
      fire(directory, base("PreCompact", sessionID))
      const t = await capture(directory, ["compact-context", "--agent", "opencode", "--session", sessionID], 1500)
      if (t) output.context.push(t)
    },
    "chat.message": async ({ sessionID }, output) => {     // there is no hook for a session's start
      if (process.env.CHECKPOINT_DISABLE || !fresh.delete(sessionID)) return
      try {
        const last = output.parts.at(-1)
        const start = base("SessionStart", sessionID, { source: "startup" })
        const answer = await capture(directory, ["--agent", "opencode"], 2500, start)
        const text = answer && JSON.parse(answer).hookSpecificOutput?.additionalContext
        if (text && last?.id) output.parts.push({ id: last.id + "z", sessionID, messageID: output.message.id, type: "text", synthetic: true, text })
      } catch {}
    },
    "shell.env": async ({ sessionID }, output) => { if (sessionID) output.env.CHECKPOINT_SESSION_ID = sessionID, output.env.CHECKPOINT_AGENT = "opencode" },
    dispose: async () => { for (const [sid] of dirty) if (!subs.has(sid)) fire(directory, base("SessionEnd", sid, { reason: "exit" })) },
  }
}
