/**
 * Lua scripts that Redis runs in one step each (features of Redis 7.0 only). Every script takes many requests at once,
 * because the requests of one turn of the event loop share a command. Keys come in KEYS, figures in ARGV.
 */
import { redisTime, type Script, script } from './script.js';
import { spending, spendScripts } from './spend-scripts.js';

/**
 * A counter is a key whose expiry is its window's end. Redis drops it when its clock has passed that millisecond, so the
 * expiry is set one before the end. `take` returns whether it is admitted, the window's sum, and the expiry, which also
 * identifies the window. One command reads all keys, and a counter that many requests share is read and written once: nearly
 * all of a script's time is its commands (2 µs each, measured).
 */
const counting = `${redisTime}
local held = redis.call('MGET', unpack(KEYS))
local counters = {}
local function counterOf(at, windowMs)
  local key = KEYS[at]
  local counter = counters[key]
  if counter then return counter end
  counter = { used = 0, added = 0, expiry = now + windowMs - 1, new = not held[at] }
  if held[at] then
    counter.used = tonumber(held[at])
    local expiry = redis.call('PEXPIRETIME', key)
    if expiry > 0 then counter.expiry = expiry else redis.call('PEXPIREAT', key, string.format('%.0f', counter.expiry)) end
  end
  counters[key] = counter
  return counter
end
local function take(at, amount, limit, windowMs)
  local counter = counterOf(at, windowMs)
  local used = counter.used
  if used ~= 0 and used + amount > limit then return 0, used, counter.expiry end
  counter.used = used + amount
  counter.added = counter.added + amount
  return 1, counter.used, counter.expiry
end
local function write()
  for key, counter in pairs(counters) do
    local added = string.format('%.0f', counter.added)
    if counter.new then
      redis.call('SET', key, added, 'PXAT', string.format('%.0f', counter.expiry))
    elseif counter.added ~= 0 then
      redis.call('INCRBY', key, added)
    end
  end
end
`;

/** ARGV: the window's length, then amount and limit of each key. Returns Redis' time, then three figures for each take. */
export const takeScript = script(`${counting}
local answer = { now }
local windowMs = tonumber(ARGV[1])
for i = 1, #KEYS do
  local admitted, used, expiry = take(i, tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1]), windowMs)
  answer[3 * i - 1] = admitted
  answer[3 * i] = used
  answer[3 * i + 1] = expiry
end
write()
return answer
`);

/** ARGV: expiry and difference of each key. Returns the new sums; false where that window has ended. */
export const adjustScript = script(`
local answer = {}
for i = 1, #KEYS do
  local same = redis.call('PEXPIRETIME', KEYS[i]) == tonumber(ARGV[2 * i - 1])
  answer[i] = same and redis.call('INCRBY', KEYS[i], ARGV[2 * i])
end
return answer
`);

/** ARGV: the minimum sum of each key, and the milliseconds left of a window that Redis does not know. */
export const restoreScript = script(`
for i = 1, #KEYS do
  local used = ARGV[2 * i - 1]
  local held = redis.call('GET', KEYS[i])
  if not held then redis.call('SET', KEYS[i], used, 'PX', ARGV[2 * i])
  elseif tonumber(held) < tonumber(used) then redis.call('SET', KEYS[i], used, 'KEEPTTL') end
end
return #KEYS
`);

/**
 * KEYS: the versions of states and catalogue; then for each request the address' counter; the key's counter and two versions; and the
 * token counter and the subjects of spending, where it has them. ARGV: the lengths of the three windows and the name of the process;
 * then for each request the limits of address and key, empty where there is nothing to take. A key's limit is followed by the tokens,
 * empty where there are none, and those by their limit, the two versions under which they are taken, and a take of spending. Returns
 * Redis' time and the two versions; then three figures for an address; three figures and two versions for a key unless its address was
 * refused; and for tokens -1 where they were not taken, else three figures and the answer of spending.
 */
