complete -c wt-purge -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c wt-purge -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c wt-purge -l run -d 'The run [default: $WT_RUN]' -r
complete -c wt-purge -l while-running -d 'Write although an unrelated engine holds the run\'s lock'
complete -c wt-purge -s n -l dry-run -d 'Say what would go and change nothing'
complete -c wt-purge -l yes -d 'Do it: nothing brings it back'
complete -c wt-purge -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c wt-purge -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c wt-purge -s v -l verbose -d 'Say more on standard error'
complete -c wt-purge -s h -l help -d 'Print help'
complete -c wt-purge -s V -l version -d 'Print version'
