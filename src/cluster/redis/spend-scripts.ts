/**
 * Lua scripts for what is spent and held of a balance or a cap. A subject is one key of Redis with a packed list: what was spent, when
 * the list last changed, and for each process what its requests in flight hold. Amounts are pairs of whole US dollars and
 * pico-dollars, because Lua's numbers are exact to 15 digits only.
 */
import { redisTime, script } from './script.js';

/** What a process holds is dropped this long after its last word: it has died. */
export const leaseMs = 5_000;
/** A subject that nobody uses is read from the store again after a day. */
const livesMs = 24 * 60 * 60 * 1000;

/**
 * Needs `now` and `held`, the values of KEYS. A list is: dollars and pico-dollars spent (false where not known yet), the time of the
 * last change, and then, for each process, its name, the end of its lease, dollars and pico-dollars held, and the number of requests.
 * `takeSpend` returns 1 where all subjects have room; else a list of 0 or 2 (not known), the place of the subject, and its figures.
 */
export const spending = `
local lists, changed = {}, {}
local function listOf(at)
  local key = KEYS[at]
  local list = lists[key]
  if list then return list end
  list = held[at] and cmsgpack.unpack(held[at]) or { false, 0, now }
  for i = #list - 4, 4, -5 do
    if list[i + 1] < now then
      for _ = 1, 5 do table.remove(list, i) end
    elseif list[i + 1] > now + ${leaseMs} then
      list[i + 1] = now + ${leaseMs}
    end
  end
  lists[key] = list
  return list
end
local function noteChange(at, list)
  list[3] = now
  changed[KEYS[at]] = list
end
local function add(list, i, usd, pico)
  local sum = list[i + 1] + pico
  list[i] = list[i] + usd + math.floor(sum / 1e12)
  list[i + 1] = sum % 1e12
end
local function isPositive(usd, pico)
  usd = usd + math.floor(pico / 1e12)
  return usd > 0 or usd == 0 and pico % 1e12 > 0
end
local function heldOf(list)
  local usd, pico, requests = 0, 0, 0
  for i = 4, #list, 5 do
    usd, pico, requests = usd + list[i + 2], pico + list[i + 3], requests + list[i + 4]
  end
  return usd, pico, requests
end
local function entryOf(list, owner)
  for i = 4, #list, 5 do if list[i] == owner then return i end end
end
local function hold(at, owner, usd, pico, requests)
  local list = listOf(at)
  local i = entryOf(list, owner)
  if not i then
    if requests <= 0 then return end
    i = #list + 1
    list[i], list[i + 1], list[i + 2], list[i + 3], list[i + 4] = owner, 0, 0, 0, 0
  end
  list[i + 1] = now + ${leaseMs}
  list[i + 4] = list[i + 4] + requests
  if list[i + 4] > 0 then add(list, i + 2, usd, pico)
  else for _ = 1, 5 do table.remove(list, i) end end
  noteChange(at, list)
end
local function takeSpend(at, count, limits, owner, usd, pico)
  for place = 0, count - 1 do
    local list = listOf(at + place)
    if not list[1] then return { 2, place } end
    local heldUsd, heldPico, requests = heldOf(list)
    local leftUsd = tonumber(ARGV[limits + 2 * place]) - list[1]
    local leftPico = tonumber(ARGV[limits + 2 * place + 1]) - list[2]
    if not isPositive(leftUsd, leftPico) or requests > 0 and not isPositive(leftUsd - heldUsd, leftPico - heldPico) then
      return { 0, place, list[1], list[2], heldUsd, heldPico, requests, list[3], now - list[3] }
    end
  end
  for place = 0, count - 1 do hold(at + place, owner, usd, pico, 1) end
  return 1
end
local function writeSpend()
  for key, list in pairs(changed) do redis.call('SET', key, cmsgpack.pack(list), 'PX', '${livesMs}') end
end
`;

const reading = `${redisTime}
local held = redis.call('MGET', unpack(KEYS))
${spending}`;

/**
 * ARGV: the process; then for each request the number of its subjects, the two parts of its estimate, and those of each limit. Returns
 * one answer for each request.
 */
export const takeSpendScript = script(`${reading}
local answer = {}
local at, arg = 1, 2
while arg <= #ARGV do
  local count = tonumber(ARGV[arg])
  answer[#answer + 1] = takeSpend(at, count, arg + 3, ARGV[1], tonumber(ARGV[arg + 1]), tonumber(ARGV[arg + 2]))
  at = at + count
  arg = arg + 3 + 2 * count
end
writeSpend()
return answer
`);

/**
 * ARGV: the process; then for each subject the two parts of the estimate that is released, the number of requests (0 where nothing was
 * held, below 0 where it is held from now on), and the two parts of the cost. Returns 1 for each subject, or 0 where the cost found no sum to be added to.
 */
export const releaseSpendScript = script(`${reading}
local answer = {}
for at = 1, #KEYS do
  local arg = 5 * at - 3
  local list = listOf(at)
  local requests = tonumber(ARGV[arg + 2])
  if requests ~= 0 then hold(at, ARGV[1], -tonumber(ARGV[arg]), -tonumber(ARGV[arg + 1]), -requests) end
  answer[at] = list[1] and 1 or 0
  if list[1] then
    add(list, 1, tonumber(ARGV[arg + 3]), tonumber(ARGV[arg + 4]))
    noteChange(at, list)
  end
end
writeSpend()
return answer
`);

/** ARGV: the process; then for each subject all that it holds: two parts and the number of requests. */
export const publishSpendScript = script(`${reading}
for at = 1, #KEYS do
  local arg = 3 * at - 1
  local list = listOf(at)
  local i = entryOf(list, ARGV[1])
  if i then for _ = 1, 5 do table.remove(list, i) end end
  local requests = tonumber(ARGV[arg + 2])
  if requests > 0 then hold(at, ARGV[1], tonumber(ARGV[arg]), tonumber(ARGV[arg + 1]), requests)
  elseif i then noteChange(at, list) end
end
writeSpend()
return #KEYS
`);

/**
 * ARGV: the two parts of what the store says was spent, and when that counts: `first` where no sum is known, `least` also where the sum
 * is lower, or the time of the last change, where nothing has changed since and nothing is in flight. Returns 1 where it counted.
 */
export const setSpentScript = script(`${reading}
local usd, pico, when = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local list = listOf(1)
local counts = not list[1]
if not counts and when == 'least' then
  counts = list[1] < usd or list[1] == usd and list[2] < pico
elseif not counts and when ~= 'first' then
  counts = list[3] == tonumber(when) and #list == 3
end
if not counts then return 0 end
list[1], list[2] = usd, pico
noteChange(1, list)
writeSpend()
return 1
`);

/** What was spent of each subject is not known any more. */
export const forgetSpentScript = script(`${reading}
for at = 1, #KEYS do
  local list = listOf(at)
  list[1], list[2] = false, 0
  noteChange(at, list)
end
writeSpend()
return #KEYS
`);

/** Returns what is held of a subject, in two parts, and for how many requests. */
export const heldSpendScript = script(`${reading}
return { heldOf(listOf(1)) }
`);

export const spendScripts = [
  ...[takeSpendScript, releaseSpendScript, publishSpendScript, setSpentScript, forgetSpentScript, heldSpendScript],
];