export const admitScript = script(`${counting}${spending}
local answer = { now, held[1], held[2] }
local n, at, arg = 3, 3, 5
local peerWindowMs, keyWindowMs, tokenWindowMs = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
while arg <= #ARGV do
  local peerLimit, keyLimit = ARGV[arg], ARGV[arg + 1]
  local admitted, used, expiry = 1, 0, 0
  arg = arg + 2
  if peerLimit ~= '' then
    admitted, used, expiry = take(at, 1, tonumber(peerLimit), peerWindowMs)
    answer[n + 1], answer[n + 2], answer[n + 3] = admitted, used, expiry
    n = n + 3
    at = at + 1
  end
  if keyLimit ~= '' then
    local peerAdmitted = admitted == 1
    if peerAdmitted then
      admitted, used, expiry = take(at, 1, tonumber(keyLimit), keyWindowMs)
      answer[n + 1], answer[n + 2], answer[n + 3] = admitted, used, expiry
      answer[n + 4], answer[n + 5] = held[at + 1], held[at + 2]
      n = n + 5
    end
    local tokens = ARGV[arg]
    arg = arg + 1
    at = at + 3
    if tokens ~= '' then
      local count = tonumber(ARGV[arg + 3])
      local isCurrent = held[at - 2] == ARGV[arg + 1] and held[at - 1] == ARGV[arg + 2]
      if peerAdmitted and admitted == 1 and isCurrent then
        admitted, used, expiry = take(at, tonumber(tokens), tonumber(ARGV[arg]), tokenWindowMs)
        answer[n + 1], answer[n + 2], answer[n + 3], answer[n + 4] = admitted, used, expiry, 0
        if admitted == 1 and count > 0 then
          local usd, pico = tonumber(ARGV[arg + 4]), tonumber(ARGV[arg + 5])
          answer[n + 4] = takeSpend(at + 1, count, arg + 6, ARGV[4], usd, pico)
        end
        n = n + 4
      elseif peerAdmitted then
        n = n + 1
        answer[n] = -1
      end
      at = at + 1 + count
      arg = arg + 6 + 2 * count
    end
  end
end
write()
writeSpend()
return answer
`);

/** Returns the versions; none where there is none. */
export const readVersionsScript = script(`return redis.call('MGET', unpack(KEYS))`);

/** ARGV: a new version and the lifetime of versions in seconds. Returns the versions; the new one where there was none. */
export const currentScript = script(`
local answer = {}
for i = 1, #KEYS do
  redis.call('SET', KEYS[i], ARGV[1], 'NX', 'EX', ARGV[2])
  answer[i] = redis.call('GET', KEYS[i])
end
return answer
`);

/** ARGV: a new version and the lifetime of versions in seconds. */
export const raiseScript = script(`
for i = 1, #KEYS do redis.call('SET', KEYS[i], ARGV[1], 'EX', ARGV[2]) end
return #KEYS
`);

/** ARGV: the amount to add and the lifetime of a sum in milliseconds. Returns the new sum. */
export const addTotalScript = script(`
local sum = redis.call('INCRBY', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return sum
`);

/** ARGV: the minimum sum and its lifetime in milliseconds. */
export const raiseTotalScript = script(`
if tonumber(redis.call('GET', KEYS[1]) or '0') < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return 1
`);

/** A bucket is a key with the time at which it will be full again. It expires then. */
const filling = `${redisTime}
local function write(key, fullAt)
  local text = string.format('%.0f', fullAt)
  if fullAt > now then redis.call('SET', key, text, 'PXAT', text) else redis.call('DEL', key) end
end
`;

/** ARGV: capacity and refill time of each key. Returns the longest wait; 0 where one was taken from each. */
export const takeBucketsScript = script(`${filling}
local fullAt = {}
local wait = 0
for i = 1, #KEYS do
  fullAt[i] = math.max(now, tonumber(redis.call('GET', KEYS[i]) or '0'))
  wait = math.max(wait, fullAt[i] - now - (tonumber(ARGV[2 * i - 1]) - 1) * tonumber(ARGV[2 * i]))
end
if wait > 0 then return wait end
for i = 1, #KEYS do write(KEYS[i], fullAt[i] + tonumber(ARGV[2 * i])) end
return 0
`);

/** ARGV: the refill time of each key. */
export const giveBackScript = script(`${filling}
for i = 1, #KEYS do
  local fullAt = redis.call('GET', KEYS[i])
  if fullAt then write(KEYS[i], tonumber(fullAt) - tonumber(ARGV[i])) end
end
return #KEYS
`);

/** Returns an empty text where nothing is remembered, which differs from no answer. */
export const recallConversationScript = script(`return redis.call('GET', KEYS[1]) or ''`);

/** ARGV: the route, and for how many milliseconds it is remembered. */
export const rememberConversationScript = script(`return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`);

export const forgetConversationScript = script(`return redis.call('DEL', KEYS[1])`);

export const allScripts: readonly Script[] = [
  recallConversationScript,
  rememberConversationScript,
  forgetConversationScript,
  ...[takeScript, adjustScript, restoreScript, admitScript, currentScript, raiseScript, readVersionsScript],
  ...[addTotalScript, raiseTotalScript, takeBucketsScript, giveBackScript],
  ...spendScripts,
];
