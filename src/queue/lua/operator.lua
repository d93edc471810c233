-- What the operator's commands call.

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
	local found, count, state = {}, tonumber(args[2]), args[1]
	if state ~= '' then -- nobody walks on when he has found all of them
		count = math.min(count, number_of(call('HGET', shard .. ':meta', state)))
	end
	local names = { 'id', 'kind', 'name', 'owner', 'session', 'state', 'created', 'started', 'ended', 'tries', 'worker' }
	for _, id in ipairs(call('ZREVRANGE', shard .. ':jobs', 0, -1)) do
		if #found >= count then
			break
		end
		local now = call('HGET', job_key(shard, id), 'state')
		if now and (state == '' or now == state) then
			found[#found + 1] = call('HMGET', job_key(shard, id), unpack(names))
		end
	end
	return found
end

-- ID → ok | none: a dead job begins anew, behind the others of its session.
function calls.retry(shard, args)
	local job = job_read(shard, args[1], 'state', 'rev', 'lane', 'need', 'request')
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
	forget_dead(shard, id)
	call('ZREM', shard .. ':over', id)
	call('ZREM', shard .. ':jobs', id)
	call('DEL', job_key(shard, id), shard .. ':events:' .. id)
	return 'ok'
end
