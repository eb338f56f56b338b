-- wrk sends so many requests at a time as the first argument after -- says.
function init(args)
   local one = {}
   for i = 1, tonumber(args[1]) do
      one[i] = wrk.format()
   end
   all = table.concat(one)
end

function request()
   return all
end
