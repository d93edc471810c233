-- What is ready to begin, and who is rung for it.

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

-- The age of a need is that of its first job. Where there is no other need, nobody asks for its age.
local function settle_need(shard, need, is_only)
	if is_only and call('EXISTS', shard .. ':ready:' .. need) == 1 then
		return
	end
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
	local first = call('LRANGE', lane, 0, 1)
	if first[1] ~= job.id then
		call('LREM', lane, 1, job.id)
		return
	end
	call('LPOP', lane)
	if first[2] then
		make_ready(shard, first[2], call('HGET', job_key(shard, first[2]), 'need') or '')
	end
end
