complete -c run-reconcile -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-reconcile -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-reconcile -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-reconcile -l grace -d 'Leave runs alone that began, or had an event, within this time; s, m, h and d are understood [default: 2m]' -r
complete -c run-reconcile -l watch -d 'Look again after every INTERVAL [default: $ITERION_ORPHAN_RECONCILE_INTERVAL, else 60s]' -r
complete -c run-reconcile -l all -d 'Look at all runs of the store'
complete -c run-reconcile -s n -l dry-run -d 'Say what would be done and change nothing'
complete -c run-reconcile -l trust-locks -d 'Take a free lock on a network file system for free'
complete -c run-reconcile -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-reconcile -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-reconcile -s v -l verbose -d 'Say more on standard error'
complete -c run-reconcile -s h -l help -d 'Print help'
complete -c run-reconcile -s V -l version -d 'Print version'
