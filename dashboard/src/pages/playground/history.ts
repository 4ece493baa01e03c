/** The conversations of this tab. They stay in the browser, belong to one account, and end with the tab. */
import type { Turn } from './request.js';

export interface Kept {
  id: string;
  at: string;
  door: string;
  lanes: { model: string; turns: Turn[] }[];
}

const keptMax = 20;
const prefix = 'lodestone-playground:';

/** Newest first. What another account left in this tab is removed. */
export function readHistory(accountId: string): Kept[] {
  try {
    for (const name of Object.keys(sessionStorage)) {
      if (name.startsWith(prefix) && name !== prefix + accountId) sessionStorage.removeItem(name);
    }
    return JSON.parse(sessionStorage.getItem(prefix + accountId) ?? '[]') as Kept[];
  } catch {
    return [];
  }
}

/** Replaces the entry with the same id, or adds it. Pictures are left out, because they would fill the storage. */
export function keepConversation(accountId: string, entry: Kept): Kept[] {
  const lanes = entry.lanes.map(({ model, turns }) => ({ model, turns: turns.map(({ pictures, ...turn }) => turn) }));
  const others = readHistory(accountId).filter(({ id }) => id !== entry.id);
  const all = [{ ...entry, lanes }, ...others].slice(0, keptMax);
  return write(accountId, all);
}

/** Where the storage is full, the oldest conversations go. */
function write(accountId: string, all: Kept[]): Kept[] {
  for (let kept = all; ; kept = kept.slice(0, -1)) {
    try {
      sessionStorage.setItem(prefix + accountId, JSON.stringify(kept));
      return kept;
    } catch {
      if (kept.length === 0) return [];
    }
  }
}

export function clearHistory(): void {
  try {
    for (const name of Object.keys(sessionStorage)) if (name.startsWith(prefix)) sessionStorage.removeItem(name);
  } catch {
    // Storage is blocked: nothing was kept.
  }
}

export function titleOf({ lanes }: Kept): string {
  const question = lanes[0]?.turns.find(({ role }) => role === 'user')?.content ?? '';
  return question.length > 80 ? `${question.slice(0, 80)}…` : question || 'Without text';
}
