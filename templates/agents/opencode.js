// checkpoint-hook: opencode's plugin. Written by `checkpoint hooks install opencode`; `checkpoint hooks remove opencode` takes it away.
// The top level has no side effects: opencode loads a plugin a second time when it ends.
import { spawn } from "node:child_process"
const BIN = process.env.CHECKPOINT_HOOK_BIN || "checkpoint-hook" // PROGRAM
const subs = new Set(), dirty = new Map()
function fire(dir, o) {
  if (process.env.CHECKPOINT_DISABLE) return
  try {
    const c = spawn(BIN, ["--agent", "opencode"], { cwd: dir, detached: true, stdio: ["pipe", "ignore", "ignore"], windowsHide: true })
    c.on("error", () => {})
    c.stdin.on("error", () => {})
    c.stdin.end(JSON.stringify(o)); c.unref()
  } catch {}
}
function capture(dir, args, ms) {            // synchronous text from the CLI with a hard deadline
  return new Promise((res) => {
    let out = "", done = (v) => { clearTimeout(t); res(v) }
    const c = spawn(BIN, args, { cwd: dir, stdio: ["ignore", "pipe", "ignore"], windowsHide: true })
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
    "shell.env": async ({ sessionID }, output) => { if (sessionID) output.env.CHECKPOINT_SESSION_ID = sessionID, output.env.CHECKPOINT_AGENT = "opencode" },
    dispose: async () => { for (const [sid] of dirty) if (!subs.has(sid)) fire(directory, base("SessionEnd", sid, { reason: "exit" })) },
  }
}
