complete -c run-prune -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-prune -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-prune -l older-than -d 'Only runs last changed at least so long ago; s, m, h and d are understood' -r
complete -c run-prune -l keep-last -d 'Keep the newest N of them' -r
complete -c run-prune -l status -d 'Only runs with this status; may be repeated [default: finished, failed, cancelled]' -r
complete -c run-prune -l tombstones -d 'Also remove what is left of runs deleted so long ago' -r
complete -c run-prune -l grace -d 'Keep objects used within this time [default: 1h]' -r
complete -c run-prune -s n -l dry-run -d 'Say which would go and change nothing'
complete -c run-prune -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-prune -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-prune -s v -l verbose -d 'Say more on standard error'
complete -c run-prune -s h -l help -d 'Print help'
complete -c run-prune -s V -l version -d 'Print version'
