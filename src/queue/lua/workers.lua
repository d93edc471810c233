-- What workers call.

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

-- A worker begins to have a job. MEMBERS are the job's, name and value in turn.
local function lend(shard, job, worker, lease, begins, members)
	local now, fence = now_ms(), take_numbers(shard, ':fence', 1)
	begins = begins and not job.cancel
	local tries = number_of(job.tries) + (begins and 1 or 0)
	local rev = job_become(shard, job, 'running', 'worker', worker, 'fence', string.format('%.0f', fence),
		'began', begins and 1 or 0, 'published', 0, 'started', now, 'claims', number_of(job.claims) + 1,
		'tries', tries)
	call('ZADD', shard .. ':leases', now + lease, job.id)
	tell(shard, 'state', job.id, rev, 'running', now)
	local changed = { state = 'running', rev = rev, tries = tries, started = now }
	for i = 1, #members, 2 do
		members[i + 1] = changed[members[i]] and tostring(changed[members[i]]) or members[i + 1]
	end
	local agent = (job.lane or '') ~= '' and call('GET', shard .. ':agent:' .. job.lane)
	return { fence, agent or '', members }
end

-- WORKER LEASE BEGUN → false, or FENCE, the agent's id, members. Who gets none is rung for. BEGUN is
-- not empty where it begins at once.
function calls.claim(shard, args)
	local worker, lease, begins = args[1], tonumber(args[2]), (args[3] or '') ~= ''
	local needs = call('ZRANGE', shard .. ':needs', 0, -1)
	for _, need in ipairs(needs) do
		local id = offers(shard, worker, need) and call('LPOP', shard .. ':ready:' .. need)
		if id then
			settle_need(shard, need, #needs == 1)
			local members = call('HGETALL', job_key(shard, id))
			local job = { id = id }
			for i = 1, #members, 2 do
				job[members[i]] = members[i + 1]
			end
			job.id = id
			if job.state == 'waiting' then
				return lend(shard, job, worker, lease, begins, members)
			end
		end
	end
	call('ZADD', shard .. ':idle', now_ms(), worker)
	return false
end

-- Who was rung for and has no room: others are rung for what is ready.
function calls.pass(shard)
	for _, need in ipairs(call('ZRANGE', shard .. ':needs', 0, -1)) do
		ring(shard, need)
	end
	return 'ok'
end

-- ID FENCE LEASE → ok | cancel | fenced. From here on it may have had effects.
function calls.begin(shard, args)
	local job = job_read(shard, args[1], 'state', 'fence', 'began', 'cancel', 'tries')
	if not holds(shard, job, args[2]) then
		return 'fenced'
	elseif job.cancel then
		return 'cancel'
	elseif job.began == '0' then
		call('HSET', job_key(shard, job.id), 'began', 1, 'tries', number_of(job.tries) + 1)
	end
	call('ZADD', shard .. ':leases', now_ms() + tonumber(args[3]), job.id)
	return 'ok'
end

-- ID FENCE FIRST TEXT… → ok | fenced. FIRST counts the job's events from 1: what was sent again is
-- not added again.
function calls.publish(shard, args)
	local job = job_read(shard, args[1], 'state', 'fence', 'published', 'bytes')
	if not holds(shard, job, args[2]) then
		return 'fenced'
	end
	local first, published = tonumber(args[3]), number_of(job.published)
	local known = math.max(0, published - first + 1)
	local count = #args - 3 - known
	if count <= 0 then
		return 'ok'
	end
	local number, bytes = take_numbers(shard, ':number', count), number_of(job.bytes)
	for i = 4 + known, #args do
		tell(shard, 'event', job.id, add_event(shard, job.id, args[i], number), args[i])
		number, bytes = number + SHARDS_MAX, bytes + #args[i]
	end
	call('HSET', job_key(shard, job.id), 'published', first + #args - 4, 'bytes', cut_events(shard, job.id, bytes))
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
	local job = job_read(shard, id, 'state', 'rev', 'fence', 'lane', 'key', 'keep')
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
	local job = job_read(shard, args[1], 'state', 'rev', 'fence', 'need', 'began')
	if not holds(shard, job, args[2]) or job.began ~= '0' then
		return 'fenced'
	end
	again(shard, job)
	return 'ok'
end
