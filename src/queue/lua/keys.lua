#!lua name=perch1
-- The queue of several hosts, inside Redis: every step of a job is one of these functions, so that
-- nobody sees half of one. The parts are put together at build time, in the order of src/meson.build. The first key is the shard, "{perch:0}"; all others begin with it, so that
-- no function touches two shards.
--
--   SHARD:meta          hash: layout, how many shards there are, count of each state
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
local REVISION = 6
local SHARDS_MAX = 16
local CLAIMS_MAX = 8 -- of a job that never begins: something about it kills who looks at it
local EVENTS_MAX = 20000 -- of one job
local EVENTS_BYTES = 32 * 1024 * 1024 -- of one job
local PAGE_BYTES = 1024 * 1024 -- of one answer, more or less
local ROOM = 7 / 8 -- of the memory is for jobs that wait: those that run would never end where it is full
local KEY_SECONDS = 24 * 3600
local AGENT_SECONDS = 90 * 24 * 3600
local KEEP_MAX = 100 * 366 * 24 * 3600
local DEAD_SECONDS = 7 * 24 * 3600
local WORKER_MS = 60000 -- a worker that was not heard of for so long is none

local calls = {}

-- There is no redis.call yet while a library is loaded.
local function call(...)
	return redis.call(...)
end

-- Microseconds, the same during one call of a function.
local called_us

local function now_us()
	if not called_us then
		local time = call('TIME')
		called_us = tonumber(time[1]) * 1000000 + tonumber(time[2])
	end
	return called_us
end

local function now_ms()
	return math.floor(now_us() / 1000)
end

-- Of a text that another program may have written.
local function number_of(text)
	return tonumber(text or 0) or 0
end

-- Numbers that were never given before, not even by a Redis whose disk has lost its last second, nor by
-- another shard: the first is the time in microseconds, or more than the last; each other is SHARDS_MAX
-- above the one before it. Divided by SHARDS_MAX, what is left is the number of the shard.
local function take_numbers(shard, name, count)
	local number, last = now_us(), number_of(call('GET', shard .. name))
	if number <= last then
		number = last + SHARDS_MAX
	end
	number = number - number % SHARDS_MAX + number_of(string.match(shard, ':(%d+)}'))
	if number <= last then
		number = number + SHARDS_MAX
	end
	call('SET', shard .. name, string.format('%.0f', number + (count - 1) * SHARDS_MAX))
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

-- It has read its state and its revision. Returns the new revision.
local function job_become(shard, job, state, ...)
	local rev = number_of(job.rev) + 1
	call('HINCRBY', shard .. ':meta', job.state, -1)
	call('HINCRBY', shard .. ':meta', state, 1)
	job.state, job.rev = state, rev
	call('HSET', job_key(shard, job.id), 'state', state, 'rev', rev, ...)
	return rev
end
