-- What gateways call.

local function has_room()
	local memory = call('INFO', 'memory')
	local most = number_of(string.match(memory, 'maxmemory:(%d+)'))
	return most == 0 or number_of(string.match(memory, 'used_memory:(%d+)')) < most * ROOM
end

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
	elseif not has_room() then
		return redis.error_reply('OOM what is left is for jobs that run')
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
	local job = job_read(shard, args[1], 'state', 'rev', 'worker', 'lane', 'need', 'kind', 'key', 'keep')
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

-- About as much as events need in an answer.
local function size_of(events)
	local size = 0
	for i = 1, #events do
		size = size + 100 + #events[i][2][2]
	end
	return size
end

-- ID → members, events
function calls.get(shard, args)
	return job_all(shard, args[1])
end

-- AFTER COUNT → the place of the last one, then jobs: at least one, where there is one, and no more than
-- COUNT; fewer where they have told much, or one answer would take all the memory there is
function calls.page(shard, args)
	local found, bytes = { args[1] }, 0
	local ids = call('ZRANGEBYSCORE', shard .. ':jobs', '(' .. args[1], '+inf', 'WITHSCORES', 'LIMIT', 0, args[2])
	for i = 1, #ids, 2 do
		local job = bytes < PAGE_BYTES and job_all(shard, ids[i])
		if job then
			found[1] = ids[i + 1]
			found[#found + 1] = job
			bytes = bytes + size_of(job[2])
		end
	end
	return found
end
