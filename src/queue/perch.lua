#!lua name=perch1
-- The queue of several hosts, inside Redis: every step of a job is one of these functions, so that
-- nobody sees half of one. The first key is the shard, "{perch:0}"; all others begin with it.
--
--   SHARD:meta          hash: layout, revision, count of each state
--   SHARD:job:ID        hash: what was asked for, state, worker, fence, tries, result
--   SHARD:events:ID     stream: what the job has told; an entry's id is the number of the event
--   SHARD:lane:NAME     list: jobs of one session in their order; the head is ready or runs
--   SHARD:ready:NEED    list: jobs that can begin where NEED is offered
--   SHARD:needs         sorted set: NEEDs that have ready jobs, by the age of the first
--   SHARD:leases        sorted set: jobs that run, by the time their lease ends
--   SHARD:jobs          sorted set: all jobs in the order of their acceptance
--   SHARD:over          sorted set: jobs that have ended, by the time they are forgotten
--   SHARD:dead          list: jobs that were tried too often
--   SHARD:agent:NAME    the agent's own id of a session
--   SHARD:key:KEY       the job of an Idempotency-Key
--   SHARD:workers, SHARD:worker:NAME, SHARD:offers:NAME, SHARD:bell:NAME, SHARD:idle
--   SHARD:fence, SHARD:number, SHARD:sequence: counters
--
-- The library's name has the version of its interface: 2 would stand beside 1. A later revision
-- takes the place of an earlier one, while workers that know the earlier one go on.
local LAYOUT = 1
local REVISION = 2
local CLAIMS_MAX = 8 -- of a job that never begins: something about it kills who looks at it
local EVENTS_MAX = 20000 -- of one job
local KEY_SECONDS = 24 * 3600
local AGENT_SECONDS = 90 * 24 * 3600
local DEAD_SECONDS = 7 * 24 * 3600
local WORKER_MS = 60000 -- a worker that was not heard of for so long is none

local calls = {}

-- There is no redis.call yet while a library is loaded.
local function call(...)
	return redis.call(...)
end

local function now_ms()
	local time = call('TIME')
	return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- A number that was never given before, not even by a Redis whose disk has lost its last second: it is
-- the time in microseconds, or one more than the last.
local function next_number(shard, name)
	local time = call('TIME')
	local number = tonumber(time[1]) * 1000000 + tonumber(time[2])
	local last = tonumber(call('GET', shard .. name) or 0)
	if number <= last then
		number = last + 1
	end
	call('SET', shard .. name, string.format('%.0f', number))
	return number
end

local function tell(shard, ...)
	call('PUBLISH', shard .. ':news', table.concat({ ... }, ' '))
end

local function job_key(shard, id)
	return shard .. ':job:' .. id
end

-- The members of a job, by name.
local function job_read(shard, id, ...)
	local values = call('HMGET', job_key(shard, id), ...)
	local job = { id = id }
	for i, name in ipairs({ ... }) do
		job[name] = values[i] or nil
	end
	return job
end

local function job_become(shard, job, state, ...)
	call('HINCRBY', shard .. ':meta', job.state, -1)
	call('HINCRBY', shard .. ':meta', state, 1)
	job.state = state
	call('HSET', job_key(shard, job.id), 'state', state, ...)
	return call('HINCRBY', job_key(shard, job.id), 'rev', 1)
end

-- ---- what is ready ---------------------------------------------------------------------

local function offers(shard, worker, need)
	local set = shard .. ':offers:' .. worker
	if call('SISMEMBER', set, need) == 1 then
		return true
	end
	return call('SISMEMBER', set, (string.gsub(need, '#%x*', '#*'))) == 1
end

-- Wakes one worker that waits and can do it. A worker that has died is forgotten here.
local function ring(shard, need)
	for _, worker in ipairs(call('ZRANGE', shard .. ':idle', 0, -1)) do
		if call('EXISTS', shard .. ':worker:' .. worker) == 0 then
			call('ZREM', shard .. ':idle', worker)
		elseif offers(shard, worker, need) then
			call('ZREM', shard .. ':idle', worker)
			call('RPUSH', shard .. ':bell:' .. worker, 'work')
			call('PEXPIRE', shard .. ':bell:' .. worker, WORKER_MS)
			return
		end
	end
