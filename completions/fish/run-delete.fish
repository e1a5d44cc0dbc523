complete -c run-delete -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-delete -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-delete -l older-than -d 'Only those deleted at least so long ago; s, m, h and d are understood [default: 30d]' -r
complete -c run-delete -l force -d 'Also delete a run that has not ended, cannot be read or is claimed for routing, as long as nobody executes it'
complete -c run-delete -l prune-tombstones -d 'Remove what is left of runs that were deleted'
complete -c run-delete -s n -l dry-run -d 'Say what would be done, and change nothing'
complete -c run-delete -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-delete -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-delete -s v -l verbose -d 'Say more on standard error'
complete -c run-delete -s h -l help -d 'Print help'
complete -c run-delete -s V -l version -d 'Print version'
