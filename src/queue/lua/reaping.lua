-- What is left of the dead.

local function bury(shard, id, seconds)
	local job = job_read(shard, id, 'state', 'rev', 'need', 'lane', 'kind', 'key', 'tries', 'retry', 'claims',
		'began', 'cancel', 'worker', 'lost', 'keep')
	if job.state ~= 'running' then
		call('ZREM', shard .. ':leases', id)
		return { id, 'none', '' }
	end
	local tries, retry = number_of(job.tries), number_of(job.retry)
	local outcome = retry > 0 and 'dead' or 'interrupted'
	if job.cancel then
		outcome = 'cancelled'
	elseif job.began == '0' and number_of(job.claims) >= CLAIMS_MAX then
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
		local job = id and job_read(shard, id, 'state', 'rev', 'readied', 'lane', 'kind', 'key', 'keep')
		if job and now_ms() - number_of(job.readied) >= patience then
			call('LPOP', shard .. ':ready:' .. need)
			settle_need(shard, need)
			settle_without(shard, job, 'failed', seconds, 'nobody')
			found[#found + 1] = { id, 'failed', '' }
		end
	end
end

local function forget_dead(shard, id)
	if call('LREM', shard .. ':dead', 1, id) == 1 then
		call('HINCRBY', shard .. ':meta', 'dead', -1)
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
		forget_dead(shard, id)
		call('DEL', job_key(shard, id), shard .. ':events:' .. id)
	end
	for _, worker in ipairs(call('SMEMBERS', shard .. ':workers')) do
		if call('EXISTS', shard .. ':worker:' .. worker) == 0 then
			calls.leave(shard, { worker })
		end
	end
	return found
end
