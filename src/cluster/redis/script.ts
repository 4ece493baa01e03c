/** A Lua script that Redis runs in one step, and the name under which Redis keeps it. */
import { createHash } from 'node:crypto';

export interface Script {
  readonly lua: string;
  readonly sha: string;
}

export function script(lua: string): Script {
  return { lua, sha: createHash('sha1').update(lua).digest('hex') };
}

/** Sets `now` to the time of Redis in milliseconds. */
export const redisTime = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;
