# shellcheck shell=bash
# Read before each block of a page. Servers that the block leaves in the background are waited for
# before its next command runs: a reader takes longer to type it.

declare -A _ready=()

_listening() { awk '$4 == "0A"' /proc/net/tcp /proc/net/tcp6 | wc -l; }
_listeners=$(_listening)

# The log of `weir serve` says when it is ready; another program listens on one port more.
_is_ready() {
  if [[ -e $DOCS_STATE/$1.log ]]; then
    grep -qE '(^|[] "])ready($|[ ";:,])' "$DOCS_STATE/$1.log"
  else
    (($(_listening) > _listeners))
  fi
}

_await_servers() {
  local status=$? pid
  [[ ${1:-} != *' serve '* ]] || return "$status"  # several at once
  for pid in $(jobs -p); do
    [[ ! ${_ready[$pid]:-} ]] || continue
    for _ in {1..500}; do
      kill -0 "$pid" 2>/dev/null || break
      ! _is_ready "$pid" || break
      sleep 0.02
    done
    _ready[$pid]=1
  done
  _listeners=$(_listening)
  return "$status"
}
