-- Events, and the ends of jobs.

-- Returns the number as text. NUMBER: one that was taken for it.
local function add_event(shard, id, text, number)
	local name = string.format('%.0f', number or take_numbers(shard, ':number', 1))
	call('XADD', shard .. ':events:' .. id, 'MAXLEN', '~', EVENTS_MAX, name .. '-0', 'e', text)
	return name
end

-- Of a job that has told too much the older half is forgotten. Returns how much is left, about.
local function cut_events(shard, id, bytes)
	local key = shard .. ':events:' .. id
	if bytes <= EVENTS_BYTES then
		return bytes
	end
	call('XTRIM', key, 'MAXLEN', math.floor(call('XLEN', key) / 2))
	return bytes / 2
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
	local ended, kept = now_ms(), math.floor(number_of(job.keep)) -- as long as the gateway says that took it
	local number = add_event(shard, job.id, text)
	call('ZREM', shard .. ':leases', job.id)
	local rev = job_become(shard, job, state, 'ended', ended, 'result', result, 'end', number)
	if state == 'dead' then
		call('HDEL', job_key(shard, job.id), 'worker', 'cancel')
		call('LPUSH', shard .. ':dead', job.id)
		seconds = DEAD_SECONDS
	else
		call('HDEL', job_key(shard, job.id), 'worker', 'cancel', 'request')
		seconds = kept > 0 and kept < KEEP_MAX and kept or seconds
	end
	forget_later(shard, job, seconds)
	leave_lane(shard, job)
	tell(shard, 'over', job.id, rev, state, ended, number, text .. '\n' .. result)
end

-- An end without a worker: words of ours.
local function settle_without(shard, job, state, seconds, words)
	local texts = {
		cancelled = 'it was cancelled',
		interrupted = 'the process that ran it died; how far it came is not known',
		dead = 'every try of it was interrupted',
		failed = 'no worker offers what it needs',
	}
	local code = words or state
	call('HDEL', job_key(shard, job.id), 'fence') -- a worker that wakes up is refused
	local line = string.format('{"event":"error","code":"%s","message":"%s"}', code, texts[state])
	tell(shard, 'event', job.id, add_event(shard, job.id, line), line)
	settle(shard, job, state, seconds,
		string.format('{"success":false,"exit_code":-1,"%s":"","error":{"code":"%s","message":"%s"}}',
			job.kind == 'turn' and 'text' or 'output', code, texts[state]),
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
