-- The functions as Redis knows them: the last part.

-- [SHARDS] → LAYOUT REVISION [SHARDS], or an error where the keys are another's or there are not so many
-- shards. Who asks for 0 takes what there is, and writes nothing; a perch that knows of one shard alone
-- says nothing, and is told no more than it knows.
function calls.open(shard, args)
	local kind = call('TYPE', shard .. ':meta').ok
	local layout = kind == 'hash' and call('HGET', shard .. ':meta', 'layout')
	local asked = tonumber(args[1] or 1)
	if kind == 'none' and call('EXISTS', shard .. ':jobs', shard .. ':needs', shard .. ':leases') == 0 then
		if asked > 0 then
			call('HSET', shard .. ':meta', 'layout', LAYOUT, 'shards', asked)
		end
		layout = LAYOUT
	end
	if tonumber(layout or 0) ~= LAYOUT then
		return redis.error_reply('LAYOUT ' .. (layout or 'of another program'))
	end
	local shards = tonumber(call('HGET', shard .. ':meta', 'shards') or 1)
	if asked > 0 and asked ~= shards then
		return redis.error_reply('SHARDS ' .. shards)
	end
	return { LAYOUT, REVISION, args[1] and shards }
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
				called_us = nil
				return calls[names[i]](keys[1], args)
			end,
			flags = { flag },
		})
	end
end

-- What must go on where memory is full, or nothing would ever become free.
register('allow-oom', { 'open', 'register', 'begin', 'renew', 'finish', 'reap', 'cancel', 'leave', 'release', 'drop', 'pass' })
register('no-writes', { 'get', 'page', 'status', 'counts', 'workers', 'jobs' })
register(nil, { 'enqueue', 'claim', 'publish', 'retry' })
