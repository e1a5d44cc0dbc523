complete -c wt-prune -s C -d 'The workspace [default: $WT_WORKSPACE, else the current directory]' -r -F
complete -c wt-prune -l store -d 'The store [default: $WT_STORE, else .iterion of the workspace if it is a store, else below ~/.iterion]' -r -F
complete -c wt-prune -l grace -d 'Keep objects used within this time; s, m, h and d are understood [default: 1h]' -r
complete -c wt-prune -s n -l dry-run -d 'Say what would be removed and remove nothing'
complete -c wt-prune -l json -d 'Write JSON lines; an error is also written as {"error":{...}}'
complete -c wt-prune -s q -l quiet -d 'No warnings and no summary; errors are still reported'
complete -c wt-prune -s v -l verbose -d 'Say more on standard error'
complete -c wt-prune -s h -l help -d 'Print help'
complete -c wt-prune -s V -l version -d 'Print version'
