set -eu

# The stages of a capture; variables before a stage reach only that one.
stage_ls() { wt-ls-files -z --records "$@"; }
stage_hash() { wt-hash-object -w -z --stdin-records "$@"; }
stage_write() { wt-write-manifest -z -q "$@"; }

# not COMMAND...: expects that it fails.
not() {
  if "$@"; then
    echo "it should have failed: $*" >&2
    return 1
  fi
}

# The tool of the cases, on top of our commands: capture LABEL, show and skipped SNAPSHOT, list, diff A B, prune, verify,
# drop SNAPSHOT, restore SNAPSHOT [--only PATH] [--changed-until SNAPSHOT] [OPTION]... A restore banks first.
snap() {
  snap_verb=$1
  shift
  case $snap_verb in
    capture) stage_ls | stage_hash | stage_write --label "$1" ;;
    show) wt-ls-manifest "$1" ;;
    skipped) wt-ls-manifest --gaps "$1" | cut -f 2 ;;
    list) wt-log ;;
    diff) wt-diff "$1" "$2" ;;
    prune) wt-prune --grace 0s "$@" ;;
    drop) wt-forget "$1" ;;
    verify) wt-fsck -q ;;
    restore) snap_restore "$@" ;;
    *) echo "snap: no such verb: $snap_verb" >&2; return 99 ;;
  esac
}

# Prints `bank ID`, then `write|delete|chmod|keep:REASON PATH`.
snap_restore() (
  target=$1
  shift
  only=
  until=
  while [ $# -gt 0 ]; do
    case $1 in
      --only) only=$2; shift 2 ;;
      --changed-until) until=$2; shift 2 ;;
      *) break ;;
    esac
  done
  report=$X/report.$$
  code=0
  if [ -n "$only" ]; then
    bank=$(wt-bank -q)
    printf 'bank\t%s\n' "$bank" >"$report"
    printf '%s\0\0' "$only" | wt-restore -z --paths-from-stdin --require-end "$@" "$target" >"$report.z" || code=$?
    tr '\0' '\n' <"$report.z" >>"$report"
  else
    wt-undo "$@" ${until:+--keep-edited "$until"} "$target" >"$report" || code=$?
  fi
  tr '\t' ' ' <"$report"
  exit $code
)

# The object file that holds what stands on standard input.
object_of() {
  object_id=$(sha256sum | cut -c 1-64)
  printf '%s/workspace-objects/%s/%s\n' "$S" "$(printf %s "$object_id" | cut -c 1-2)" "$(printf %s "$object_id" | cut -c 3-)"
}
