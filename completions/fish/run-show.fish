complete -c run-show -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-show -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-show -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-show -l events -d 'Show so many of the last events' -r
complete -c run-show -l brief -d 'Leave out nodes, sums and deployment: all that needs the whole log of events'
complete -c run-show -s w -l watch -d 'Show it again whenever it has changed'
complete -c run-show -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-show -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-show -s v -l verbose -d 'Say more on standard error'
complete -c run-show -s h -l help -d 'Print help'
complete -c run-show -s V -l version -d 'Print version'