end

-- The age of a need is that of its first job.
local function settle_need(shard, need)
	local first = call('LINDEX', shard .. ':ready:' .. need, 0)
	if first then
		call('ZADD', shard .. ':needs', call('HGET', job_key(shard, first), 'ready') or 0, need)
	else
		call('ZREM', shard .. ':needs', need)
	end
end

local function make_ready(shard, id, need, is_first)
	call('HSET', job_key(shard, id), 'ready', call('INCR', shard .. ':sequence'), 'readied', now_ms())
	call(is_first and 'LPUSH' or 'RPUSH', shard .. ':ready:' .. need, id)
	settle_need(shard, need)
	ring(shard, need)
end

-- It no longer stands in the way of its session.
local function leave_lane(shard, job)
	local lane = shard .. ':lane:' .. (job.lane or '')
	if (job.lane or '') == '' then
		return
	end
	local was_first = call('LINDEX', lane, 0) == job.id
	call('LREM', lane, 1, job.id)
	local first = call('LINDEX', lane, 0)
	if was_first and first then
		make_ready(shard, first, call('HGET', job_key(shard, first), 'need') or '')
	end
end

-- ---- events and ends -------------------------------------------------------------------

local function add_event(shard, id, text)
	local number = string.format('%.0f', next_number(shard, ':number'))
	call('XADD', shard .. ':events:' .. id, 'MAXLEN', '~', EVENTS_MAX, number .. '-0', 'e', text)
	return number
end

local function forget_later(shard, job, seconds)
	local kept = seconds
	if (job.key or '') ~= '' and KEY_SECONDS > kept then
		kept = KEY_SECONDS
	end
	call('EXPIRE', job_key(shard, job.id), kept)
	call('EXPIRE', shard .. ':events:' .. job.id, seconds)
	call('ZADD', shard .. ':over', now_ms() + kept * 1000, job.id)
end

-- The end of a job, whoever has brought it about.
local function settle(shard, job, state, seconds, result, text)
	local ended = now_ms()
	local number = add_event(shard, job.id, text)
	call('ZREM', shard .. ':leases', job.id)
	local rev = job_become(shard, job, state, 'ended', ended, 'result', result, 'end', number)
	call('HDEL', job_key(shard, job.id), 'worker', 'cancel')
	if state == 'dead' then
		call('LPUSH', shard .. ':dead', job.id)
		seconds = DEAD_SECONDS
	else
		call('HDEL', job_key(shard, job.id), 'request')
	end
	forget_later(shard, job, seconds)
	leave_lane(shard, job)
	tell(shard, 'over', job.id, rev, state, ended, number, text .. '\n' .. result)
end

-- An end without a worker: words of ours.
local function settle_without(shard, job, state, seconds, words)
	local texts = {
		cancelled = 'it was cancelled before it began',
		interrupted = 'the process that ran it died; how far it came is not known',
		dead = 'every try of it was interrupted',
		failed = 'no worker offers what it needs',
	}
	local code = words or state
	call('HDEL', job_key(shard, job.id), 'fence') -- a worker that wakes up is refused
	local line = string.format('{"event":"error","code":"%s","message":"%s"}', code, texts[state])
	tell(shard, 'event', job.id, add_event(shard, job.id, line), line)
	settle(shard, job, state, seconds,
		string.format('{"success":false,"exit_code":-1,"%s":""}', job.kind == 'turn' and 'text' or 'output'),
		string.format('{"event":"end","success":false,"state":"%s"}', state))
end

-- Whether this worker still has the job.
local function holds(shard, job, fence)
	if job.state == 'running' and job.fence == fence then
		return true
	end
	call('HINCRBY', shard .. ':meta', 'fenced', 1)
	return false
end

-- ---- gateways --------------------------------------------------------------------------

