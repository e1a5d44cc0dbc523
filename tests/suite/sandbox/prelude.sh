set -eu

# The stages of a capture; variables before a stage reach only that one.
stage_ls() { wt-ls-files -z --records "$@"; }
stage_hash() { wt-hash-object -w -z --stdin-records "$@"; }
stage_write() { wt-write-manifest -z -q "$@"; }

# The tool of the cases, on top of our commands; SNAP_CAP holds an option with their size cap.
snap() {
  snap_verb=$1
  shift
  case $snap_verb in
    capture) stage_ls ${SNAP_CAP-} | stage_hash | stage_write --label "$1" ;;
    show) wt-ls-manifest "$1" ;;
    skipped) wt-ls-manifest --gaps "$1" | cut -f 2 ;;
    *) echo "snap: $snap_verb is not there yet" >&2; return 99 ;;
  esac
}

# The object file that holds what stands on standard input.
object_of() {
  object_id=$(sha256sum | cut -c 1-64)
  printf '%s/workspace-objects/%s/%s\n' "$S" "$(printf %s "$object_id" | cut -c 1-2)" "$(printf %s "$object_id" | cut -c 3-)"
}
