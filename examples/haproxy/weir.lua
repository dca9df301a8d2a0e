-- http-request lua.weir RESOURCE: asks Weir for txn.weir_subject, and sets txn.weir_status,
-- txn.weir_limit and txn.weir_retry_after; nothing when Weir is away.
local AUTH = "http://127.0.0.1:8080/v1/auth"
local TIMEOUT_MS = 1000

local function escaped(text)
  return (text:gsub("[^%w%-_.~]", function(c) return string.format("%%%02X", c:byte()) end))
end

core.register_action("weir", {"http-req"}, function(txn, resource)
  local subject = tostring(txn:get_var("txn.weir_subject"))
  local answer = core.httpclient():get{
    url = AUTH .. "?namespace=edge&resource=" .. resource .. "&subject=" .. escaped(subject),
    timeout = TIMEOUT_MS,
  }
  if answer == nil or answer.status == nil or answer.status == 0 then return end
  local function keep(variable, header)
    local values = answer.headers[header]
    if values then txn:set_var(variable, values[0]) end
  end
  keep("txn.weir_limit", "ratelimit")
  keep("txn.weir_retry_after", "retry-after")
  txn:set_var("txn.weir_status", answer.status)
end, 1)
