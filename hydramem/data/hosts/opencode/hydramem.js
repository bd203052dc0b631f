// HydraMem in OpenCode: memories for a session and its prompts, and turns captured whenever the agent is idle.
// The program `hydramem hook opencode` does the work. Whatever goes wrong there, the session goes on without it.
import { spawn } from "node:child_process";

const COMMAND = ["hydramem"];
const MOST_MILLISECONDS = 2000;
const MOST_BLOCKS = 4;
const MOST_MESSAGES = 40;

// OpenCode can load a plugin twice in one process: what is known is shared, and the latest one acts.
const shared = (globalThis[Symbol.for("hydramem")] ??= { current: new Map(), sessions: new Map(), children: new Set() });

function call(event) {
  return new Promise((resolve) => {
    let output = "";
    // In a process group of its own, a call outlives OpenCode, which ends or is killed as soon as the agent is idle.
    const options = { stdio: ["pipe", "pipe", "ignore"], detached: process.platform !== "win32" };
    const child = spawn(COMMAND[0], [...COMMAND.slice(1), "hook", "opencode"], options);
    const done = () => {
      clearTimeout(timer);
      try {
        const { kept = false, context = "" } = JSON.parse(output);
        resolve({ kept, context });
      } catch {
        resolve({ kept: false, context: "" });
      }
    };
    const timer = setTimeout(() => child.kill("SIGKILL"), MOST_MILLISECONDS);
    child.on("error", done);
    child.on("close", done);
    child.stdout.setEncoding("utf8").on("data", (part) => (output += part));
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(event));
  });
}

const said = (parts) =>
  parts
    .filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
    .map((part) => part.text.replace(/^"([^]*)"\s*$/, "$1"))
    .join("\n");

function sessionOf(id) {
  if (!shared.sessions.has(id)) shared.sessions.set(id, { source: "startup", blocks: [], sent: new Set() });
  return shared.sessions.get(id);
}

export const HydraMem = async ({ client, directory }) => {
  const own = {};
  shared.current.set(directory, own);
  const acts = (id) => id && (shared.current.get(directory) ?? own) === own && !shared.children.has(id);
  const tell = (name, id, more) => call({ hook_event_name: name, session_id: id, cwd: directory, ...more });

  async function capture(name, id) {
    const session = sessionOf(id);
    const found = await client.session.messages({ path: { id } }).catch(() => ({ data: [] }));
    const fresh = (found.data ?? []).filter(({ info }) => !session.sent.has(info.id)).slice(-MOST_MESSAGES);
    const messages = fresh.map(({ info, parts }) => ({
      id: info.id,
      role: info.role,
      at: new Date(info.time?.created ?? Date.now()).toISOString(),
      text: said(parts),
    }));
    // A program that ran out of time ends well too, so only what it says it has kept is not told again.
    if ((await tell(name, id, { messages })).kept) fresh.forEach(({ info }) => session.sent.add(info.id));
  }

  return {
    event: async ({ event }) => {
      const id = event.properties?.sessionID ?? event.properties?.info?.id;
      if (event.type === "session.created" && event.properties.info?.parentID) shared.children.add(id);
      if (!acts(id)) return;
      if (event.type === "session.idle") await capture("session.idle", id);
      if (event.type === "session.deleted") await tell("session.deleted", id).finally(() => shared.sessions.delete(id));
    },
    "chat.message": async ({ sessionID }, { parts }) => {
      if (!acts(sessionID)) return;
      const session = sessionOf(sessionID);
      const { source } = session;
      session.source = "";
      const opening = source ? [await tell("session.created", sessionID, { source })] : [];
      const found = [...opening, await tell("chat.message", sessionID, { prompt: said(parts) })];
      session.blocks = [...session.blocks, ...found.map(({ context }) => context)].filter(Boolean).slice(-MOST_BLOCKS);
    },
    // It runs for titles too, before any message of the session: then there is nothing to inject.
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      if (acts(sessionID)) system.push(...(shared.sessions.get(sessionID)?.blocks ?? []));
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      if (!acts(sessionID)) return;
      await capture("session.compacting", sessionID);
      Object.assign(sessionOf(sessionID), { source: "compact", blocks: [] });
    },
    dispose: async () => {
      if (shared.current.get(directory) === own) shared.current.delete(directory);
    },
  };
};
