complete -c wt-log -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c wt-log -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c wt-log -l run -d 'The run [default: $WT_RUN]' -r
complete -c wt-log -l labels -d 'Only snapshots that a label like this points to, or that were made under one' -r
complete -c wt-log -s n -d 'At most so many' -r
complete -c wt-log -l all -d 'Also list what the chain does not reach'
complete -c wt-log -l graph -d 'Draw which snapshot follows which'
complete -c wt-log -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c wt-log -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c wt-log -s v -l verbose -d 'Say more on standard error'
complete -c wt-log -s h -l help -d 'Print help'
complete -c wt-log -s V -l version -d 'Print version'