-- ID LANE NEED RETRY LIMIT KEY (NAME VALUE)… → ok ID AHEAD | known ID | busy WAITING
function calls.enqueue(shard, args)
	local id, lane, need, retry, limit, key = unpack(args, 1, 6)
	local job = job_key(shard, id)
	if call('EXISTS', job) == 1 then
		return { 'ok', id, 0 } -- it was sent again
	end
	local known = key ~= '' and call('GET', shard .. ':key:' .. key)
	if known and call('EXISTS', job_key(shard, known)) == 1 then
		return { 'known', known }
	end
	local waiting = tonumber(call('HGET', shard .. ':meta', 'waiting') or 0)
	if waiting >= tonumber(limit) then
		return { 'busy', waiting }
	end
	call('HSET', job, 'id', id, 'lane', lane, 'need', need, 'retry', retry, 'key', key,
		'state', 'waiting', 'created', now_ms(), 'tries', 0, 'claims', 0, 'rev', 1, unpack(args, 7))
	call('HINCRBY', shard .. ':meta', 'waiting', 1)
	call('ZADD', shard .. ':jobs', call('INCR', shard .. ':sequence'), id)
	if key ~= '' then
		call('SET', shard .. ':key:' .. key, id, 'EX', KEY_SECONDS)
	end
	tell(shard, 'new', id)
	local place = lane == '' and 1 or call('RPUSH', shard .. ':lane:' .. lane, id)
	if place == 1 then
		make_ready(shard, id, need)
	end
	return { 'ok', id, waiting }
end

-- ID SECONDS → ok | over | none
function calls.cancel(shard, args)
	local job = job_read(shard, args[1], 'state', 'worker', 'lane', 'need', 'kind', 'key')
	if not job.state then
		return 'none'
	elseif job.state == 'running' then
		call('HSET', job_key(shard, job.id), 'cancel', 1)
		call('RPUSH', shard .. ':bell:' .. job.worker, 'cancel ' .. job.id)
		call('PEXPIRE', shard .. ':bell:' .. job.worker, WORKER_MS)
		return 'ok'
	elseif job.state ~= 'waiting' then
		return 'over'
	end
	call('LREM', shard .. ':ready:' .. job.need, 1, job.id)
	settle_need(shard, job.need)
	settle_without(shard, job, 'cancelled', tonumber(args[2]))
	return 'ok'
end

local function job_all(shard, id)
	local members = call('HGETALL', job_key(shard, id))
	local events = call('XRANGE', shard .. ':events:' .. id, '-', '+')
	return { members, events }
end

-- ID → members, events
function calls.get(shard, args)
	return job_all(shard, args[1])
end

