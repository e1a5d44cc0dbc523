complete -c run-lock -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c run-lock -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c run-lock -l run -d 'The run [default: $WT_RUN]' -r
complete -c run-lock -l pid -d 'Stay, and name this process in the file .pid until the command has ended'
complete -c run-lock -l wait -d 'Wait for the lock, as long as $WT_LOCK_WAIT says'
complete -c run-lock -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c run-lock -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c run-lock -s v -l verbose -d 'Say more on standard error'
complete -c run-lock -s h -l help -d 'Print help'
complete -c run-lock -s V -l version -d 'Print version'
