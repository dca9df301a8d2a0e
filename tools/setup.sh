# shellcheck shell=bash
# Shared by ./run, ./test and fuzz/run, which source it from the repository's root: installs what is
# missing, runs steps with a log each, configures and builds.

readonly LOGS=build/logs

if [[ -t 1 && ${TERM:-dumb} != dumb && -z ${NO_COLOR:-} ]]; then
  readonly TERMINAL=1 RED=$'\e[31m' GREEN=$'\e[32m' BOLD=$'\e[1m' PLAIN=$'\e[0m' CLEAR=$'\r\e[K'
else
  readonly TERMINAL='' RED='' GREEN='' BOLD='' PLAIN='' CLEAR=''
fi

fail() {
  printf '%serror: %s%s\n' "$RED" "$*" "$PLAIN" >&2
  exit 1
}

# step NAME LOG COMMAND...: runs the command, its output in the log. One line tells how it went; on
# failure also where the log is, and its end.
step() {
  local name=$1 log=$LOGS/$2.log start=$SECONDS status=0
  shift 2
  mkdir -p "$LOGS"
  if [[ $TERMINAL && -t 1 ]]; then
    { "$@" 2>&1 || status=$?; echo "$status" >"$log.status"; } | tee "$log" | show_progress "$name"
    status=$(<"$log.status")
    rm -f "$log.status"
  else
    "$@" >"$log" 2>&1 </dev/null || status=$?
  fi
  if [[ $status == 0 ]]; then
    printf '%s%s: %sok%s (%d s)\n' "$CLEAR" "$name" "$GREEN" "$PLAIN" $((SECONDS - start))
  else
    printf '%s%s: %sFAILED%s (%d s), log in %s, which ends:\n' \
      "$CLEAR" "$name" "$RED" "$PLAIN" $((SECONDS - start)) "$log"
    tail -n 40 "$log" | sed 's/^/    /'
  fi
  return "$status"
}

# Shows the latest line of its input behind NAME, in place.
show_progress() {
  local line width
  width=$(($(tput cols 2>/dev/null || echo 80) - ${#1} - 4))
  while IFS= read -r line; do
    printf '%s%s: %s' "$CLEAR" "$1" "${line:0:$((width > 10 ? width : 10))}"
  done
}

# The packages of tools/packages.txt for the given purposes ("build", "test").
packages_for() {
  local package purpose
  while read -r package purpose _; do
    if [[ $package && $package != '#'* && " $* " == *" $purpose "* ]]; then
      echo "$package"
    fi
  done <tools/packages.txt
}

missing_packages() {
  local installed package
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
  for package in "$@"; do
    # npm is part of every Node.js but Debian's, and its package does not go with another.
    [[ $package != npm ]] || ! command -v npm >/dev/null || continue
    grep -qxF "installed $package" <<<"$installed" || echo "$package"
  done
}

# install_missing PURPOSE...: does nothing, and asks for nothing, when all is there.
install_missing() {
  if [[ ${WEIR_SKIP_INSTALL:-} ]]; then
    return
  fi
  local wanted missing sudo=()
  mapfile -t wanted < <(packages_for "$@")
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    fail "this is not Debian: install the like of ${wanted[*]}, then set WEIR_SKIP_INSTALL=1"
  fi
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  if [[ ${#missing[@]} == 0 ]]; then
    return
  fi
  if [[ $EUID != 0 ]]; then
    command -v sudo >/dev/null ||
      fail "missing packages and neither root nor sudo: have root run: apt-get install ${missing[*]}"
    echo "Installing ${missing[*]}: this needs root, so sudo may ask for your password."
    sudo -v || fail "no root, no packages: have root run: apt-get install ${missing[*]}"
    sudo=(sudo)
  fi
  local apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=300)
  step 'update package lists' apt-update "${apt[@]}" update || fail 'apt-get update failed'
  step "install ${#missing[@]} packages (${missing[*]})" apt-install \
    "${apt[@]}" install --no-install-recommends "${missing[@]}" || fail 'apt-get install failed'
}

# build PRESET [TARGET [OPTION...]]: with the options for cmake. A build that was configured by hand stays
# as it was; a new one compiles several files as one, being compiled whole.
build() {
  local preset=$1 target=${2:-} directory=build-$1 unity=(-DWEIR_UNITY=ON)
  if [[ $preset == release ]]; then directory=build; fi
  if [[ -f $directory/CMakeCache.txt ]]; then unity=(); fi
  step "configure $preset" "configure-$preset" cmake --preset "$preset" "${unity[@]}" "${@:3}" &&
    step "build $preset" "build-$preset" cmake --build --preset "$preset" ${target:+--target "$target"}
}