-- AFTER COUNT → the place of the last one, then jobs
function calls.page(shard, args)
	local found = { args[1] }
	local ids = call('ZRANGEBYSCORE', shard .. ':jobs', '(' .. args[1], '+inf', 'WITHSCORES', 'LIMIT', 0, args[2])
	for i = 1, #ids, 2 do
		found[1] = ids[i + 1]
		found[#found + 1] = job_all(shard, ids[i])
	end
	return found
end

-- ---- workers ---------------------------------------------------------------------------

-- WORKER COUNT (NAME VALUE)… OFFER…: COUNT members, then what it offers
function calls.register(shard, args)
	local worker, count = args[1], tonumber(args[2])
	local key, set = shard .. ':worker:' .. worker, shard .. ':offers:' .. worker
	call('DEL', key, set)
	call('HSET', key, 'name', worker, 'seen', now_ms(), unpack(args, 3, 2 + 2 * count))
	for i = 3 + 2 * count, #args do
		call('SADD', set, args[i])
	end
	call('PEXPIRE', key, WORKER_MS)
	call('PEXPIRE', set, WORKER_MS)
	call('SADD', shard .. ':workers', worker)
	call('ZREM', shard .. ':idle', worker)
	return 'ok'
end

-- WORKER
function calls.leave(shard, args)
	local worker = args[1]
	call('DEL', shard .. ':worker:' .. worker, shard .. ':offers:' .. worker, shard .. ':bell:' .. worker)
	call('SREM', shard .. ':workers', worker)
	call('ZREM', shard .. ':idle', worker)
	return 'ok'
end

-- WORKER LEASE BEGUN → false, or FENCE, the agent's id, members. Who gets none is rung for. BEGUN is
-- not empty where it begins at once.
function calls.claim(shard, args)
	local worker, lease = args[1], tonumber(args[2])
	for _, need in ipairs(call('ZRANGE', shard .. ':needs', 0, -1)) do
		local id = offers(shard, worker, need) and call('LPOP', shard .. ':ready:' .. need)
		if id then
			settle_need(shard, need)
			local job = job_read(shard, id, 'state', 'lane')
			if job.state == 'waiting' then
				local now, fence = now_ms(), next_number(shard, ':fence')
				local begins = (args[3] or '') ~= ''
				call('HINCRBY', job_key(shard, id), 'claims', 1)
				local rev = job_become(shard, job, 'running', 'worker', worker, 'fence', string.format('%.0f', fence),
					'began', begins and 1 or 0, 'published', 0, 'started', now)
				if begins then
					call('HINCRBY', job_key(shard, id), 'tries', 1)
				end
				call('ZADD', shard .. ':leases', now + lease, id)
				tell(shard, 'state', id, rev, 'running', now)
				return { fence, call('GET', shard .. ':agent:' .. (job.lane or '')) or '',
					call('HGETALL', job_key(shard, id)) }
			end
		end
	end
	call('ZADD', shard .. ':idle', now_ms(), worker)
	return false
end

-- ID FENCE LEASE → ok | cancel | fenced. From here on it may have had effects.
function calls.begin(shard, args)
	local job = job_read(shard, args[1], 'state', 'fence', 'began', 'cancel')
	if not holds(shard, job, args[2]) then
		return 'fenced'
	elseif job.cancel then
		return 'cancel'
	elseif job.began == '0' then
		call('HSET', job_key(shard, job.id), 'began', 1)
		call('HINCRBY', job_key(shard, job.id), 'tries', 1)
	end
	call('ZADD', shard .. ':leases', now_ms() + tonumber(args[3]), job.id)
	return 'ok'
end

-- ID FENCE FIRST TEXT… → ok | fenced. FIRST counts the job's events from 1: what was sent again is
-- not added again.
function calls.publish(shard, args)
	local job = job_read(shard, args[1], 'state', 'fence', 'published')
	if not holds(shard, job, args[2]) then
		return 'fenced'
	end
	local first, published = tonumber(args[3]), tonumber(job.published or 0)
	for i = 4, #args do
		if first + i - 4 > published then
			published = first + i - 4
			tell(shard, 'event', job.id, add_event(shard, job.id, args[i]), args[i])
		end
	end
	call('HSET', job_key(shard, job.id), 'published', published)
	return 'ok'
end

-- WORKER LEASE RUNNING STATE (ID FENCE)… → whether the worker is known, then ok | cancel | fenced for
-- each
function calls.renew(shard, args)
	local worker, now, lease = args[1], now_ms(), tonumber(args[2])
	local key = shard .. ':worker:' .. worker
	local found = { call('EXISTS', key) }
	if found[1] == 1 then
		call('HSET', key, 'seen', now, 'running', args[3], 'state', args[4])
		call('PEXPIRE', key, WORKER_MS)
		call('PEXPIRE', shard .. ':offers:' .. worker, WORKER_MS)
	end
	for i = 5, #args, 2 do
		local job = job_read(shard, args[i], 'state', 'fence', 'cancel')
		if not holds(shard, job, args[i + 1]) then
			found[#found + 1] = 'fenced'
		else
			call('ZADD', shard .. ':leases', now + lease, job.id)
			found[#found + 1] = job.cancel and 'cancel' or 'ok'
		end
	end
	return found
end

-- ID FENCE STATE SECONDS RESULT TEXT AGENT → ok | fenced. AGENT is its id of the session, or empty.
function calls.finish(shard, args)
	local id, fence, state, seconds, result, text, agent = unpack(args, 1, 7)
	local job = job_read(shard, id, 'state', 'fence', 'lane', 'key')
	if job.state ~= 'running' and job.fence == fence and job.state ~= 'waiting' then
		return 'ok' -- it was sent again
	elseif not holds(shard, job, fence) then
		return 'fenced'
	end
	if agent ~= '' and (job.lane or '') ~= '' then
		call('SET', shard .. ':agent:' .. job.lane, agent, 'EX', AGENT_SECONDS)
	end
	settle(shard, job, state, tonumber(seconds), result, text)
	return 'ok'
end

-- A job that was claimed waits again, before all others.
local function again(shard, job)
	call('ZREM', shard .. ':leases', job.id)
	call('HDEL', job_key(shard, job.id), 'worker', 'fence')
	if job.worker then -- why it runs twice, for who looks into it
		call('HSET', job_key(shard, job.id), 'lost', (job.lost or '') .. job.worker .. ' ')
	end
	tell(shard, 'state', job.id, job_become(shard, job, 'waiting', 'started', 0), 'waiting', 0)
	make_ready(shard, job.id, job.need, true)
	return 'waiting'
end

-- ID FENCE: gives back a job that has not begun.
function calls.release(shard, args)
	local job = job_read(shard, args[1], 'state', 'fence', 'need', 'began')
	if not holds(shard, job, args[2]) or job.began ~= '0' then
		return 'fenced'
	end
	again(shard, job)
	return 'ok'
end

-- ---- what is left of the dead ----------------------------------------------------------

local function bury(shard, id, seconds)
	local job = job_read(shard, id, 'state', 'need', 'lane', 'kind', 'key', 'tries', 'retry', 'claims',
		'began', 'cancel', 'worker', 'lost')
	if job.state ~= 'running' then
		call('ZREM', shard .. ':leases', id)
		return { id, 'none', '' }
	end
	local tries, retry = tonumber(job.tries), tonumber(job.retry)
	local outcome = retry > 0 and 'dead' or 'interrupted'
	if job.cancel then
		outcome = 'cancelled'
	elseif job.began == '0' and tonumber(job.claims) >= CLAIMS_MAX then
		outcome = 'dead'
	elseif job.began == '0' or tries <= retry then
		return { id, again(shard, job), job.worker }
	end
	settle_without(shard, job, outcome, seconds)
	return { id, outcome, job.worker }
end

-- Jobs that wait for what nobody offers, the oldest of each need.
local function end_hopeless(shard, patience, seconds, found)
	local workers = call('SMEMBERS', shard .. ':workers')
	for _, need in ipairs(call('ZRANGE', shard .. ':needs', 0, -1)) do
		local is_offered = false
		for _, worker in ipairs(workers) do
			is_offered = is_offered or offers(shard, worker, need)
		end
		local id = not is_offered and call('LINDEX', shard .. ':ready:' .. need, 0)
		local job = id and job_read(shard, id, 'state', 'readied', 'lane', 'kind', 'key')
		if job and now_ms() - tonumber(job.readied or 0) >= patience then
			call('LPOP', shard .. ':ready:' .. need)
			settle_need(shard, need)
			settle_without(shard, job, 'failed', seconds, 'nobody')
			found[#found + 1] = { id, 'failed', '' }
		end
	end
end

-- COUNT PATIENCE SECONDS → {ID, what became of it, the worker that had it}…
function calls.reap(shard, args)
	local count, patience, seconds = args[1], tonumber(args[2]), tonumber(args[3])
	local found = {}
	for _, id in ipairs(call('ZRANGEBYSCORE', shard .. ':leases', '-inf', now_ms(), 'LIMIT', 0, count)) do
		found[#found + 1] = bury(shard, id, seconds)
	end
	end_hopeless(shard, patience, seconds, found)
	for _, id in ipairs(call('ZRANGEBYSCORE', shard .. ':over', '-inf', now_ms(), 'LIMIT', 0, count)) do
		call('ZREM', shard .. ':over', id)
		call('ZREM', shard .. ':jobs', id)
		call('LREM', shard .. ':dead', 1, id)
		call('DEL', job_key(shard, id), shard .. ':events:' .. id)
	end
	for _, worker in ipairs(call('SMEMBERS', shard .. ':workers')) do
		if call('EXISTS', shard .. ':worker:' .. worker) == 0 then
			calls.leave(shard, { worker })
		end
	end
	return found
end

-- ---- the operator ----------------------------------------------------------------------

-- → the counts, then {NEED, how many wait, how many offer it}…
function calls.status(shard)
	local found = { call('HGETALL', shard .. ':meta') }
	local workers = call('SMEMBERS', shard .. ':workers')
	for _, need in ipairs(call('ZRANGE', shard .. ':needs', 0, -1)) do
		local count = 0
		for _, worker in ipairs(workers) do
			count = count + (offers(shard, worker, need) and 1 or 0)
		end
		found[#found + 1] = { need, call('LLEN', shard .. ':ready:' .. need), count }
	end
	return found
end

-- → how many wait, run, are dead, were refused, and how many workers there are
function calls.counts(shard)
	local counts = call('HMGET', shard .. ':meta', 'waiting', 'running', 'fenced')
	return { tonumber(counts[1] or 0), tonumber(counts[2] or 0), call('LLEN', shard .. ':dead'),
		tonumber(counts[3] or 0), call('SCARD', shard .. ':workers') }
end

-- → the members of each
function calls.workers(shard)
	local found = {}
	for _, worker in ipairs(call('SMEMBERS', shard .. ':workers')) do
		local members = call('HGETALL', shard .. ':worker:' .. worker)
		if #members > 0 then
			found[#found + 1] = members
		end
	end
	return found
end

-- STATE COUNT → the newest jobs of that state ("" = of any), without their texts
function calls.jobs(shard, args)
	local found, count = {}, tonumber(args[2])
	local names = { 'id', 'kind', 'name', 'owner', 'session', 'state', 'created', 'started', 'ended', 'tries', 'worker' }
	for _, id in ipairs(call('ZREVRANGE', shard .. ':jobs', 0, -1)) do
		local job = #found < count and call('HMGET', job_key(shard, id), unpack(names))
		if job and job[1] and (args[1] == '' or job[6] == args[1]) then
			found[#found + 1] = job
		end
	end
	return found
end

-- ID → ok | none: a dead job begins anew, behind the others of its session.
function calls.retry(shard, args)
	local job = job_read(shard, args[1], 'state', 'lane', 'need', 'request')
	if job.state ~= 'dead' or not job.request then
		return 'none'
	end
	call('LREM', shard .. ':dead', 1, job.id)
	call('ZREM', shard .. ':over', job.id)
	call('PERSIST', job_key(shard, job.id))
	call('PERSIST', shard .. ':events:' .. job.id)
	call('HDEL', job_key(shard, job.id), 'result', 'end', 'fence')
	local rev = job_become(shard, job, 'waiting', 'tries', 0, 'claims', 0, 'started', 0, 'ended', 0)
	tell(shard, 'state', job.id, rev, 'waiting', 0)
	if job.lane == '' or call('RPUSH', shard .. ':lane:' .. job.lane, job.id) == 1 then
		make_ready(shard, job.id, job.need)
	end
	return 'ok'
end

-- ID → ok | none
function calls.drop(shard, args)
	local id = args[1]
	if call('HGET', job_key(shard, id), 'state') ~= 'dead' then
		return 'none'
	end
	call('LREM', shard .. ':dead', 1, id)
	call('ZREM', shard .. ':over', id)
	call('ZREM', shard .. ':jobs', id)
	call('DEL', job_key(shard, id), shard .. ':events:' .. id)
	return 'ok'
end

-- → LAYOUT REVISION, or an error where the keys are another's
function calls.open(shard)
	local kind = call('TYPE', shard .. ':meta').ok
	local layout = kind == 'hash' and call('HGET', shard .. ':meta', 'layout')
	if kind == 'none' and call('EXISTS', shard .. ':jobs', shard .. ':needs', shard .. ':leases') == 0 then
		call('HSET', shard .. ':meta', 'layout', LAYOUT)
		layout = LAYOUT
	end
	if tonumber(layout or 0) ~= LAYOUT then
		return redis.error_reply('LAYOUT ' .. (layout or 'of another program'))
	end
	return { LAYOUT, REVISION }
end

if not redis.register_function then -- the same text as a script, for who may not load functions
	local args = {}
	for i = 2, #ARGV do
		args[i - 1] = ARGV[i]
	end
	return calls[ARGV[1]](KEYS[1], args)
end

local function register(flag, names)
	for i = 1, #names do
		redis.register_function({
			function_name = 'perch1_' .. names[i],
			callback = function(keys, args)
				return calls[names[i]](keys[1], args)
			end,
			flags = { flag },
		})
	end
end

-- What must go on where memory is full, or nothing would ever become free.
register('allow-oom', { 'begin', 'renew', 'finish', 'reap', 'cancel', 'leave', 'release', 'drop' })
register('no-writes', { 'get', 'page', 'status', 'counts', 'workers', 'jobs' })
register(nil, { 'open', 'enqueue', 'register', 'claim', 'publish', 'retry' })
